"""What happened recently, shared by short-lived processes: marks in a small file.

    RUNTIME/NAME   24 bytes for each mark: what it is of, and until when it counts

Each of our processes may be killed and replaced; here is what has to be remembered for
some minutes longer than any of them lives. One process at a time reads and adds.
"""

import contextlib
import fcntl
import hashlib
import os
import struct
from collections.abc import Iterator

from holdfast.linux.stored import folders

MAX_MARKS = 65_536
"""Marks in a file, 1.5 MiB: more than can come about while they count."""

_MARK = struct.Struct(">16sQ")


class RecentMarks:
    """The marks of one file, while nobody else looks at it."""

    def __init__(self, fd: int, now_ms: int) -> None:
        self._fd = fd
        raw = os.pread(fd, MAX_MARKS * _MARK.size, 0)
        whole = raw[: len(raw) - len(raw) % _MARK.size]
        found = list(_MARK.iter_unpack(whole))
        self._marks = [(mark, until) for mark, until in found if now_ms < until]
        if len(self._marks) < len(found) or len(whole) < len(raw):
            self._rewrite()

    def untils(self, of: bytes | None = None) -> list[int]:
        """Return until when each mark counts, or each of this, as they came."""
        mark = None if of is None else _short(of)
        return [until for one, until in self._marks if mark in (None, one)]

    def add(self, of: bytes, until_ms: int) -> None:
        """Add a mark.

        Raises:
            OSError: It cannot be written, or there are too many.

        """
        if len(self._marks) >= MAX_MARKS:
            raise OSError(f"more than {MAX_MARKS} marks are there")
        size = len(self._marks) * _MARK.size
        self._marks.append((_short(of), until_ms))
        os.pwrite(self._fd, _MARK.pack(*self._marks[-1]), size)

    def _rewrite(self) -> None:
        kept = b"".join(_MARK.pack(*one) for one in self._marks)
        os.pwrite(self._fd, kept, 0)
        os.ftruncate(self._fd, len(kept))


@contextlib.contextmanager
def recent_marks(name: str, now_ms: int) -> Iterator[RecentMarks]:
    """Yield the marks of a file that count now, with nobody else looking.

    Raises:
        OSError: The file cannot be read or written.
        UsageError: The place for it is not ours.

    """
    path = f"{folders.owned(folders.runtime_path())}/{name}"
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield RecentMarks(fd, now_ms)
    finally:
        os.close(fd)


def _short(of: bytes) -> bytes:
    return hashlib.sha256(of).digest()[:16]
