"""What a session needs at the other host: folders, programs, open files, room."""

import os
from pathlib import Path

import pytest

from holdfast.client.move_checks import (
    MAX_LENGTH,
    MAX_PATHS,
    _fitting,
    _members,
    _memory,
    _needed,
    _open_paths,
)
from holdfast.model.session_record import SessionRecord

OURS = [os.getpid()]
RECORD = SessionRecord.from_facts({"id": "s_" + "a" * 16, "cwd": "/srv/work"})


def test_what_is_read_must_be_there_and_what_is_written_needs_its_folder(
    tmp_path: Path,
) -> None:
    read, written, gone = (tmp_path / name for name in ("read", "written", "gone"))
    for one in (read, written, gone):
        one.touch()

    with read.open(), written.open("w"), gone.open():
        gone.unlink()
        found = [*_needed(RECORD, OURS, ())]

    assert found[0] == "/srv/work"
    assert str(read) in found
    assert str(tmp_path) in found
    assert not {str(written), str(gone)} & {*found}
    assert Path.cwd().as_posix() in found


def test_what_travels_in_its_own_files_need_not_be_there(tmp_path: Path) -> None:
    path = tmp_path / "read"
    path.touch()

    with path.open():
        found = [*_needed(RECORD, OURS, (str(tmp_path),))]

    assert str(path) not in found


def test_processes_that_are_gone_need_nothing() -> None:
    gone = [2**22 + 1]

    assert _memory(gone) == 0
    assert [*_open_paths(gone)] == []
    assert _memory(OURS) > 1 << 20


def test_the_members_of_a_cgroup_are_read_or_there_are_none(tmp_path: Path) -> None:
    assert _members(str(tmp_path)) == []
    (tmp_path / "cgroup.procs").write_text("12\n345\n")
    assert _members(str(tmp_path)) == [12, 345]
    (tmp_path / "cgroup.procs").write_text("none\n")
    assert _members(str(tmp_path)) == []


@pytest.mark.parametrize(
    ("paths", "kept"),
    [
        (["/a", "/with\x1bescape", "/b"], ["/a", "/b"]),
        (["/x"] * (MAX_PATHS + 5), ["/x"] * MAX_PATHS),
        (["/a", "/" + "l" * MAX_LENGTH, "/b"], ["/a"]),
    ],
)
def test_no_more_is_asked_about_than_a_packet_holds(
    paths: list[str], kept: list[str]
) -> None:
    assert [*_fitting(iter(paths))] == kept
