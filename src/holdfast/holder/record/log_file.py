"""The logbook's files: whole lines or none, synced on request, in parts.

When a part is full it is made durable and the next is started; a finished part is never
written to again.
"""

import errno
import os

from holdfast.holder.record.book_recovery import Past, read_past
from holdfast.linux.stored.book_parts import (
    PART_BYTES,
    BookParts,
    is_part,
    part_path,
    sync_folder,
)
from holdfast.model.ids import SessionId


class LogFile:
    """One session's logbook on disk."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        session: SessionId,
        part_bytes: int = PART_BYTES,
    ) -> None:
        self.path = os.fspath(path)
        """Its first part."""

        self._session = session
        self._part_bytes = part_bytes
        self._number = 0
        while is_part(self.path, self._number + 1):
            self._number += 1
        self._fd = self._open(0)
        self._size = os.fstat(self._fd).st_size
        self._before = 0
        """Bytes in the parts before this one; known when the book has been read."""

    @property
    def end(self) -> int:
        """Where the next line of the book begins, counted through all parts."""
        return self._before + self._size

    def recover(self) -> Past:
        """Read what a successor needs, cut off what is torn, make the rest durable."""
        book = BookParts(self.path)
        try:
            past = read_past(book, self.path, self._session)
            self._before = book.last_start()
        finally:
            book.close()
        if past.torn:
            self._size -= past.torn
            os.ftruncate(self._fd, self._size)
        if past.head.index >= 0:  # A new book has nothing to lose.
            self.sync()
        return past

    def append(self, line: bytes) -> None:
        """Write one line; on failure, leave the book as it was."""
        data = line + b"\n"
        if self._size and self._size + len(data) > self._part_bytes:
            self._begin_part()
        written = -1
        try:
            written = os.write(self._fd, data)
        finally:
            if written != len(data):
                os.ftruncate(self._fd, self._size)
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(data)

    def read_from(self, offset: int) -> bytes:
        """Return the book from a place on."""
        book = BookParts(self.path)
        try:
            found = bytearray()
            while piece := book.read(
                self.end - offset - len(found), offset + len(found)
            ):
                found += piece
            return bytes(found)
        finally:
            book.close()

    def sync(self) -> None:
        """Make everything written durable."""
        os.fdatasync(self._fd)

    def _begin_part(self) -> None:
        # What is synced later is the new part: this one must not owe anything.
        os.fdatasync(self._fd)
        full, self._fd = self._fd, self._open(1)
        os.close(full)
        self._number += 1
        self._before, self._size = self.end, 0
        sync_folder(self.path)

    def _open(self, ahead: int) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(part_path(self.path, self._number + ahead), flags, 0o600)
