import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.painter.programs import Door

from holdfast.client.own_picture import OwnPicture
from holdfast.core.view.rows import text_of
from holdfast.linux.stored import places
from holdfast.model.errors import PainterDied
from holdfast.model.geometry import Size


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "r"
    made.mkdir(mode=0o700)
    os.environ["HOLDFAST_RUNTIME_DIR"] = str(made)
    yield made
    del os.environ["HOLDFAST_RUNTIME_DIR"]


@pytest.fixture
def door(folder: Path) -> Iterator[Door]:
    assert folder.exists()
    made, is_over = Door(places.painter_socket()), threading.Event()

    def tend() -> None:
        while not is_over.wait(0.01):
            made.tend()

    keeper = threading.Thread(target=tend)
    keeper.start()
    yield made
    is_over.set()
    keeper.join()
    made.close()


def texts(picture: OwnPicture) -> list[str]:
    return [text_of(row) for row in picture.screen().rows]


def test_a_picture_is_painted_and_told_of(door: Door) -> None:
    picture = OwnPicture("s/c")
    picture.reset(Size(10, 3), 100, b"one\r\ntwo")
    picture.feed(b"\r\nthree\r\n\x1b]2;title\x07\x1b[?1000hfour")

    seen = picture.screen()
    assert [text_of(row) for row in seen.rows] == ["two", "three", "four"]
    assert (seen.cursor, seen.title) == ((2, 4), "title")
    assert seen.modes == frozenset({1000})
    assert (seen.above, seen.is_alternate, seen.is_cursor_shown) == (1, False, True)
    rows, cursor = picture.everything()
    assert [text_of(row) for row in rows] == ["one", "two", "three", "four"]
    assert cursor == (3, 4)
    picture.resize(Size(20, 2))
    assert texts(picture) == ["three", "four"]
    picture.close()
    assert door.started == 1


def test_two_pictures_of_a_session_do_not_know_each_other(door: Door) -> None:
    one, other = OwnPicture("s/one"), OwnPicture("s/other")
    one.reset(Size(9, 1), 0, b"one")
    other.reset(Size(9, 1), 0, b"other")

    assert (texts(one), texts(other)) == (["one"], ["other"])
    one.close()
    assert texts(other) == ["other"]
    other.close()
    assert door.started == 1


def test_a_picture_that_is_gone_is_begun_again(door: Door) -> None:
    picture = OwnPicture("s/c")
    picture.reset(Size(9, 1), 0, b"one")
    door.kill()

    with pytest.raises(PainterDied):
        picture.feed(b"two")
    with pytest.raises(PainterDied):
        picture.screen()  # Another painter, which knows nothing of it.
    picture.reset(Size(9, 1), 0, b"again")
    assert texts(picture) == ["again"]
    picture.close()


def test_without_a_keeper_a_painter_of_our_own_is_started(folder: Path) -> None:
    assert not list(folder.iterdir())
    picture = OwnPicture("s/c")
    picture.reset(Size(9, 1), 0, b"own")

    assert texts(picture) == ["own"]
    own = picture._own  # noqa: SLF001  # no other way to name that process
    assert own is not None
    picture.close()
    assert own.returncode is not None


def test_a_painter_of_our_own_runs_no_code_of_the_folder_it_is_started_in(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder.exists()
    for name in ("holdfast", "msgspec", "json", "wcwidth"):
        trap = f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})"
        (tmp_path / f"{name}.py").write_text(trap)
    monkeypatch.chdir(tmp_path)
    picture = OwnPicture("s/c")
    picture.reset(Size(9, 1), 0, b"own")

    assert texts(picture) == ["own"]
    assert not (tmp_path / "ran").exists()
    picture.close()
