"""The machine's files that the processes of a capsule have open, for an image.

They are read through the descriptors of processes that stand still. A file counts if
the machine has it under the same name: what lies in the capsule's own memory, in a
layer of its own or under no name any more is kept by CRIU or not at all. A name
that is no text is left to CRIU, which compares sizes.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from holdfast.core.capsule.manifest import is_plain_path
from holdfast.core.capsule.open_files import How, Seen, plan
from holdfast.linux import procfs
from holdfast.wire.image_manifest import MAX_PATH, OpenFile

CHUNK = 1024 * 1024
"""Bytes read at once."""

_FDINFO = 4096
_TABLE = 16 * 1024 * 1024
_FLAGS = re.compile(rb"^flags:\s+([0-7]+)$", re.MULTILINE)
_SHARED = re.compile(rb"^\S+ (r[w-])[x-]s \S+ \S+ \d+ +(/.*)$", re.MULTILINE)
_DELETED = " (deleted)"
_KERNEL_S = ("/proc/", "/sys/", "/dev/")
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY

Copy = Callable[[str, int, int], None]
"""Copies so many bytes of a descriptor into an image, under a name."""


class _Opened(NamedTuple):
    way: str
    """Where it can be opened: a link of the kernel's, or its path."""

    facts: os.stat_result
    is_written: bool


def noted(pids: Iterable[int], copy: Copy) -> tuple[OpenFile, ...]:
    """Return the files that processes have open, which stand still; copy some.

    The digest of what is copied is left to who has the copy.

    Raises:
        HoldfastError: One cannot be copied.

    """
    found = _found(pids)
    ways = plan(
        Seen(path, one.facts.st_size, one.is_written) for path, one in found.items()
    )
    return tuple(
        _noted(path, found[path], ways[path], f"files/{number}", copy)
        for number, path in enumerate(sorted(ways))
    )


def digest_of(fd: int, size: int) -> bytes:
    """Return the hash of so many bytes; the file may grow meanwhile.

    Raises:
        OSError: They cannot be read.

    """
    made, left = hashlib.sha256(), size
    while left > 0 and (piece := os.read(fd, min(left, CHUNK))):
        made.update(piece)
        left -= len(piece)
    return made.digest()


def _noted(path: str, one: _Opened, how: How, name: str, copy: Copy) -> OpenFile:
    facts, digest, kept = one.facts, bytes(32), ""
    fd = -1 if how == "sized" else _reopened(one)
    how = "sized" if fd < 0 else how
    try:
        if how == "copied":
            copy(name, fd, facts.st_size)
            kept = name
        elif how == "hashed":
            digest = digest_of(fd, facts.st_size)
    finally:
        if fd >= 0:
            os.close(fd)
    mode = stat.S_IMODE(facts.st_mode)
    return OpenFile(path, facts.st_size, digest, kept, how, mode, facts.st_mtime_ns)


def _reopened(one: _Opened) -> int:
    """Open a file once more, to read it; -1 if we may not, or it is another by now."""
    try:
        fd = os.open(one.way, _READ)
    except OSError:
        return -1
    if os.path.samestat(os.fstat(fd), one.facts):
        return fd
    os.close(fd)
    return -1


def _found(pids: Iterable[int]) -> dict[str, _Opened]:
    found: dict[str, _Opened] = {}
    for pid in pids:
        for path, way, is_written in (*_descriptors(pid), *_mappings(pid)):
            known = found.get(path)
            if known is not None:
                found[path] = known._replace(is_written=known.is_written or is_written)
            elif (facts := _same(path, way)) is not None:
                found[path] = _Opened(way, facts, is_written)
    return found


def _descriptors(pid: int) -> Iterator[tuple[str, str, bool]]:
    folder = f"/proc/{pid}/fd"
    for number in procfs.numbers(folder):
        target = procfs.link(f"{folder}/{number}")
        if not _is_file_name(target):
            continue
        raw = procfs.read(f"/proc/{pid}/fdinfo/{number}", _FDINFO)
        flags = _FLAGS.search(raw)
        mode = int(flags[1], 8) & os.O_ACCMODE if flags else os.O_RDWR
        yield target, f"{folder}/{number}", mode != os.O_RDONLY


def _mappings(pid: int) -> Iterator[tuple[str, str, bool]]:
    """Yield what is in shared memory: it is written to without a descriptor."""
    raw = procfs.read_table(f"/proc/{pid}/maps", _TABLE)
    for access, name in _SHARED.findall(raw):
        path = os.fsdecode(name.replace(b"\\012", b"\n"))
        if _is_file_name(path):
            yield path, path, access == b"rw"


def _is_file_name(target: str) -> bool:
    try:
        target.encode()
    except UnicodeEncodeError:
        return False
    return (
        is_plain_path(target)
        and len(target) <= MAX_PATH
        and not target.endswith(_DELETED)
        and not target.startswith(_KERNEL_S)
    )


def _same(path: str, way: str) -> os.stat_result | None:
    """Return what is known of a plain file that both names lead to."""
    try:
        here, there = os.lstat(path), os.stat(way)  # noqa: PTH116  # a link of the kernel's
    except OSError:
        return None
    return there if os.path.samestat(here, there) and _is_plain(there) else None


def _is_plain(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode)
