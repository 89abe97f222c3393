"""What does a process that stands in execve want to execute?

Path and words lie in its own memory, and are read there. What cannot be read, or
is too much, is left open and said to be: a word is None, and so is a path. Another
thread of the same process may change all of it after we have looked: what is read
here is what it said when it was asked, and no more.

A path is followed as far as the kernel has it in memory already, and further only
on disks of its own. To look anywhere else could mean to wait for a file system that
a program of the session itself serves, and nothing here may wait.
"""

import contextlib
import ctypes
import errno
import functools
import os
import stat
import struct
from dataclasses import dataclass

from holdfast.linux import procfs
from holdfast.linux.exec_gate import Notice

MAX_WORDS = 256
"""Words that are read; a policy judges no more of a line."""

MAX_WORD = 4096
"""Bytes of a word or a path that are read: as many as the kernel takes in a path."""

MAX_TEXT = 64 * 1024
"""Bytes of all words together; what is left out is unknown."""

_STEP = 256
"""Bytes read at first: more than most words have, and seldom two pages."""

_PAGE = procfs.PAGE
_HERE = -100
_EMPTY_PATH = 0x1000

_OPENAT2 = 437
"""The number of the call, the same on every processor."""

_HOW = struct.Struct("=QQQ")
_RESOLVE_NO_MOUNTS, _RESOLVE_CACHED = 0x01, 0x20

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
    }
)
"""File systems that the kernel serves by itself, so that looking never waits for
another process."""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a process wants to execute."""

    path: str | None
    """As the process gave it, made absolute; None if it is not known."""

    real: str | None
    """The file behind it, links followed; None if that is not known."""

    words: tuple[str | None, ...]
    """Its argv. A last None may stand for several."""

    cwd: str | None

    is_elsewhere: bool = False
    """Whether its paths mean other files than ours do."""

    is_missing: bool = False
    """Whether there is no such file."""


def read_wanted(notice: Notice) -> Wanted:
    """Read what a process wants to execute; what cannot be read is left open."""
    pid = notice.thread
    cwd = procfs.link(f"/proc/{pid}/cwd") or None
    arguments, folder, flags = notice.arguments, _HERE, 0
    if notice.call == "execveat":
        folder = ctypes.c_int32(arguments[0]).value
        flags = arguments[4]
        arguments = arguments[1:]
    memory = _Memory.of(pid)
    if memory is None:
        return Wanted(None, None, (None,), cwd)
    with contextlib.closing(memory):
        path = memory.text(arguments[0])
        words = memory.words(arguments[1], 4 if notice.is_narrow else 8)
    elsewhere = _is_elsewhere(pid)
    found = None if path is None else _absolute(pid, path, folder, flags, cwd)
    real, missing = None, False
    if found is not None and not elsewhere:
        real, missing = _followed(found)
    return Wanted(found, real, words, cwd, elsewhere, missing)


def process_of(thread: int) -> int:
    """Return the process that a thread belongs to; the thread if it is gone."""
    try:
        os.close(os.pidfd_open(thread))  # Says no to any thread but the first.
    except OSError:
        status = procfs.read(f"/proc/{thread}/status", procfs.STAT)
        found = status.partition(b"\nTgid:")[2].split(maxsplit=1)
        return int(found[0]) if found else thread
    return thread


class _Memory:
    """The memory of another process, read in small pieces."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._left = MAX_TEXT

    @classmethod
    def of(cls, pid: int) -> "_Memory | None":
        try:
            return cls(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return None

    def close(self) -> None:
        os.close(self._fd)

    def text(self, at: int) -> str | None:
        """Return a text that ends with a NUL, or None if it is none of ours."""
        found = b""
        while at and len(found) < MAX_WORD:
            # Up to the end of a page at most: the next one may not be there.
            size = min(_STEP, _PAGE - at % _PAGE)
            piece = self._read(at, size)
            text, nul, _ = piece.partition(b"\0")
            found += text
            if nul:
                self._left -= len(found)
                return _decoded(found)
            if len(piece) < size:
                return None
            at += size
        return None

    def words(self, at: int, width: int) -> tuple[str | None, ...]:
        if not at:
            return ()  # Linux takes no words for an empty one.
        pointers = self._pointers(at, width)
        words: list[str | None] = []
        for pointer in pointers:
            if pointer == 0:
                return tuple(words)
            if len(words) >= MAX_WORDS or self._left <= 0:
                break
            words.append(self.text(pointer))
        return (*words, None)

    def _pointers(self, at: int, width: int) -> tuple[int, ...]:
        size = (MAX_WORDS + 1) * width
        raw = self._read(at, min(size, _PAGE - at % _PAGE))
        if len(raw) == _PAGE - at % _PAGE and len(raw) < size:
            raw += self._read(at + len(raw), size - len(raw))
        count = len(raw) // width
        code = "I" if width == 4 else "Q"  # noqa: PLR2004  # bytes of a pointer
        return struct.unpack_from(f"={count}{code}", raw)

    def _read(self, at: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, at)
        except (OSError, OverflowError):
            return b""


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _absolute(
    pid: int, path: str, folder: int, flags: int, cwd: str | None
) -> str | None:
    if path.startswith("/"):
        return path
    if not path:
        is_file = flags & _EMPTY_PATH and folder >= 0
        return procfs.link(f"/proc/{pid}/fd/{folder}") or None if is_file else None
    start = cwd if folder == _HERE else procfs.link(f"/proc/{pid}/fd/{folder}")
    return f"{start.rstrip('/')}/{path}" if start else None


def _is_elsewhere(pid: int) -> bool:
    is_root = procfs.link(f"/proc/{pid}/root") == "/"
    return not is_root or procfs.link(f"/proc/{pid}/ns/mnt") != _our_mounts()


@functools.cache
def _our_mounts() -> str:
    return procfs.link("/proc/self/ns/mnt")


def _followed(path: str, hops: int = MAX_HOPS) -> tuple[str | None, bool]:
    """Return the file behind a path if that is known, and whether there is none."""
    try:
        fd = _open(_HERE, path, _RESOLVE_CACHED)
    except FileNotFoundError:
        return None, True
    except BlockingIOError:
        return _looked_up(path, hops - 1) if hops else (None, False)
    except OSError:
        return None, False
    try:
        return procfs.link(f"/proc/self/fd/{fd}") or None, False
    finally:
        os.close(fd)


def _looked_up(path: str, hops: int) -> tuple[str | None, bool]:
    """Do the same by looking into one folder, if that is on a disk of our own."""
    folder, _, name = path.rstrip("/").rpartition("/")
    real, is_missing = _followed(folder or "/", hops)
    if real is None or not name:
        return None, is_missing
    try:
        parent = _open(_HERE, real, _RESOLVE_CACHED)
    except OSError:
        return None, False
    try:
        target, found = _entry(parent, name)
    except FileNotFoundError:
        return None, True
    except OSError:
        return None, False  # A mount, or a disk of somebody else's.
    finally:
        os.close(parent)
    if not target:
        return found or None, False
    return _followed(os.path.join(real, target), hops)  # noqa: PTH118  # pathlib is slow to load


def _entry(folder: int, name: str) -> tuple[str, str]:
    """Return where a link in a folder leads, or the path of what is no link."""
    if _kind_of(folder) not in _OUR_OWN:
        raise PermissionError(errno.EACCES, "it is not for us to look there")
    fd = _open(folder, name, _RESOLVE_NO_MOUNTS, os.O_NOFOLLOW)
    try:
        if stat.S_ISLNK(os.fstat(fd).st_mode):
            return os.readlink("", dir_fd=fd), ""
        return "", procfs.link(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


def _open(folder: int, path: str, resolve: int, flags: int = 0) -> int:
    how = _HOW.pack(os.O_PATH | os.O_CLOEXEC | flags, 0, resolve)
    argument = ctypes.create_string_buffer(how, len(how))
    name = ctypes.c_char_p(path.encode())
    size = ctypes.c_size_t(len(how))
    fd = int(_libc.syscall(ctypes.c_long(_OPENAT2), folder, name, argument, size))
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return fd


def _kind_of(fd: int) -> int:
    found = (ctypes.c_long * 64)()  # More than any struct statfs has.
    return int(found[0]) if _libc.fstatfs(fd, found) == 0 else 0
