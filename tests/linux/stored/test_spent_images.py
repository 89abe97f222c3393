from pathlib import Path

import pytest

from holdfast.linux.stored import image_store, places
from holdfast.linux.stored.image_store import ImageName
from holdfast.linux.stored.spent_images import is_needed
from holdfast.model.ids import SessionId

ONE = ImageName(SessionId("s_" + "a" * 16), 1)


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))
    found = places.session_log(ONE.session)
    found.write_text('{"kind":"stopped","incarnation":1,"image":1}\n')
    return found


def note(text: str) -> None:
    folder = Path(image_store.images_folder(), ONE.session)
    folder.mkdir(exist_ok=True)
    (folder / "1.restored").write_text(text)


@pytest.mark.usefixtures("book")
def test_what_goes_on_after_its_image_is_not_in_it() -> None:
    assert not is_needed(ONE, once=False)
    assert is_needed(ONE, once=True)


def test_it_is_needed_until_it_was_restored_and_lived(book: Path) -> None:
    note("2")
    assert is_needed(ONE, once=True), "the restore came to nothing"
    with book.open("a") as file:
        file.write('{"kind":"recovered","incarnation":2,"image":1}\n')

    assert not is_needed(ONE, once=True)


def test_what_cannot_be_found_out_is_kept(book: Path) -> None:
    note("?")
    assert is_needed(ONE, once=True)
    note("2")
    book.unlink()
    assert is_needed(ONE, once=True)
