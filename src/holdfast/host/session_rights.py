"""What may an operator do to one session, by that session's own word?

The host knows what it has promised; what a session has granted or revoked since then
is on record there. So whoever asks the host about one session is measured by both. A
holder is asked in the operator's own name. When there is none, because the session is
over or its holder is just being replaced, its logbook says the same.
"""

import asyncio

from holdfast.crypto.proof import local_proof
from holdfast.host.books import Books
from holdfast.host.guests import Guest, wall
from holdfast.linux.stored import folders
from holdfast.model.envelopes import Right
from holdfast.model.errors import NotAllowed, SessionUnreachable
from holdfast.model.ids import ActorId, SessionId
from holdfast.version import __version__
from holdfast.wire.codec import decode, encode
from holdfast.wire.company import Presence, Who
from holdfast.wire.frames import FrameReader
from holdfast.wire.messages import (
    Challenge,
    ClientKind,
    Goodbye,
    Hello,
    Identify,
    Refuse,
)
from holdfast.wire.versions import SPOKEN

PATIENCE = 2.0
"""Seconds for a holder to answer: it has a terminal to serve first."""

READ = 16 * 1024

_books = Books()


async def demand_there(guest: Guest, right: Right, session: SessionId) -> None:
    """Do nothing if the session itself lets `guest` use `right` now.

    Raises:
        Forbidden: It does not.
        Unavailable: Its holder is there and does not say.

    """
    try:
        reader, writer = await asyncio.open_unix_connection(
            folders.session_address(session)
        )
    except OSError:
        if await asyncio.to_thread(leaves, guest.id, right, session):
            return
        raise NotAllowed(guest.id, right.value) from None
    try:
        async with asyncio.timeout(PATIENCE):
            rights = await _rights(guest, session, reader, writer)
    except OSError as error:
        raise SessionUnreachable(session, "it did not say who may") from error
    finally:
        writer.close()
    if right not in rights:
        raise NotAllowed(guest.id, right.value)


async def _rights(
    guest: Guest,
    session: SessionId,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> tuple[str, ...]:
    """Return what a holder says that `guest` may do; nothing if it refuses to."""
    frames = FrameReader()
    hello = Hello(SPOKEN, f"holdfast {__version__}", ClientKind.SERVICE)
    writer.write(encode(hello))
    while raw := await reader.read(READ):
        for message in map(decode, frames.feed(raw)):
            match message:
                case Challenge(nonce):
                    proof = local_proof(guest.enrolled.token(), session, nonce)
                    writer.write(encode(Identify(guest.id, proof)))
                    writer.write(encode(Who()))
                case Presence(rights=rights):
                    return rights
                case Refuse() | Goodbye():
                    return ()
                case _:
                    pass
    raise ConnectionResetError("it hung up")


def leaves_anything(actor: ActorId, session: SessionId) -> bool:
    """Tell whether a logbook leaves any right to somebody; whom it omits, it does."""
    envelope = _books.envelope(actor, session)
    now = wall()
    return envelope is None or any(
        envelope.covers(right, session, now) for right in Right
    )


def leaves(actor: ActorId, right: Right, session: SessionId) -> bool:
    """Tell whether a logbook leaves a right to somebody; whom it omits, it does."""
    envelope = _books.envelope(actor, session)
    return envelope is None or envelope.covers(right, session, wall())
