import socket
from pathlib import Path

import pytest

from holdfast.linux.stored import folders, session_names
from holdfast.model.ids import SessionId

ONE = SessionId("s_" + "a" * 16)
TWO = SessionId("s_" + "b" * 16)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    return Path(folders.sessions_folder())


def test_a_name_is_kept_changed_and_found(folder: Path) -> None:
    (folder / f"{ONE}.sock").touch()
    (folder / f"{TWO}.sock").touch()
    (folder / "other.sock").touch()
    session_names.keep(ONE, "first")
    assert session_names.known() == {ONE: "first", TWO: ""}

    session_names.keep(ONE, "second")
    session_names.keep(ONE, "second")

    assert session_names.known() == {ONE: "second", TWO: ""}
    assert sorted(path.suffix for path in folder.iterdir()) == [
        ".name",
        ".sock",
        ".sock",
        ".sock",
    ]


def test_what_a_kill_in_the_middle_left_is_no_hindrance(folder: Path) -> None:
    (folder / f"{ONE}.sock").touch()
    (folder / f"{ONE}.name.new").symlink_to("half")

    session_names.keep(ONE, "whole")

    assert session_names.known() == {ONE: "whole"}
    session_names.drop(ONE)
    session_names.drop(ONE)
    assert session_names.known() == {ONE: ""}


def test_a_place_that_takes_nothing_is_no_error(folder: Path) -> None:
    (folder / f"{ONE}.name.new").mkdir()
    (folder / f"{ONE}.name").mkdir()

    session_names.keep(ONE, "name")

    assert session_names.known() == {}


def test_only_where_somebody_listens_is_somebody(folder: Path) -> None:
    assert not session_names.is_there(ONE)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / f"{ONE}.sock"))
        assert not session_names.is_there(ONE)
        listener.listen(0)
        assert session_names.is_there(ONE)
        assert session_names.is_there(ONE)  # Its queue is full.
    assert not session_names.is_there(ONE)
    assert [path.name for path in folder.iterdir()] == [f"{ONE}.sock"]
