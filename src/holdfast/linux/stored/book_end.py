"""The last entries of a logbook, as far as they can be read."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.linux.stored.book_pieces import start_of
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import FIRST_INCARNATION, ActorId, Incarnation, SessionId
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
        return last_entries_in(places.session_log(session))
    return []


def last_entries_in(path: Path) -> list[Line]:
    """Return the last entries of the logbook that begins in a file, wherever it is."""
    with contextlib.suppress(OSError, HoldfastError):
        book = BookParts(path)
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


def undone_in(session: SessionId) -> list[range]:
    """Return the entries that tell of what a roll-back to an image has undone.

    Of a logbook that is not here, or cannot be read, none.
    """
    found = []
    with contextlib.suppress(OSError, HoldfastError):
        book = BookParts(places.session_log(session))
        try:
            for line in _lines_with(book, b'"kind":"recovered"'):
                through, index = line.get("through"), line.get("index")
                if isinstance(through, int) and isinstance(index, int):
                    found.append(range(through + 1, index))
        finally:
            book.close()
    return found


def _lines_with(book: BookParts, words: bytes) -> Iterator[Line]:
    """Yield the entries with these words in them; a logbook may be very long."""
    offset, rest = 0, b""
    while piece := book.read(_PIECE, offset):
        offset += len(piece)
        whole, _, rest = (rest + piece).rpartition(b"\n")
        if words in whole:
            lines = [line for line in whole.split(b"\n") if words in line]
            yield from entries_in(b"\n".join(lines))


def entries_in(raw: bytes) -> Iterator[Line]:
    """Yield the whole entries in a piece; what was cut or torn is left out."""
    for line in raw.split(b"\n"):
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                yield entry


def image_for(entries: list[Line], actor: ActorId, key: str) -> int:
    """Return the image that an operator asked for with this key; 0 if there is none."""
    kinds = ("imaged", "stopped", "forked")
    for entry in reversed(entries):
        is_it = (entry.get("by"), entry.get("key")) == (actor, key)
        if is_it and entry.get("kind") in kinds:
            image = entry.get("image")
            return image if isinstance(image, int) else 0
    return 0


def life_of(entry: Line) -> Incarnation:
    """Return the life in which an entry was written."""
    life = entry.get("incarnation")
    return Incarnation(life) if isinstance(life, int) else FIRST_INCARNATION


def stopped_in(entries: list[Line], life: Incarnation) -> int:
    """Return the image that has taken a life's place, by what is in the book; or 0."""
    for one in reversed(entries):
        number = one.get("image")
        is_last = one.get("kind") == "stopped" and life_of(one) == life
        if is_last and isinstance(number, int):
            return number
    return 0


def has_ended(entries: list[Line], life: Incarnation) -> bool:
    """Tell whether that life came to its end, by what is in the book."""
    return any(one.get("kind") == "exited" and life_of(one) == life for one in entries)
