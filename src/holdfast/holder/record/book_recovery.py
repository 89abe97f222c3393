"""What a successor recovers from a session's logbook.

However long the logbook is, only its end is read: back to the last checkpoint whose
file exists and matches the logbook, and at least REPLAYED entries, because recent input
is examined again. A logbook without such a file is read whole, in pieces, and only the
resulting state is kept.
"""

import hashlib
import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from holdfast.core.book.checkpoint import Account, Checkpoint, read_checkpoint
from holdfast.core.book.log_scan import scan
from holdfast.core.book.log_seek import last_index, seek_index
from holdfast.core.book.logbook import (
    Anchor,
    Entry,
    EntryKind,
    Head,
    anchor_of,
    genesis,
    read_entries,
    recover,
)
from holdfast.core.provenance.commands import REPLAYED
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId

WINDOW: Final = 2 * 1024 * 1024
"""Bytes that are looked at again at most: eight entries of the largest kind, or all
of REPLAYED that are keys."""

_PIECE = 1024 * 1024


class Past(NamedTuple):
    """What a successor found in a logbook."""

    checkpoint: Checkpoint | None
    """What all entries up to some add up to; None if that is nothing."""

    place: int
    """Where in the book the entry after those begins."""

    entries: tuple[Entry, ...]
    """The last ones, in order: all after the checkpoint, and some before."""

    head: Head
    torn: int
    """Bytes at the end that are no entry."""

    @property
    def fresh(self) -> tuple[Entry, ...]:
        """The entries that are not in the checkpoint."""
        through = -1 if self.checkpoint is None else self.checkpoint.through
        return tuple(entry for entry in self.entries if entry.index > through)


def read_past(book: BookParts, path: str, session: SessionId) -> Past:
    """Read what a successor needs of a book that nobody writes to.

    Raises:
        PeerError: The book was changed.

    """
    length = book.length()
    found, begin = _newest_checkpoint(book, path, length, session)
    start = _window(book, length)
    account = Account(session, found)
    after = _before(book, min(begin, start), session)
    if begin < start:
        # There is more since than is looked at again: only its sum is kept.
        for entry in scan(_lines(book, begin, start), session, after):
            account.read(entry)
            after = Anchor(entry.index, entry.hash, entry.incarnation, entry.epoch)
        found, begin = account.checkpoint(), start
    recovered = recover(_bytes(book, min(begin, start), length), session, after)
    entries = recovered.entries
    last = entries[-1] if entries else after
    head = Head(session, last.index, last.hash)
    return Past(found, begin, entries, head, recovered.torn)


def _newest_checkpoint(
    book: BookParts, path: str, length: int, session: SessionId
) -> tuple[Checkpoint | None, int]:
    """Return the newest checkpoint that the book confirms, and where it ends."""
    found = []
    for slot in (0, 1):
        raw = read_state(path, slot)
        try:
            found.append((read_checkpoint(raw, session), raw))
        except HoldfastError:
            continue  # None was made yet, or it was torn.
    for one, raw in sorted(found, key=lambda one: -one[0].through):
        place = seek_index(book.read, length, one.through + 1)
        if _confirms(book, place, session, one, raw):
            return one, place
    return None, 0


def read_state(path: str, slot: int) -> bytes:
    """Return the file of a checkpoint; b"" if there is none."""
    try:
        fd = os.open(state_path(path, slot), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(fd, "rb") as file:
        return file.read()


def state_path(path: str, slot: int) -> str:
    """Return the file of a checkpoint of the book at `path`."""
    return f"{path.removesuffix('.log')}.state{slot}"


def _confirms(
    book: BookParts, place: int, session: SessionId, found: Checkpoint, raw: bytes
) -> bool:
    """Tell whether the entry at `place` speaks of these bytes."""
    line = book.read(_PIECE, place).split(b"\n", 1)[0]
    after = anchor_of(line, session)
    if after is None or after.index != found.through:
        return False
    try:
        [entry] = read_entries([line], session, after)
    except HoldfastError:
        return False
    digest = hashlib.sha256(raw).hexdigest()
    return entry.kind is EntryKind.CHECKPOINT and entry.fields["state"] == digest


def _window(book: BookParts, length: int) -> int:
    """Return the offset from which entries are read again."""
    first = last_index(book.read, length) - REPLAYED + 1
    place = seek_index(book.read, length, max(0, first))
    if length - place <= WINDOW:
        return place
    raw = _bytes(book, length - WINDOW, length)
    begin = raw.find(b"\n") + 1
    return length - WINDOW + begin if begin else place


def _before(book: BookParts, place: int, session: SessionId) -> Anchor:
    """Return which entry the line at `place` says it follows."""
    begin = genesis(session)
    line = book.read(_PIECE, place).split(b"\n", 1)[0]
    return (place and anchor_of(line, session)) or Anchor(begin.index, begin.hash)


def _bytes(book: BookParts, begin: int, end: int) -> bytes:
    found = bytearray()
    while begin + len(found) < end:
        piece = book.read(end - begin - len(found), begin + len(found))
        if not piece:
            break
        found += piece
    return bytes(found)


def _lines(book: BookParts, begin: int, end: int) -> Iterator[bytes]:
    rest = b""
    while begin < end:
        piece = book.read(min(_PIECE, end - begin), begin)
        if not piece:
            return
        begin += len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
