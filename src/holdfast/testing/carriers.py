"""Two ends of a link in memory, and anything a relay might do in between.

    ours, theirs = linked()

What one end sends, the other receives, through `Way`s that a test can inspect
and change: drop, repeat, reorder, flip. A way holds MAX_WAITING messages; a
sender beyond that waits, as on a real link.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from holdfast.model.errors import LinkEnded

MAX_WAITING = 64
"""Messages on the way before a sender waits."""

Meddle = Callable[[bytes], list[bytes]]
"""What a relay makes of a message: the messages that it passes on instead."""


class Way:
    """One direction of a link."""

    def __init__(self, meddle: Meddle | None = None) -> None:
        self.meddle = meddle
        self.seen: list[bytes] = []
        """Every message that was sent, as it was sent."""

        self._waiting: deque[bytes] = deque()
        self._changed = asyncio.Condition()
        self.ended: str | None = None
        """Why it ended; None while it has not."""

    async def put(self, message: bytes) -> None:
        """Send a message, waiting while the way is full."""
        async with self._changed:
            await self._changed.wait_for(self._has_room)
            if self.ended is not None:
                raise LinkEnded(self.ended)
            self.seen.append(message)
            passed = [message] if self.meddle is None else self.meddle(message)
            self._waiting.extend(passed)
            self._changed.notify_all()

    async def take(self) -> bytes:
        """Receive a message; what was sent before the end still arrives."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting or self._is_over)
            if not self._waiting:
                raise LinkEnded(self.ended or "")
            message = self._waiting.popleft()
            self._changed.notify_all()
            return message

    async def end(self, why: str) -> None:
        """End it; the first reason stands."""
        async with self._changed:
            self.ended = why if self.ended is None else self.ended
            self._changed.notify_all()

    def _has_room(self) -> bool:
        return len(self._waiting) < MAX_WAITING or self._is_over

    @property
    def _is_over(self) -> bool:
        return self.ended is not None


class MemoryCarrier:
    """One end of a link in memory."""

    def __init__(self, outward: Way, inward: Way) -> None:
        self.outward = outward
        self.inward = inward

    async def send(self, message: bytes) -> None:
        """Send one message."""
        await self.outward.put(message)

    async def receive(self) -> bytes:
        """Return the next message."""
        return await self.inward.take()

    async def close(self, code: str = "") -> None:
        """End both directions."""
        await self.outward.end(code)
        await self.inward.end(code)


def linked(
    there: Meddle | None = None, back: Meddle | None = None
) -> tuple[MemoryCarrier, MemoryCarrier]:
    """Return the two ends of a link; the relay meddles as it is told."""
    one, other = Way(there), Way(back)
    return MemoryCarrier(one, other), MemoryCarrier(other, one)
