"""A logbook in parts: several files that are read as one.

The first part has the name of the logbook, the others the same name followed by a
number. A part is never touched again once the next exists, so a position in the logbook
is a number of bytes from its beginning, and never changes.
"""

import os
from typing import Final

from holdfast.linux.stored import small_files

PART_BYTES: Final = 16 * 1024 * 1024
"""Bytes after which the next part begins: some 40,000 keys."""


def part_path(book: str, number: int) -> str:
    """Return the file of a part, counted from 0."""
    return f"{book}.{number}" if number else book


def is_part(book: str, number: int) -> bool:
    """Tell whether a book has that part."""
    return os.path.exists(part_path(book, number))  # noqa: PTH110  # beside os.open


def sync_folder(book: str) -> None:
    """Make durable which parts a book has."""
    small_files.sync_folder(os.path.dirname(book) or ".")  # noqa: PTH120  # a string


class BookParts:
    """The parts of one book, for reading while another process writes."""

    def __init__(self, book: str | os.PathLike[str]) -> None:
        self._book = os.fspath(book)
        self._first = _open(self._book)
        self._starts = [0]
        """Where each part begins in the book, as far as they were found."""

        self._open: tuple[int, int] = (0, self._first)

    @property
    def file(self) -> tuple[int, int]:
        """Which file its first part is."""
        found = os.fstat(self._first)
        return found.st_dev, found.st_ino

    @property
    def number(self) -> int:
        """Which part is the last, as far as was seen."""
        return len(self._starts) - 1

    def last_start(self) -> int:
        """Return where the last part begins."""
        self._find()
        return self._starts[-1]

    def length(self) -> int:
        """Return how long the book is now."""
        begin = self.last_start()
        return begin + os.fstat(self._part(self.number)).st_size

    def read(self, size: int, offset: int) -> bytes:
        """Return some bytes from `offset` on, at most `size`; b"" at the end."""
        if offset >= self._starts[-1]:
            self._find()
        number = next(
            place
            for place in range(self.number, -1, -1)
            if offset >= self._starts[place]
        )
        return os.pread(self._part(number), size, offset - self._starts[number])

    def is_gone(self) -> bool:
        """Tell whether the book was removed: nobody writes to it any more."""
        return os.fstat(self._first).st_nlink == 0

    def close(self) -> None:
        """Stop reading."""
        number, fd = self._open
        if number:
            os.close(fd)
        os.close(self._first)

    def _find(self) -> None:
        """Look for parts that came since; what was the last is as long as it gets."""
        while True:
            if not is_part(self._book, self.number + 1):
                return
            size = os.fstat(self._part(self.number)).st_size
            self._starts.append(self._starts[-1] + size)

    def _part(self, number: int) -> int:
        """Return the open part; one besides the first is open at a time."""
        if number == 0:
            return self._first
        if self._open[0] != number:
            fd = _open(part_path(self._book, number))
            if self._open[0]:
                os.close(self._open[1])
            self._open = (number, fd)
        return self._open[1]


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
