"""Drives an exchange with a session on an event loop."""

import asyncio
import contextlib
import math
from typing import TypeVar

from holdfast.core.client.exchange import Exchange
from holdfast.core.client.farewell import Farewell
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.sdk.link import Link
from holdfast.sdk.routes import Way
from holdfast.wire.codec import Message

STEP = 0.01
LAST_STEP = 1.0
"""Seconds between two links, at first and later."""

Result = TypeVar("Result")


async def converse(way: Way, session: SessionId, exchange: Exchange[Result]) -> Result:
    """Carry an exchange through, on one link after another.

    Cancelling leaves nothing open.

    Raises:
        HoldfastError: What the exchange ends with.

    """
    loop = asyncio.get_running_loop()
    exchange.slowness = way.slowness
    while True:
        patience = exchange.dials(loop.time()) * way.slowness
        try:
            async with await _linked(way, session, patience) as link:
                return await _carry(way, exchange, link)
        except SessionUnreachable as error:
            exchange.cut(error, loop.time())
        await asyncio.sleep(STEP)


async def _linked(way: Way, session: SessionId, patience: float) -> Link:
    """Open a link; a holder that was just replaced is waited for."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + patience
    step = STEP
    while True:
        try:
            return await Link.open(way, session)
        except SessionUnreachable:
            if loop.time() + step > give_up_at:
                raise
        await asyncio.sleep(step)
        step = min(step * 2, LAST_STEP)


async def _carry(way: Way, exchange: Exchange[Result], link: Link) -> Result:
    loop = asyncio.get_running_loop()
    try:
        await link.send(*exchange.linked(loop.time()))
        while (result := exchange.result) is None:
            if exchange.wants_pen():
                exchange.take_pen(await way.pen())
            message = await _received(link, exchange.next_deadline(loop.time()))
            if message is not None:
                await link.send(*exchange.hear(message, loop.time()))
            if exchange.result is None:
                await link.send(*exchange.tick(loop.time()))
        return result
    finally:
        farewell = exchange.leave(loop.time())
        if farewell is not None:
            await leave(link, farewell)


async def leave(link: Link, farewell: Farewell) -> None:
    """Do what is left to do before a link is closed; what fails here is no error."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(HoldfastError):
        await link.send(*farewell.begin(loop.time()))
        while not farewell.is_over:
            message = await _received(link, farewell.deadline)
            if message is not None:
                await link.send(*farewell.hear(message, loop.time()))
            await link.send(*farewell.tick(loop.time()))


async def _received(link: Link, due: float) -> Message | None:
    try:
        async with asyncio.timeout_at(None if due == math.inf else due):
            return await link.receive()
    except TimeoutError:
        return None
