import ctypes
import mmap
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest

from holdfast.core.capsule import open_files
from holdfast.core.capsule.open_files import How, Seen, plan
from holdfast.linux.capsule import opened_files
from holdfast.linux.capsule.opened_files import digest_of, noted
from holdfast.wire.image_manifest import OpenFile


@pytest.fixture
def copies() -> dict[str, bytes]:
    return {}


def seen(folder: Path, copies: dict[str, bytes]) -> dict[str, OpenFile]:
    """Return what this process has open there, and take copies."""

    def copy(name: str, fd: int, size: int) -> None:
        copies[name] = os.read(fd, size)

    found = noted([os.getpid()], copy)
    return {
        one.path.removeprefix(f"{folder}/"): one
        for one in found
        if one.path.startswith(f"{folder}/")
    }


def test_what_is_open_is_copied_or_hashed(
    tmp_path: Path, copies: dict[str, bytes]
) -> None:
    for name in ("read", "written", "appended", "both"):
        (tmp_path / name).write_bytes(name.encode())
    with (
        (tmp_path / "read").open("rb"),
        (tmp_path / "written").open("r+b"),
        (tmp_path / "appended").open("ab"),
        (tmp_path / "both").open("rb"),
        (tmp_path / "both").open("r+b"),
    ):
        found = seen(tmp_path, copies)

    assert {name: one.how for name, one in found.items()} == {
        "read": "hashed",
        "written": "copied",
        "appended": "copied",
        "both": "copied",
    }
    assert found["read"].digest == sha256(b"read").digest()
    assert copies[found["appended"].copy] == b"appended"
    assert copies[found["both"].copy] == b"both"


def test_what_is_written_through_memory_is_copied(
    tmp_path: Path, copies: dict[str, bytes]
) -> None:
    (tmp_path / "mapped").write_bytes(b"x" * mmap.PAGESIZE)
    with (tmp_path / "mapped").open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    with memory:
        memory[0] = ord("y")

        found = seen(tmp_path, copies)

    assert copies[found["mapped"].copy][:2] == b"yx"


def test_what_is_no_file_of_the_machine_is_left_out(
    tmp_path: Path, copies: dict[str, bytes]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("removed", "replaced", "new"):
        (tmp_path / name).write_bytes(b"x")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    fds = [
        os.open(one, os.O_RDWR | os.O_CREAT, 0o600)
        for one in (
            *(f"{tmp_path}/{one}" for one in ("pipe", "removed", "replaced")),
            odd,
            "/dev/null",
        )
    ]
    fds.append(os.open(tmp_path, os.O_RDONLY))
    (tmp_path / "removed").unlink()
    (tmp_path / "new").rename(tmp_path / "replaced")
    try:
        assert seen(tmp_path, copies) == {}
    finally:
        for fd in fds:
            os.close(fd)


def test_what_would_take_too_long_is_known_by_its_size(
    tmp_path: Path, copies: dict[str, bytes]
) -> None:
    (tmp_path / "vast").touch()
    os.truncate(tmp_path / "vast", open_files.MAX_COPIED + 1)
    with (tmp_path / "vast").open("r+b"):
        found = seen(tmp_path, copies)["vast"]

    assert (found.how, found.size) == ("sized", open_files.MAX_COPIED + 1)
    assert found.changed_ns == (tmp_path / "vast").stat().st_mtime_ns
    assert found.copy == ""


def test_a_file_that_grows_without_end_is_read_as_far_as_it_went() -> None:
    """Another program writes to it while ours stand still."""
    fd = os.open("/dev/zero", os.O_RDONLY)
    try:
        assert digest_of(fd, 3_000_000) == sha256(bytes(3_000_000)).digest()
    finally:
        os.close(fd)


def test_a_file_that_is_swapped_for_another_is_not_copied(
    tmp_path: Path, copies: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the copy somebody puts a link to a secret there."""
    (tmp_path / "secret").write_bytes(b"a key of ours")
    (tmp_path / "mapped").write_bytes(b"x" * mmap.PAGESIZE)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    with (tmp_path / "mapped").open("r+b") as file:
        memory = libc.mmap(
            None,
            ctypes.c_size_t(mmap.PAGESIZE),
            mmap.PROT_READ | mmap.PROT_WRITE,
            mmap.MAP_SHARED,
            file.fileno(),
            ctypes.c_long(0),
        )

    def swapping(seen: Iterable[Seen]) -> dict[str, How]:
        found = plan(seen)
        (tmp_path / "mapped").unlink()
        (tmp_path / "mapped").symlink_to(tmp_path / "secret")
        return found

    monkeypatch.setattr(opened_files, "plan", swapping)
    try:
        found = seen(tmp_path, copies)["mapped"]
    finally:
        libc.munmap(ctypes.c_void_p(memory), ctypes.c_size_t(mmap.PAGESIZE))

    assert (found.how, found.copy) == ("sized", "")
    assert b"a key of ours" not in copies.values()
