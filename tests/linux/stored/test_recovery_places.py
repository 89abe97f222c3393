import os
from pathlib import Path

import pytest

from holdfast.linux.stored import recovery_places as places
from holdfast.model.ids import SessionId

ONE = SessionId("s_" + "a" * 16)


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def test_without_a_folder_nothing_is_recorded_and_none_is_made(state: Path) -> None:
    assert places.recorded() == []
    assert not state.exists()


def test_all_files_of_a_session_go_and_no_others(state: Path) -> None:
    kinds = (places.FACTS, places.NEXT, places.LOCK, *places.TAILS)
    for kind in kinds:
        Path(places.path_of(ONE, kind)).touch()
        Path(f"{places.path_of(ONE, kind)}.new").touch()
    other = state / "sessions" / "s_other.facts"
    other.touch()
    (state / "sessions" / "notes.facts").touch()
    assert places.recorded() == [ONE, "s_other"]

    places.remove_next(ONE)
    assert not Path(places.path_of(ONE, places.NEXT)).exists()
    places.remove(ONE)
    places.remove(ONE)

    assert places.recorded() == ["s_other"]
    assert sorted(one.name for one in (state / "sessions").iterdir()) == [
        "notes.facts",
        "s_other.facts",
    ]


def test_a_place_that_is_unfit_is_no_error_for_who_clears_away(state: Path) -> None:
    state.write_text("no folder")

    places.remove(ONE)
    assert places.recorded() == []


def test_an_image_is_there_once_it_has_a_manifest(state: Path) -> None:
    folder = state / "images" / ONE / "3"
    folder.mkdir(parents=True)
    assert not places.has_image(ONE, 3)
    (folder / "manifest").touch()
    assert places.has_image(ONE, 3)


def test_the_newest_image_is_the_last_one_that_is_whole(state: Path) -> None:
    images = state / "images" / ONE
    assert places.newest_image(ONE) == (0, 0)
    for name in ("9", "10", "11", "no number", "٣"):
        (images / name).mkdir(parents=True)
    for name in ("9", "10"):
        (images / name / "manifest").touch()
    os.utime(images / "10" / "manifest", ns=(0, 5_000_000_000))

    assert places.newest_image(ONE) == (10, 5_000)


def test_the_note_of_an_image_goes_alone_too() -> None:
    for kind in (places.FACTS, places.PORTING):
        Path(places.path_of(ONE, kind)).touch()

    places.remove_note(ONE)

    assert places.recorded() == [ONE]
    assert not Path(places.path_of(ONE, places.PORTING)).exists()
