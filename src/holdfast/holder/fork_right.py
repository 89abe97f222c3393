"""Whether an operator may fork a session, which may have ended.

A holder knows every operator's rights in its session. Here the session's logbook is
read instead, as it would be by the session's next holder.
"""

import time

from holdfast.core.book.book_state import Standing
from holdfast.core.book.checkpoint import standing_of
from holdfast.holder.record.book_recovery import read_past
from holdfast.linux.stored import folders, operators
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.envelopes import Envelope, Right, first_envelope
from holdfast.model.ids import ActorId, SessionId


def demand_fork(parent: SessionId, began_by: str, who: operators.Enrolled) -> None:
    """Do nothing if an operator may make a branch of a session.

    Raises:
        Forbidden: It may not, by what the session's logbook says.

    """
    given = _envelopes(parent).get(who.actor.id)
    if given is None:
        began_it = began_by == who.actor.id
        kind, promised = who.actor.kind, who.promised
        given = first_envelope(kind, parent, promised, began_it=began_it)
    given.demand(Right.FORK, parent, time.time_ns() / 1e9, who.actor.id)


def _envelopes(session: SessionId) -> dict[ActorId, Envelope]:
    """Return what a session's logbook says of who may do what.

    Raises:
        PeerError: It was changed.
        OSError: It cannot be read.

    """
    path = folders.session_log(session)
    book = BookParts(path)
    try:
        past = read_past(book, path, session)
    finally:
        book.close()
    known = past.checkpoint
    standing = Standing() if known is None else standing_of(known)
    for entry in past.fresh:
        standing.read(entry)
    return standing.envelopes
