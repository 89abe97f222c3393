"""What do logbooks say about who may do what in their sessions?

A list of sessions is asked for every second, and a logbook only grows: of each it
is kept what the lines so far have said, and only those that were added are read.
"""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.core.entries import granted_envelope
from holdfast.core.logbook import EntryKind
from holdfast.core.rights import NOTHING
from holdfast.linux import places
from holdfast.model.envelopes import Envelope
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.lines import decode_line

KEPT = 2048
"""Books of which is remembered what they said: more than a host has sessions."""

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
        """Return what a session has left to somebody; None if it never said."""
        with self._lock:
            try:
                with open(places.session_log(session), "rb") as file:  # noqa: PTH123
                    book = self._book(session, os.fstat(file.fileno()))
                    file.seek(book.end)
                    for line in _whole(file):
                        book.end += len(line)
                        _take(book.envelopes, line)
            except FileNotFoundError:
                return None
            return book.envelopes.get(actor)

    def _book(self, session: SessionId, found: os.stat_result) -> _Book:
        file = found.st_dev, found.st_ino
        known = self._kept.pop(session, None)
        if known is None or known.file != file or known.end > found.st_size:
            known = _Book(file)
        self._kept[session] = known
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return known


def _whole(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield lines up to one that is not whole yet."""
    for line in lines:
        if not line.endswith(b"\n"):
            return
        yield line


def _take(found: dict[ActorId, Envelope], line: bytes) -> None:
    if not any(mark in line for mark in _MARKS):
        return
    with contextlib.suppress(HoldfastError):  # A damaged line says nothing.
        fields = decode_line(line.rstrip(b"\n"))
        actor = ActorId(str(fields.get("actor")))
        if fields.get("kind") == EntryKind.REVOKED:
            found[actor] = NOTHING
        elif fields.get("kind") == EntryKind.GRANTED:
            found[actor] = granted_envelope(fields)
