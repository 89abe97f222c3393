"""The file behind a path, and how it begins.

A path is followed as far as the kernel has it cached, and further only on local disks.
Looking anywhere else could mean waiting for a file system that a program of the session
itself serves, and nothing here may wait. A file behind a descriptor, such as one in
memory or one that was deleted, is found through the process that has it open.
"""

import ctypes
import errno
import functools
import os
import re
import stat
import struct
import time
from typing import NamedTuple

from holdfast.core.policy.exec_chain import HEAD, Format, format_from
from holdfast.linux import procfs
from holdfast.linux.libc import checked, libc

_HERE = -100

_OPENAT2 = 437
"""The number of the call, the same on every processor."""

_openat2 = ctypes.CFUNCTYPE(
    ctypes.c_long,
    ctypes.c_long,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    use_errno=True,
)(("syscall", libc))

_HOW = struct.Struct("=QQQ")
_RESOLVE_NO_MOUNTS, _RESOLVE_NO_MAGIC, _RESOLVE_CACHED = 0x01, 0x02, 0x20

MAX_HOPS = 40
"""Folders and links that are looked into for one path; the kernel follows as many."""

_OUR_OWN = frozenset(
    {
        0xEF53,  # ext4
        0x58465342,  # xfs
        0x9123683E,  # btrfs
        0x01021994,  # tmpfs
        0x794C7630,  # overlay
        0x2FC12FC1,  # zfs
        0xF2F52010,  # f2fs
        0x73717368,  # squashfs
        0xE0F5E1E2,  # erofs
    }
)
"""File systems that the kernel serves by itself, so that looking never waits for
another process."""

_OWN = re.compile(r"/(?:proc/(?:thread-)?self|dev)/fd/([0-9]{1,9})")
"""How a process names what it has open."""

_STATFS = (ctypes.c_long * 64)()
"""More than any struct statfs has."""

_DELETED = " (deleted)"
_FORMATS = "/proc/sys/fs/binfmt_misc"
_MAX_FORMAT = 4096

_MAX_HEADS = 256
"""Beginnings of files that are kept: the programs that a build uses."""

_SETTLED_NS = 1_000_000_000
"""Nanoseconds after which a change gives a file another time: many times the step of
any clock that files have."""

_heads: dict[tuple[int, int, int, int], bytes | None] = {}

Mark = tuple[int, int]
"""What tells a file from every other: its device and its number there."""


class File(NamedTuple):
    """A file that is to be executed, as far as it could be examined."""

    real: str | None = None
    """Its path, links followed; None if it has none, or that is not known."""

    mark: Mark | None = None
    head: bytes | None = None
    """How it begins; None if that could not be read."""

    is_missing: bool = False
    name: str = ""
    """What is told of it, if it has no path."""


UNKNOWN = File()


def look(pid: int, path: str) -> File:
    """Look at the file that an absolute path means to a process."""
    own = _OWN.fullmatch(path)
    if own is not None:
        return opened(f"/proc/{pid}/fd/{own[1]}")
    if path in ("/proc/self/exe", f"/proc/{pid}/exe"):
        return opened(f"/proc/{pid}/exe")
    try:
        fd = _reach(path, MAX_HOPS)
    except (FileNotFoundError, NotADirectoryError):
        return File(is_missing=True)
    except OSError:
        return UNKNOWN
    with _Closing(fd):
        return _described(fd)


def opened(link: str) -> File:
    """Look at a file that a process has open, or runs: it may have no path."""
    try:
        fd = os.open(link, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return UNKNOWN
    with _Closing(fd):
        return _described(fd)


def mark_of(path: str) -> Mark | None:
    """Return which file is behind a path, or None."""
    try:
        found = os.stat(path)  # noqa: PTH116  # pathlib is slow to load
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Formats:
    """The formats that are registered with the kernel, if it lists them."""

    def __init__(self) -> None:
        self._changed = -1
        self._names: tuple[str, ...] = ()

    def find(self) -> list[Format]:
        """Return those that apply now."""
        try:
            folder = os.stat(_FORMATS)  # noqa: PTH116
        except OSError:
            return []
        if folder.st_mtime_ns != self._changed:
            self._changed = folder.st_mtime_ns
            names = os.listdir(_FORMATS)  # noqa: PTH208
            self._names = tuple(sorted({*names} - {"register", "status"}))
        if not self._names or not _text(f"{_FORMATS}/status").startswith("enabled"):
            return []
        texts = (_text(f"{_FORMATS}/{name}") for name in self._names)
        return [found for text in texts if (found := format_from(text)) is not None]


def _text(path: str) -> str:
    return procfs.read(path, _MAX_FORMAT).decode("utf-8", "replace")


class _Closing:
    """Closes a descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def _described(fd: int) -> File:
    found = os.fstat(fd)
    path = procfs.link(f"/proc/self/fd/{fd}")
    mark = found.st_dev, found.st_ino
    head = _head_of(fd, found) if stat.S_ISREG(found.st_mode) else b""
    if found.st_nlink and path.startswith("/"):
        return File(path, mark, head)
    name = path.removeprefix("/") if path.startswith("/memfd:") else path
    return File(None, mark, head, name=name.removesuffix(_DELETED) or "?")


def _head_of(fd: int, found: os.stat_result) -> bytes | None:
    """Return how a file begins, which was read before if it has not changed since."""
    key = (found.st_dev, found.st_ino, found.st_ctime_ns, found.st_size)
    if key in _heads:
        return _heads[key]
    head = _head(fd)
    # What was changed just now may be changed again, and keep the time it has.
    if time.time_ns() - found.st_ctime_ns > _SETTLED_NS:
        if len(_heads) >= _MAX_HEADS:
            _heads.clear()
        _heads[key] = head
    return head


def _head(fd: int) -> bytes | None:
    if _kind_of(fd) not in _OUR_OWN:
        return None
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        file = os.open(f"/proc/self/fd/{fd}", flags)
    except OSError:
        return None  # It may be executed, and not read.
    try:
        return os.pread(file, HEAD, 0)
    except OSError:
        return None
    finally:
        os.close(file)


def _reach(path: str, hops: int) -> int:
    """Return a descriptor that stands for the file behind a path.

    Raises:
        FileNotFoundError: There is none.
        OSError: It is not known which file that is.

    """
    try:
        return _open(_HERE, path, _RESOLVE_CACHED | _RESOLVE_NO_MAGIC)
    except BlockingIOError:
        if not hops:
            raise
    folder, _, name = path.rstrip("/").rpartition("/")
    if not name:
        raise BlockingIOError(errno.EAGAIN, "the root itself is not at hand")
    parent = _reach(folder or "/", hops - 1)
    try:
        real = procfs.link(f"/proc/self/fd/{parent}")
        target, found = _entry(parent, name)
    finally:
        os.close(parent)
    if not target:
        return found
    return _reach(os.path.join(real, target), hops - 1)  # noqa: PTH118


def _entry(folder: int, name: str) -> tuple[str, int]:
    """Return where a link in a folder leads, or a descriptor of what is no link."""
    if _kind_of(folder) not in _OUR_OWN:
        raise PermissionError(errno.EACCES, "it is not for us to look there")
    fd = _open(folder, name, _RESOLVE_NO_MOUNTS, os.O_NOFOLLOW)
    if not stat.S_ISLNK(os.fstat(fd).st_mode):
        return "", fd
    try:
        return os.readlink("", dir_fd=fd), -1
    finally:
        os.close(fd)


def _open(folder: int, path: str, resolve: int, flags: int = 0) -> int:
    how = _how(os.O_PATH | os.O_CLOEXEC | flags, resolve)
    return checked(_openat2(_OPENAT2, folder, path.encode(), how, _HOW.size))


@functools.cache
def _how(flags: int, resolve: int) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(_HOW.pack(flags, 0, resolve), _HOW.size)


def _kind_of(fd: int) -> int:
    return int(_STATFS[0]) if libc.fstatfs(fd, _STATFS) == 0 else 0
