"""What may an operator do to one session, by that session's own word?

The host knows what it has promised; what a session has granted or revoked since then
is on record there. So whoever asks the host about one session is measured by both. A
holder is asked in the operator's own name. When there is none, because the session is
over or its holder is just being replaced, its logbook says the same.
"""

import asyncio
import contextlib
import functools
import os
from collections.abc import Mapping

from holdfast.core.entries import granted_envelope
from holdfast.core.logbook import EntryKind
from holdfast.core.rights import NOTHING
from holdfast.crypto.proof import local_proof
from holdfast.host.guests import Guest, wall
from holdfast.linux import folders, places
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import HoldfastError, NotAllowed, SessionUnreachable
from holdfast.model.ids import ActorId, SessionId
from holdfast.version import __version__
from holdfast.wire.codec import decode, encode
from holdfast.wire.company import Presence, Who
from holdfast.wire.frames import FrameReader
from holdfast.wire.lines import decode_line
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

BOOKS = 64
"""Logbooks of which is kept who may do what; reading one anew costs its length."""

_MARKS = tuple(
    f'"kind":"{kind}"'.encode() for kind in (EntryKind.GRANTED, EntryKind.REVOKED)
)
"""Most lines have neither, and need not be read."""


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
        if await asyncio.to_thread(_is_recorded, guest.id, right, session):
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


def _is_recorded(actor: ActorId, right: Right, session: SessionId) -> bool:
    """Tell whether a logbook leaves a right to an operator; whom it omits, it does."""
    place = places.session_log(session)
    try:
        size = place.stat().st_size
    except FileNotFoundError:
        return True  # There is nothing to be had, and whoever asks is told so.
    envelope = _envelopes(os.fspath(place), size).get(actor)
    return envelope is None or envelope.covers(right, session, wall())


@functools.lru_cache(BOOKS)
def _envelopes(path: str, size: int) -> Mapping[ActorId, Envelope]:
    """Return what a logbook of that size says about everybody it names."""
    found: dict[ActorId, Envelope] = {}
    with open(path, "rb") as book:  # noqa: PTH123  # a path as text is the key
        while book.tell() < size and (line := book.readline()):
            if any(mark in line for mark in _MARKS):
                with contextlib.suppress(HoldfastError):  # A torn line says nothing.
                    _take(found, line)
    return found


def _take(found: dict[ActorId, Envelope], line: bytes) -> None:
    fields = decode_line(line.rstrip(b"\n"))
    actor = ActorId(str(fields.get("actor")))
    if fields.get("kind") == EntryKind.REVOKED:
        found[actor] = NOTHING
    elif fields.get("kind") == EntryKind.GRANTED:
        found[actor] = granted_envelope(fields)
