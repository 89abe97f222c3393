"""Two ends of a channel over a link in memory, for the tests of channels."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from holdfast.aio.channel import (
    Accepted,
    Sealed,
    accept_channel,
    join_channel,
    open_channel,
)
from holdfast.crypto.identity import Identity
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import host_id
from holdfast.testing.carriers import Meddle, MemoryCarrier, linked

HOST = Identity.from_seed(bytes(range(32)))
OPERATOR = Identity.from_seed(bytes(range(1, 33)))
HOST_ID = host_id(HOST.public)
INVITE_ID = bytes(range(50, 66))
SECRET = bytes(range(70, 86))


def secret_of(invite_id: bytes) -> bytes | None:
    return SECRET if invite_id == INVITE_ID else None


@dataclass
class Channel:
    """Both ends of a channel that stands, and of the link under it."""

    ours: Sealed
    accepted: Accepted
    our_end: MemoryCarrier
    their_end: MemoryCarrier

    @property
    def theirs(self) -> Sealed:
        return self.accepted.sealed


def dial_attach(carrier: MemoryCarrier) -> Coroutine[Any, Any, Sealed]:
    return open_channel(carrier, OPERATOR, HOST.public, HOST.static_public, HOST_ID)


def dial_join(carrier: MemoryCarrier) -> Coroutine[Any, Any, Sealed]:
    return join_channel(carrier, OPERATOR, HOST.public, HOST_ID, INVITE_ID, SECRET)


Dial = Callable[[MemoryCarrier], Coroutine[Any, Any, Sealed]]


async def standing(
    dial: Dial = dial_attach, there: Meddle | None = None, back: Meddle | None = None
) -> Channel:
    ours, theirs = linked(there, back)
    async with asyncio.TaskGroup() as group:
        answering = group.create_task(accept_channel(theirs, HOST, secret_of))
        sealed = await dial(ours)
    return Channel(sealed, answering.result(), ours, theirs)


async def heard(sealed: Sealed) -> bytes:
    """Return everything up to the peer's orderly end."""
    parts: list[bytes] = []
    while part := await sealed.receive():
        parts.append(part)
    return b"".join(parts)


async def outcome(dialled: Coroutine[Any, Any, object]) -> HoldfastError | None:
    """Return the error that a coroutine ends with, if it does."""
    try:
        await dialled
    except HoldfastError as error:
        return error
    return None
