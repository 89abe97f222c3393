"""Peers of a relay in a process of their own, so that they cost nobody's time.

python -m bench.relay_peers host NAME URL           echoes, or floods when told "go"
python -m bench.relay_peers sealed NAME URL         floods a sealed channel
python -m bench.relay_peers load NAME URL PAIRS     a mixed load: keys, and output
"""

import asyncio
import contextlib
import hashlib
import sys

from holdfast.aio.channel import accept_channel
from holdfast.aio.relay_client import (
    Admitted,
    Knocked,
    Registration,
    WebSocketCarrier,
    reach,
    register,
)
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import actor_id, host_id
from holdfast.wire.channel import MAX_DATA

PIECE = b"x" * 60_000
"""One message of a flood: what a sealed channel sends at most, nearly."""

FLOODERS = 10
"""Of a mixed load, one in so many prints; the others type."""

KEY_EVERY = 0.1
PRINT_EVERY = 0.05
PRINTED = b"y" * 16_384
"""A printing pair makes a third of a megabyte in a second, a typing one ten keys."""


def key(name: str) -> SigningKey:
    """Return the key that everybody knows for a name."""
    return SigningKey.from_seed(hashlib.sha256(name.encode()).digest())


def identity(name: str) -> Identity:
    """Return that key with what a sealed channel needs besides."""
    return Identity.from_seed(hashlib.sha256(name.encode()).digest())


def admitted(name: str, count: int) -> Admitted:
    """Return so many operators of a host."""
    actors = [actor_id(key(f"{name} {one}").public) for one in range(count)]
    return Admitted(frozenset(actors))


async def answer(carrier: WebSocketCarrier) -> None:
    """Echo every message; after "go" send without end."""
    with contextlib.suppress(HoldfastError):
        while True:
            message = await carrier.receive()
            if message == b"go":
                break
            await carrier.send(message)
        while True:
            await carrier.send(PIECE)


async def answer_all(registration: Registration) -> None:
    """Answer every knock."""
    async with asyncio.TaskGroup() as tasks:
        async for knock in registration:
            tasks.create_task(answer(await knock.answer()))


async def host(name: str, url: str) -> None:
    """Be a host until we are killed."""
    async with register(url, key(name), admitted(name, 2000)) as registration:
        print("ready", flush=True)
        await answer_all(registration)


async def flood_sealed(knock: Knocked, us: Identity) -> None:
    """Open a channel, and send on it without end what fills two records."""
    piece = b"z" * (2 * MAX_DATA)
    with contextlib.suppress(HoldfastError):
        accepted = await accept_channel(await knock.answer(), us, lambda _: None)
        while True:
            await accepted.sealed.send(piece)


async def sealed(name: str, url: str) -> None:
    """Be a host with sealed channels until we are killed."""
    us = identity(name)
    async with (
        register(url, us, admitted(name, 1)) as registration,
        asyncio.TaskGroup() as tasks,
    ):
        print("ready", flush=True)
        async for knock in registration:
            tasks.create_task(flood_sealed(knock, us))


async def type_on(carrier: WebSocketCarrier, piece: bytes, pause: float) -> None:
    """Send `piece` now and again, and wait for each echo."""
    while True:
        await carrier.send(piece)
        await carrier.receive()
        await asyncio.sleep(pause)


async def load(name: str, url: str, count: int) -> None:
    """Keep `count` pairs busy until we are killed."""
    async with (
        register(url, key(name), admitted(name, count)) as registration,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(answer_all(registration))
        for one in range(count):
            us = key(f"{name} {one}")
            carrier = await reach(url, us, host_id(key(name).public))
            prints = one % FLOODERS == 0
            piece, pause = (PRINTED, PRINT_EVERY) if prints else (b"k" * 48, KEY_EVERY)
            tasks.create_task(type_on(carrier, piece, pause))
        print("ready", flush=True)


def main() -> None:
    """Be what is asked for."""
    role, name, url, *more = sys.argv[1:]
    with contextlib.suppress(ImportError):
        import uvloop  # noqa: PLC0415  # optional

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    if role == "host":
        asyncio.run(host(name, url))
    elif role == "sealed":
        asyncio.run(sealed(name, url))
    else:
        asyncio.run(load(name, url, int(more[0])))


if __name__ == "__main__":
    main()
