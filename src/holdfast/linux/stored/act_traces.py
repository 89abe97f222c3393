"""The acts of all sessions of this host, read from their logbooks.

Every book is checked as it is read: one that does not hold together counts for nothing
from the first entry on that is wrong, and is named. A second look reads only what was
added since.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.autonomy.trace import Act, Trace
from holdfast.core.book.logbook import Entry, read_entries
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.errors import PeerError, UsageError
from holdfast.model.ids import SessionId, parse_session_id

PIECE = 1 << 20
"""Bytes read at once."""


@dataclass(slots=True)
class _Book:
    trace: Trace
    file: tuple[int, int]
    offset: int = 0
    last: Entry | None = None
    trouble: str = ""


class ActTraces:
    """What is known of the acts of this host's sessions."""

    def __init__(self) -> None:
        self._books: dict[SessionId, _Book] = {}

    def look(self) -> None:
        """Read what was added since the last look, and forget books that are gone.

        Raises:
            UsageError: The folder of logbooks is not ours.

        """
        found = {}
        for path in sorted(places.log_dir().glob("s_*.log")):
            try:
                session = parse_session_id(path.stem)
                found[session] = self._read(session, path)
            except (OSError, UsageError, PeerError):
                continue  # It was removed just now, or is none of ours.
        self._books = found

    def acts(self) -> Iterator[Act]:
        """Yield all acts, session by session, in the order of their books."""
        for book in self._books.values():
            yield from book.trace.acts

    def traces(self) -> list[Trace]:
        """Return what was traced, one for each session."""
        return [book.trace for book in self._books.values()]

    @property
    def count(self) -> int:
        """How many entries were read."""
        return sum(
            0 if book.last is None else book.last.index + 1
            for book in self._books.values()
        )

    @property
    def troubles(self) -> dict[SessionId, str]:
        """Which books do not hold together, and why."""
        return {
            session: book.trouble
            for session, book in self._books.items()
            if book.trouble
        }

    def _read(self, session: SessionId, path: Path) -> _Book:
        parts = BookParts(path)
        try:
            book = self._books.get(session)
            if book is None or book.file != parts.file:
                book = _Book(Trace(session), parts.file)
            while not book.trouble and (piece := parts.read(PIECE, book.offset)):
                end = piece.rfind(b"\n") + 1
                if not end:
                    break  # The last line is not finished, or longer than any may be.
                _feed(book, session, piece[: end - 1].split(b"\n"))
                book.offset += end
            return book
        finally:
            parts.close()


def _feed(book: _Book, session: SessionId, lines: list[bytes]) -> None:
    try:
        for entry in read_entries(lines, session, book.last):
            book.trace.feed(entry)
            book.last = entry
    except PeerError as error:
        book.trouble = str(error)
