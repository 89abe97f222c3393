"""Reads the piece of a logbook that is asked for.

A piece begins at an offset (`from`), or where an entry (`index`), a moment (`since`,
in milliseconds since 1970) or the last so many entries (`last`) begin; then the
answer says at which offset that is. The logbook is never read whole for it.
"""

import base64

from holdfast.core.book.log_seek import last_index, seek_index, seek_time
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.errors import MalformedMessage, SessionNotFound
from holdfast.model.ids import parse_session_id
from holdfast.model.session_requests import LogPiece, ReadLog


def piece_of(asked: ReadLog, limit: int) -> LogPiece:
    """Return a piece of at most `limit` bytes of a logbook of this machine.

    Raises:
        UsageError: There is no such book.
        PeerError: What is asked makes no sense.

    """
    if any(number < 0 for number in asked if isinstance(number, int)):
        raise MalformedMessage("log", "a number below zero")
    session = parse_session_id(asked.id)
    try:
        book = BookParts(places.session_log(session))
    except FileNotFoundError:
        raise SessionNotFound(session) from None
    try:
        size = book.length()
        start = start_of(book, size, asked)
        piece = book.read(limit, start)
    finally:
        book.close()
    return LogPiece(base64.b64encode(piece).decode(), size, start)


def head_of(asked: ReadLog, limit: int) -> LogPiece:
    """Return what the host has signed of a logbook, at most `limit` bytes.

    Raises:
        UsageError: There is no such book.

    """
    session = parse_session_id(asked.id)
    try:
        raw = places.session_head(session).read_bytes()[:limit]
    except FileNotFoundError:
        raise SessionNotFound(session) from None
    return LogPiece(base64.b64encode(raw).decode(), len(raw))


def piece_bytes(piece: LogPiece) -> bytes:
    """Return the bytes of a piece.

    Raises:
        PeerError: They are no bytes.

    """
    try:
        return base64.b64decode(piece.data, validate=True)
    except ValueError:
        raise MalformedMessage("piece of a logbook", "it is none") from None


def start_of(book: BookParts, size: int, asked: ReadLog) -> int:
    """Return where what is asked for begins."""
    if asked.index_ is not None:
        return seek_index(book.read, size, asked.index_)
    if asked.since is not None:
        return seek_time(book.read, size, asked.since)
    if asked.last is not None:
        first = last_index(book.read, size) + 1 - asked.last
        return seek_index(book.read, size, max(0, first))
    return asked.from_ or 0
