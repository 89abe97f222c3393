"""What logbooks say about who may do what in their sessions.

A list of sessions is asked for every second, and a logbook only grows: of each it
is kept what the lines so far have said, and only those that were added are read.
"""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.core.book.entries import granted_envelope
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.rights import NOTHING
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.envelopes import Envelope
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.lines import decode_line

KEPT = 2048
"""Books of which is remembered what they said: more than a host has sessions."""

_PIECE = 1 << 20

_MARKS = tuple(
    f'"kind":"{kind}"'.encode() for kind in (EntryKind.GRANTED, EntryKind.REVOKED)
)
"""Most lines have neither, and need not be read."""


@dataclass(slots=True)
class _Book:
    """What was read of a file: which it is, how far, and what it said."""

    file: tuple[int, int]
    end: int = 0
    envelopes: dict[ActorId, Envelope] = field(default_factory=dict)


class Books:
    """The logbooks of this host. May be asked by several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[SessionId, _Book] = OrderedDict()
        self._lock = threading.Lock()

    def envelope(self, actor: ActorId, session: SessionId) -> Envelope | None:
        """Return an operator's rights by a session's logbook; None if it has none."""
        with self._lock:
            try:
                book = BookParts(places.session_log(session))
            except FileNotFoundError:
                return None
            try:
                known = self._book(session, book)
                for line in _whole(book, known.end):
                    known.end += len(line) + 1
                    _take(known.envelopes, line)
            finally:
                book.close()
            return known.envelopes.get(actor)

    def _book(self, session: SessionId, found: BookParts) -> _Book:
        known = self._kept.pop(session, None)
        if known is None or known.file != found.file or known.end > found.length():
            known = _Book(found.file)
        self._kept[session] = known
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return known


def _whole(book: BookParts, begin: int) -> Iterator[bytes]:
    """Yield lines from a place on, up to one that is not whole yet."""
    rest = b""
    while piece := book.read(_PIECE, begin):
        begin += len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def _take(found: dict[ActorId, Envelope], line: bytes) -> None:
    if not any(mark in line for mark in _MARKS):
        return
    with contextlib.suppress(HoldfastError):  # A damaged line says nothing.
        fields = decode_line(line)
        actor = ActorId(str(fields.get("actor")))
        if fields.get("kind") == EntryKind.REVOKED:
            found[actor] = NOTHING
        elif fields.get("kind") == EntryKind.GRANTED:
            found[actor] = granted_envelope(fields)
