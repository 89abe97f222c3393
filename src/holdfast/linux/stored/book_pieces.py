"""Reads the piece of a logbook that is asked for.

A piece begins at an offset (`from`), or where an entry (`index`), a moment (`since`,
in milliseconds since 1970) or the last so many entries (`last`) begin; then the
answer says at which offset that is. The logbook is never read whole for it.
"""

import base64
from collections.abc import Mapping

from holdfast.core.book.log_seek import last_index, seek_index, seek_time
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.errors import MalformedMessage, SessionNotFound
from holdfast.model.ids import SessionId


def piece_of(
    session: SessionId, asked: Mapping[str, object], limit: int
) -> dict[str, object]:
    """Return a piece of at most `limit` bytes of a logbook of this machine.

    Raises:
        UsageError: There is no such book.
        PeerError: What is asked makes no sense.

    """
    for name in ("from", "index", "since", "last"):
        _number(asked, name)
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
    data = base64.b64encode(piece).decode()
    return {"data": data, "size": size, "from": start}


def start_of(book: BookParts, size: int, asked: Mapping[str, object]) -> int:
    """Return where what is asked for begins.

    Raises:
        PeerError: What is asked makes no sense.

    """
    if "index" in asked:
        return seek_index(book.read, size, _number(asked, "index"))
    if "since" in asked:
        return seek_time(book.read, size, _number(asked, "since"))
    if "last" in asked:
        first = last_index(book.read, size) + 1 - _number(asked, "last")
        return seek_index(book.read, size, max(0, first))
    return _number(asked, "from")


def _number(asked: Mapping[str, object], name: str) -> int:
    value = asked.get(name, 0)
    if type(value) is not int or value < 0:
        raise MalformedMessage("log", f"`{name}` is no number")
    return value
