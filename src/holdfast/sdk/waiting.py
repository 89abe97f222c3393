"""When has something come: output, quiet, a state, a port, the end?

What is printed is watched on a view of its own. What the kernel knows is asked for
again and again, often at first, when an answer is likely, and less often later: the
kernel does not call anybody when a program begins to wait.
"""

import asyncio
import contextlib
import math
import re
from collections.abc import AsyncIterator

from holdfast.model.errors import (
    MalformedArgument,
    SessionLost,
    SessionOver,
    WaitedInVain,
)
from holdfast.model.ids import FIRST_INCARNATION
from holdfast.model.text import printable
from holdfast.sdk import asking
from holdfast.sdk.line import Line
from holdfast.sdk.values import Chunk, Listening, Match, State
from holdfast.sdk.view import View
from holdfast.wire.codec import Message
from holdfast.wire.graphs import MAX_PORT
from holdfast.wire.messages import Attached, Exited, Gap, Lost, Output

MAX_MATCH = 64 * 1024
"""Bytes that one match can be long: what is older is let go."""

FIRST_LOOK = 0.02
LAST_LOOK = 0.25
"""Seconds between two questions, at first and after some of them."""

READING = 10.0
"""Seconds in which a holder sends what it has already."""

_NOT_COME = "exited, and it had not come"


async def match(view: View, pattern: re.Pattern[bytes], timeout: float | None) -> Match:
    """Return the first place of the stream that fits.

    Raises:
        Unavailable: It did not come in time.
        UsageError: The session ended first.

    """
    held = bytearray()
    async with _in_time(printable(repr(pattern.pattern), 64), timeout), view:
        while True:
            message = await _next(view)
            if isinstance(message, Exited):
                raise SessionOver(_NOT_COME)
            if isinstance(message, Gap):
                held.clear()
            if not isinstance(message, Output):
                continue
            held += message.data
            if found := pattern.search(held):
                begin = message.offset + len(message.data) - len(held)
                return Match(begin + found.start(), found[0], found.groups())
            del held[:-MAX_MATCH]


async def quiet(view: View, seconds: float, timeout: float | None) -> int:
    """Return where the stream ends once nothing was printed for so long.

    Raises:
        Unavailable: It was not quiet in time.

    """
    loop = asyncio.get_running_loop()
    async with _in_time("quiet", timeout), view:
        await _next(view)
        quiet_at = loop.time() + seconds
        while (left := quiet_at - loop.time()) > 0 and not view.is_over:
            if isinstance(await view.next(left), Output | Gap):
                quiet_at = loop.time() + seconds
        return view.end


async def end(view: View, timeout: float | None) -> int:
    """Return the session's status once it has ended.

    Raises:
        Unavailable: It did not in time, or is lost.

    """
    async with _in_time("the end", timeout), view:
        while not isinstance(message := await _next(view), Exited):
            pass
        return message.status


async def piece(view: View, limit: int) -> Chunk:
    """Return what there is of the stream now, at most `limit` bytes.

    Raises:
        UsageError: The stream has not come so far, or a number is none.
        Unavailable: The session does not send it.

    """
    if limit < 1:
        raise MalformedArgument(str(limit), "a number of bytes, 1 or more")
    start, first = view.attachment.offset, None
    content = bytearray()
    async with _in_time("the stream", READING), view:
        attached = await _next(view)
        assert isinstance(attached, Attached)  # noqa: S101  # it comes first
        begin = attached.start if start is None else start
        while view.end < attached.end and len(content) < limit:
            message = await _next(view)
            if isinstance(message, Output):
                first = message.offset if first is None else first
                content += message.data
    offset = max(begin, view.end) if first is None else first
    return Chunk(offset, bytes(content[:limit]), max(0, offset - begin))


async def state(line: Line, words: tuple[str, ...], timeout: float | None) -> State:
    """Return what the session does as soon as it is one of `words`.

    Raises:
        Unavailable: It was not in time.
        UsageError: The session ended first.

    """
    async for _ in _looks(words[0], timeout):
        seen = await asking.state(line)
        if seen.word in words:
            return seen
        if seen.word == "exited":
            break
    raise SessionOver(_NOT_COME)


async def port(line: Line, number: int, timeout: float | None) -> Listening:
    """Return who listens on a port as soon as somebody does.

    Raises:
        Unavailable: Nobody did in time.
        UsageError: The session ended first, or there is no such port.

    """
    if not 0 < number <= MAX_PORT:
        raise MalformedArgument(str(number), f"a port from 1 to {MAX_PORT}")
    async for _ in _looks(f"port {number}", timeout):
        seen = await asking.graph(line, descriptors=False)
        for one in seen.listeners:
            if one.port == number:
                return Listening(number, one.pid, one.address)
        if not seen.processes:
            break
    raise SessionOver(_NOT_COME)


async def _looks(what: str, timeout: float | None) -> AsyncIterator[None]:
    """Yield for each look, the last one when the time is up.

    No look is cut short: a question without its answer would cost us the link.
    """
    loop = asyncio.get_running_loop()
    begun_at = loop.time()
    until = math.inf if timeout is None else begun_at + timeout
    step = FIRST_LOOK
    while True:
        yield
        left = until - loop.time()
        if left <= 0:
            raise WaitedInVain(what, round((loop.time() - begun_at) * 1000))
        await asyncio.sleep(min(step, left))
        step = min(step * 1.5, LAST_LOOK)


async def _next(view: View) -> Message:
    message = await view.next()
    assert message is not None  # noqa: S101  # without a limit something comes
    if isinstance(message, Lost):
        raise SessionLost(view.attachment.incarnation or FIRST_INCARNATION)
    return message


@contextlib.asynccontextmanager
async def _in_time(what: str, timeout: float | None) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    begun_at = loop.time()
    try:
        async with asyncio.timeout(timeout):
            yield
    except TimeoutError:
        waited = round((loop.time() - begun_at) * 1000)
        raise WaitedInVain(what, waited) from None
