"""One client's view of a session, kept from link to link.

Whatever breaks, the same client attaches again after the last byte it has, and what
it has sent and not heard of is sent again under the ids it had.
Only after so many seconds without any link is the session given up.
"""

import asyncio
from types import TracebackType
from typing import Self

from holdfast.client.driver import attachment_to
from holdfast.core.client.attachment import Attachment
from holdfast.model.errors import SessionUnreachable
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.sdk.link import Link, attach, recent
from holdfast.sdk.routes import Way
from holdfast.wire.codec import Message
from holdfast.wire.messages import Attached, Exited, Gap, Lost, Mode, Output

FIRST_STEP = 0.01
LAST_STEP = 1.0
"""Seconds until a link is tried again, at first and later."""


class View:
    """What comes from a session, message by message, whichever link it has."""

    def __init__(
        self, way: Way, attachment: Attachment, *, from_now: bool = False
    ) -> None:
        self._way = way
        self.attachment = attachment
        self.is_over = False
        """Whether the session has ended or is lost: nothing follows."""

        self.link: Link | None = None
        self._is_new = from_now
        self._begin = 0

    @classmethod
    def observing(
        cls, way: Way, session: SessionId, start: int | None, *, from_now: bool
    ) -> Self:
        """Return a view from a byte on, from now on, or of all that is kept."""
        attachment = attachment_to(session, Mode.OBSERVE)
        attachment.offset, attachment.incarnation = start, FIRST_INCARNATION
        return cls(way, attachment, from_now=from_now)

    @property
    def end(self) -> int:
        """Up to which byte the stream was seen, or needs not be seen."""
        return max(self._begin, self.attachment.offset or 0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def next(self, within: float | None = None) -> Message | None:
        """Return what comes next, or None when nothing did within so many seconds.

        ATTACHED comes first, and again after each cut. Of the stream every byte comes
        once. Cancelling is safe: nothing is lost.

        Raises:
            Unavailable: There was no link for as long as the way has patience.
            HoldfastError: We are not let in, and why.

        """
        try:
            async with asyncio.timeout(within):
                while True:
                    message = self._taken(await self._received())
                    if message is not None:
                        return message
        except TimeoutError:
            return None

    async def close(self) -> None:
        """Hang up. What is called next attaches again."""
        link, self.link = self.link, None
        if link is not None:
            await link.close()

    async def _received(self) -> Message:
        while True:
            if self.link is None:
                return await self._attached()
            try:
                return await self.link.receive()
            except SessionUnreachable:
                await self.close()
                if self.is_over:
                    raise  # Nobody takes its place.
            except BaseException as error:
                if not isinstance(error, asyncio.CancelledError):
                    await self.close()
                raise

    async def _attached(self) -> Attached:
        """Attach, as often as it takes."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._way.patience
        step = FIRST_STEP
        while True:
            try:
                return await self._attach()
            except SessionUnreachable:
                if loop.time() + step > give_up_at:
                    raise
            await asyncio.sleep(step)
            step = min(step * 2, LAST_STEP)

    async def _attach(self) -> Attached:
        attachment = self.attachment
        link = await Link.open(self._way, attachment.session)
        try:
            if self._is_new:
                attachment.offset = await recent(link)
                attachment.incarnation = FIRST_INCARNATION
            attached = await attach(link, attachment)
        except BaseException:
            await link.close()
            raise
        if self._is_new:
            self._begin, self._is_new = attached.end, False
        self.link = link
        return attached

    def _taken(self, message: Message) -> Message | None:
        """Return a message as it concerns whoever looks; None if it does not."""
        match message:
            case Output(offset, data):
                return self._printed(offset, data)
            case Gap(start, end):
                self.attachment.heard(message)
                return Gap(max(start, self._begin), end) if end > self._begin else None
            case Attached():
                return message  # The attachment has heard it already.
            case Exited() | Lost():
                self.is_over = True
            case _:
                pass
        self.attachment.heard(message)
        return message

    def _printed(self, offset: int, data: bytes) -> Output | None:
        fresh = self.attachment.heard(Output(offset, data))
        end = offset + len(data)
        first = max(end - len(fresh), self._begin)
        return Output(first, data[first - offset :]) if first < end else None
