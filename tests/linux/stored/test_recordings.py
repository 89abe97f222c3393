"""Recordings on disk: private, never overwritten by accident, bounded."""

import os
from pathlib import Path

import pytest

from holdfast.core.recording.retention import Bounds
from holdfast.linux.stored import recordings
from holdfast.linux.stored.recordings import RecordingFile, clear_away, recordings_dir
from holdfast.model.errors import MalformedArgument

NONE = Bounds(0, 0, 0.0)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))


def recorded(name: str, text: str = "x\n") -> RecordingFile:
    file = RecordingFile(recordings_dir() / f"{name}.cast")
    file.write([text])
    return file


def test_a_recording_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    file = RecordingFile(path)
    file.write(["one\n", "two\n"])
    file.write([])
    file.write(["\udc80\n"])
    file.close()

    assert path.read_text() == "one\ntwo\n?\n"
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_is_there_is_replaced_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    path.write_text("mine and longer")
    with pytest.raises(MalformedArgument):
        RecordingFile(path)
    assert path.read_text() == "mine and longer"

    file = RecordingFile(path, replaces=True)
    file.write(["new\n"])
    file.close()
    assert path.read_text() == "new\n"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "a.cast").symlink_to(tmp_path / "target")

    with pytest.raises(MalformedArgument):
        RecordingFile(tmp_path / "a.cast", replaces=True)
    assert (tmp_path / "target").read_text() == "mine"


def test_the_oldest_go_and_one_in_progress_stays() -> None:
    for at, name in enumerate(["a", "b", "c"]):
        file = recorded(name)
        file.close()
        os.utime(file.path, (at + 1, at + 1))
    going = recorded("going")
    os.utime(going.path, (0, 0))
    (recordings_dir() / "notes.txt").touch()

    assert clear_away(Bounds(3, 1 << 20, 0.0)) == []
    assert clear_away(NONE) == ["a.cast", "b.cast", "c.cast"]
    going.close()
    assert clear_away(NONE) == ["going.cast"]
    assert [one.name for one in recordings_dir().iterdir()] == ["notes.txt"]


def test_the_usual_folder_is_ours_alone() -> None:
    assert recordings.recordings_dir().stat().st_mode & 0o077 == 0
