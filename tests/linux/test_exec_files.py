import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import exec_files
from holdfast.linux.exec_files import UNKNOWN, Formats, look, mark_of, opened

OURSELVES = os.getpid()
NOBODY = 65534


def test_a_file_is_known_by_its_path_its_number_and_how_it_begins(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_bytes(b"#!/bin/sh\n" + bytes(1000))
    (tmp_path / "link").symlink_to("file")

    found = look(OURSELVES, f"{tmp_path}/link")

    assert found.real == str(tmp_path / "file")
    assert found.mark == mark_of(f"{tmp_path}/file")
    assert found.head == (b"#!/bin/sh\n" + bytes(1000))[:256]


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert look(OURSELVES, f"{tmp_path}/none").is_missing
    assert look(OURSELVES, f"{tmp_path}/file/none").is_missing
    assert mark_of(f"{tmp_path}/none") is None


def test_a_file_in_memory_has_a_name_and_no_path() -> None:
    fd = os.memfd_create("innocent")
    os.write(fd, b"\x7fELF")

    by_path, by_number = look(OURSELVES, f"/dev/fd/{fd}"), opened(f"/proc/self/fd/{fd}")

    assert by_path == by_number
    assert (by_path.real, by_path.name) == (None, "memfd:innocent")
    assert by_path.head == b"\x7fELF"
    os.close(fd)


def test_a_deleted_file_has_the_name_it_had_and_no_path(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    fd = os.open(path, os.O_RDONLY)
    path.unlink()

    found = look(OURSELVES, f"/proc/self/fd/{fd}")

    assert (found.real, found.name, found.head) == (None, str(path), b"x")
    os.close(fd)


def test_a_process_names_its_own_files_and_not_ours() -> None:
    with subprocess.Popen(["sleep", "9"]) as other:  # noqa: S607  # found by PATH
        found = look(other.pid, "/proc/self/exe")
        other.kill()

    assert found.real is not None
    assert found.real.endswith(("sleep", "coreutils", "busybox"))


@pytest.mark.parametrize("path", ["/proc/self/root/bin/sh", "/proc/self/cwd/x"])
def test_a_path_through_a_process_is_not_ours_to_follow(path: str) -> None:
    assert look(OURSELVES, path) == UNKNOWN


def test_a_link_to_what_a_process_has_open_is_not_ours_to_follow(
    tmp_path: Path,
) -> None:
    (tmp_path / "link").symlink_to("/proc/self/exe")

    assert look(OURSELVES, f"{tmp_path}/link") == UNKNOWN


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Be a user who may not read everything, if we are root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_what_may_not_be_read_has_no_beginning() -> None:
    with as_nobody(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.touch(0o100)

        assert look(OURSELVES, str(path)).head is None


def test_a_folder_and_a_device_begin_with_nothing() -> None:
    assert look(OURSELVES, "/").head == b""
    assert look(OURSELVES, "/dev/null").head == b""


def test_what_a_kernel_file_system_serves_is_not_read() -> None:
    assert look(OURSELVES, "/proc/version").head is None


def test_a_descriptor_that_nobody_has_is_unknown() -> None:
    assert opened("/proc/self/fd/999999") == UNKNOWN


def test_a_file_that_has_not_changed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_files, "_SETTLED_NS", -1)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert look(OURSELVES, str(script)).head == b"#!/bin/sh\n"

    with monkeypatch.context() as unread:
        unread.setattr(exec_files, "_head", lambda _: b"it was read again")
        assert look(OURSELVES, str(script)).head == b"#!/bin/sh\n"

    script.write_text("#!/bin/zsh\n")
    assert look(OURSELVES, str(script)).head == b"#!/bin/zsh\n"


def test_a_file_that_changed_just_now_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    look(OURSELVES, str(script))

    monkeypatch.setattr(exec_files, "_head", lambda _: b"as it is now")

    assert look(OURSELVES, str(script)).head == b"as it is now"


def test_no_more_beginnings_are_kept_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_files, "_SETTLED_NS", -1)
    monkeypatch.setattr(exec_files, "_MAX_HEADS", 2)
    for number in range(5):
        script = tmp_path / f"{number}"
        script.write_text(f"#!{number}")
        assert look(OURSELVES, str(script)).head == f"#!{number}".encode()
        assert len(exec_files._heads) <= 2  # noqa: SLF001  # the room


def test_formats_are_looked_for_where_the_kernel_lists_them() -> None:
    assert isinstance(Formats().find(), list)
