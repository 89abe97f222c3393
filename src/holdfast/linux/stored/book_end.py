"""The last entries of a logbook, as far as they can be read."""

import contextlib
import json
from collections.abc import Iterator

from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.linux.stored.book_pieces import start_of
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import FIRST_INCARNATION, Incarnation, SessionId
from holdfast.model.session_requests import ReadLog

LAST = 300
"""Entries read for the end of a session: at most the departure of every client comes
after it."""

_PIECE = 256 * 1024
_FIRST = 16 * 1024

Line = dict[str, object]


def last_entries(session: SessionId) -> list[Line]:
    """Return the last entries of a session's logbook; none if it cannot be read."""
    with contextlib.suppress(OSError, HoldfastError):
        book = BookParts(places.session_log(session))
        try:
            start = start_of(book, book.length(), ReadLog(last=LAST))
            return [*entries_in(book.read(_PIECE, start))]
        finally:
            book.close()
    return []


def first_entries(session: SessionId) -> list[Line]:
    """Return the first entries of a session's logbook; none if it cannot be read."""
    with contextlib.suppress(OSError, HoldfastError):
        book = BookParts(places.session_log(session))
        try:
            return [*entries_in(book.read(_FIRST, 0))]
        finally:
            book.close()
    return []


def entries_in(raw: bytes) -> Iterator[Line]:
    """Yield the whole entries in a piece; what was cut or torn is left out."""
    for line in raw.split(b"\n"):
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                yield entry


def life_of(entry: Line) -> Incarnation:
    """Return the life in which an entry was written."""
    life = entry.get("incarnation")
    return Incarnation(life) if isinstance(life, int) else FIRST_INCARNATION


def has_ended(entries: list[Line], life: Incarnation) -> bool:
    """Tell whether that life came to its end, by what is in the book."""
    return any(one.get("kind") == "exited" and life_of(one) == life for one in entries)
