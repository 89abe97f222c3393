"""Entries of a session's logbook, local or remote."""

from typing import NamedTuple

from holdfast.core.book.logbook import Entry, anchor_of, recover
from holdfast.linux.stored.book_pieces import piece_bytes
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import LogPiece, ReadLog
from holdfast.sdk.routes import Way


class Wanted(NamedTuple):
    """Which entries: from an index on, or the last so many; and how many at most."""

    since: int = 0
    last: int | None = None
    most: int | None = None


async def entries_of(way: Way, session: SessionId, wanted: Wanted) -> list[Entry]:
    """Return entries of a logbook, each checked against the one before.

    Little before them and after them is read.

    Raises:
        PeerError: The book was changed.
        UsageError: There is none.

    """
    first, last, most = wanted
    asked = ReadLog(session, index_=first) if last is None else ReadLog(session)
    raw = bytearray()
    piece = await _piece(way, asked._replace(last=last))
    # A host of older code sends the book from its beginning, and does not say so.
    limit = None if piece.from_ is None else most
    start = piece.from_ or 0
    while found := piece_bytes(piece):
        raw += found
        if limit is not None and raw.count(b"\n") > limit:
            break
        piece = await _piece(way, ReadLog(session, from_=start + len(raw)))
    # What is being written, or was when its holder died, is no entry.
    after = anchor_of(bytes(raw.split(b"\n", 1)[0]), session)
    entries = recover(bytes(raw), session, after).entries
    if last is not None:
        return [*entries[-last:]]
    return [one for one in entries if one.index >= first][:most]


async def _piece(way: Way, asked: ReadLog) -> LogPiece:
    return record_of(LogPiece, await way.ask(asked))
