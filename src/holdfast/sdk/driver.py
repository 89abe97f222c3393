"""Performs the steps of a conversation on an event loop."""

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Generic, TypeVar

from holdfast.aio.holder_link import Link
from holdfast.core.client.conversation import (
    Dial,
    HangUp,
    LoadPen,
    Pause,
    Receive,
    Send,
    Step,
    conversation,
)
from holdfast.core.client.exchange import Exchange
from holdfast.model.errors import HoldfastError, SessionLeft, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.sdk.routes import Way
from holdfast.wire.codec import Message

Result = TypeVar("Result")


class _Unwanted(Exception):
    """Nobody wants more steps; a generator cannot be told so by GeneratorExit."""


class Driver(Generic[Result]):
    """One exchange, on one link after another. Cancelling leaves nothing open."""

    def __init__(
        self, way: Way, session: SessionId, exchange: Exchange[Result]
    ) -> None:
        self._home = way
        self._session = session
        self._exchange = exchange
        self._link: Link
        self._waits: asyncio.Timeout | None = None
        self._is_woken = False
        exchange.slowness = way.slowness

    @property
    def _way(self) -> Way:
        """The way to the session: it may have moved since."""
        moved = self._home.moved
        return self._home if moved is None else moved.way_to(self._session, self._home)

    def wake(self) -> None:
        """Look at the exchange now: it has got an event."""
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
        steps = conversation(self._exchange, asyncio.get_running_loop().time)
        step: Step | None = next(steps)
        with contextlib.suppress(_Unwanted):
            while step is not None:
                is_news = isinstance(step, Receive) and not step.is_last
                try:
                    came = await self._do(step)
                except BaseException as error:  # noqa: BLE001  # it is raised again
                    followed = await self._followed(error, step)
                    step = _after(partial(steps.throw, followed))
                    continue
                step = _after(partial(steps.send, came))
                try:
                    if is_news:
                        yield
                except GeneratorExit:
                    step = _after(partial(steps.throw, _Unwanted()))

    async def _followed(self, error: BaseException, step: Step) -> BaseException:
        """Return what went wrong; if the session has moved, go where it went."""
        moved = self._home.moved
        if moved is None:
            return error
        if isinstance(error, SessionLeft):
            try:
                await moved.follow(self._session, self._home, error.word)
            except HoldfastError as refused:
                return refused
        elif isinstance(step, Dial) and isinstance(error, SessionUnreachable):
            moved.try_other(self._session)
        self._exchange.slowness = self._way.slowness
        return error

    async def _do(self, step: Step) -> object:
        """Do one step, and return what came of it."""
        match step:
            case Dial(within):
                self._link = await self._linked(within)
            case Send(messages):
                await self._link.send(*messages)
            case Receive(until):
                return await self._received(until)
            case LoadPen():
                return await self._way.pen()
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case HangUp():
                await self._link.close()
        return None

    async def _linked(self, within: float) -> Link:
        try:
            async with asyncio.timeout(within):
                stream = await self._way.dial(self._session)
                ours = self._way.credentials(self._session)
                return await Link.open(self._session, stream, ours)
        except TimeoutError:
            raise SessionUnreachable(self._session, "it does not answer") from None

    async def _received(self, due: float) -> Message | None:
        """Return the next message; None at the deadline, or when woken."""
        if self._is_woken:
            due = 0.0
        self._is_woken = False
        try:
            async with asyncio.timeout_at(None if due == math.inf else due) as waits:
                self._waits = waits
                return await self._link.receive()
        except TimeoutError:
            return None
        finally:
            self._waits = None


def _after(go_on: Callable[[], Step]) -> Step | None:
    try:
        return go_on()
    except StopIteration:
        return None
