"""An operator's rights in one session, according to that session.

The host knows what it has promised; what a session has granted or revoked since then
is on record there. So a guest who asks the host about one session is measured by both.
A holder is asked in the operator's own name. When there is none, because the session is
over or its holder is just being replaced, its logbook says the same.
"""

import asyncio
import contextlib
import socket

from holdfast.host.guests import Guest, wall
from holdfast.host.holder_visit import holder_socket, visit
from holdfast.linux.stored.book_rights import Books
from holdfast.model.envelopes import Right
from holdfast.model.errors import Forbidden, NotAllowed, SessionUnreachable
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.messages import Refuse
from holdfast.wire.presence import Presence, Who

PATIENCE = 2.0
"""Seconds for a holder to answer: it has a terminal to serve first."""

_books = Books()


async def demand_there(guest: Guest, right: Right, session: SessionId) -> None:
    """Do nothing if the session itself lets `guest` use `right` now.

    Raises:
        Forbidden: It does not.
        Unavailable: Its holder is there and does not say.

    """
    try:
        holder = await holder_socket(session)
    except SessionUnreachable:
        if await asyncio.to_thread(leaves, guest.id, right, session):
            return
        raise NotAllowed(guest.id, right.value) from None
    try:
        async with asyncio.timeout(PATIENCE):
            rights = await _rights(guest, session, holder)
    except TimeoutError as error:
        raise SessionUnreachable(session, "it did not say who may") from error
    if right not in rights:
        raise NotAllowed(guest.id, right.value)


async def _rights(
    guest: Guest, session: SessionId, holder: socket.socket
) -> tuple[str, ...]:
    """Return what a holder says that `guest` may do; nothing if it refuses to."""
    with contextlib.suppress(Forbidden):
        async with await visit(guest, session, holder) as link:
            await link.send(Who())
            while not isinstance(message := await link.receive(), Refuse):
                if isinstance(message, Presence):
                    return message.rights
    return ()


def leaves_anything(actor: ActorId, session: SessionId) -> bool:
    """Tell whether an operator has any right by a logbook; one not named in it has."""
    envelope = _books.envelope(actor, session)
    now = wall()
    return envelope is None or any(
        envelope.covers(right, session, now) for right in Right
    )


def leaves(actor: ActorId, right: Right, session: SessionId) -> bool:
    """Tell whether an operator has a right by a logbook; one not named in it has."""
    envelope = _books.envelope(actor, session)
    return envelope is None or envelope.covers(right, session, wall())
