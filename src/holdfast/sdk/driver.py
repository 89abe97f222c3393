"""Drives an exchange with a session on an event loop."""

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

from holdfast.aio.holder_link import Link
from holdfast.core.client.exchange import Exchange
from holdfast.core.client.farewell import Farewell
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.sdk.routes import Way
from holdfast.wire.codec import Message

STEP = 0.01
LAST_STEP = 1.0
"""Seconds between two links, at first and later."""

Result = TypeVar("Result")


class Driver(Generic[Result]):
    """One exchange, on one link after another. Cancelling leaves nothing open."""

    def __init__(
        self, way: Way, session: SessionId, exchange: Exchange[Result]
    ) -> None:
        self._way = way
        self._session = session
        self._exchange = exchange
        self._waits: asyncio.Timeout | None = None
        self._is_woken = False
        exchange.slowness = way.slowness

    def wake(self) -> None:
        """Look at the exchange now: somebody else has told it something."""
        self._is_woken = True
        if self._waits is not None and not self._waits.expired():
            self._waits.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> Result:
        """Carry it through.

        Raises:
            HoldfastError: What the exchange ends with.

        """
        async with contextlib.aclosing(self.steps()) as steps:
            async for _ in steps:
                pass
        assert self._exchange.result is not None  # noqa: S101  # there are no more
        return self._exchange.result

    async def steps(self) -> AsyncGenerator[None, None]:
        """Carry it through, message by message; as slowly as is wanted.

        Raises:
            HoldfastError: What the exchange ends with.

        """
        loop = asyncio.get_running_loop()
        exchange = self._exchange
        while exchange.result is None:
            try:
                async with await self._linked() as link:
                    try:
                        await link.send(*exchange.linked(loop.time()))
                        while exchange.result is None:
                            await self._step(link)
                            yield
                    finally:
                        farewell = exchange.leave(loop.time())
                        if farewell is not None:
                            await self._leave(link, farewell)
            except SessionUnreachable as error:
                exchange.cut(error, loop.time())
                await asyncio.sleep(STEP)

    async def _linked(self) -> Link:
        """Open a link; a holder that was just replaced is waited for."""
        loop = asyncio.get_running_loop()
        patience = self._exchange.dials(loop.time()) * self._way.slowness
        give_up_at = loop.time() + patience
        step = STEP
        while True:
            try:
                stream = await self._way.dial(self._session)
                ours = self._way.credentials(self._session)
                return await Link.open(self._session, stream, ours)
            except SessionUnreachable:
                if loop.time() + step > give_up_at:
                    raise
            await asyncio.sleep(step)
            step = min(step * 2, LAST_STEP)

    async def _step(self, link: Link) -> None:
        loop, exchange = asyncio.get_running_loop(), self._exchange
        if exchange.wants_pen():
            exchange.take_pen(await self._way.pen())
        message = await self._received(link, exchange.next_deadline(loop.time()))
        if message is not None:
            await link.send(*exchange.hear(message, loop.time()))
        if exchange.result is None:
            await link.send(*exchange.tick(loop.time()))

    async def _leave(self, link: Link, farewell: Farewell) -> None:
        """Do what is left to do before it is closed; what fails here is no error."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(HoldfastError):
            await link.send(*farewell.begin(loop.time()))
            while not farewell.is_over:
                message = await self._received(link, farewell.deadline)
                if message is not None:
                    await link.send(*farewell.hear(message, loop.time()))
                await link.send(*farewell.tick(loop.time()))

    async def _received(self, link: Link, due: float) -> Message | None:
        """Return the next message; None when it is time, or somebody has woken us."""
        if self._is_woken:
            due = 0.0
        self._is_woken = False
        try:
            async with asyncio.timeout_at(None if due == math.inf else due) as waits:
                self._waits = waits
                return await link.receive()
        except TimeoutError:
            return None
        finally:
            self._waits = None
