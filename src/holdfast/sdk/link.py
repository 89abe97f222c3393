"""One link to a holder: messages out, messages in, with deadlines.

What `client.connection` is for programs that block, this is for an event loop.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator
from functools import partial
from types import TracebackType
from typing import Self

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.entrance import Entrance
from holdfast.core.client.holder_link import Credentials, HolderLink
from holdfast.core.client.questions import NO_CLIENT
from holdfast.core.client.timeouts import GREETING
from holdfast.model.errors import (
    HoldfastError,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import SessionId
from holdfast.sdk.routes import Stream, Way
from holdfast.version import __version__
from holdfast.wire.codec import Message, encode
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.messages import Attached, Refuse


class Link:
    """A link on which both sides have said who they are and what they speak."""

    def __init__(self, session: SessionId, stream: Stream, way: Way) -> None:
        self._session = session
        self._stream = stream
        program = f"holdfast {__version__}"
        prove = partial(way.proof, session)
        self._talk = HolderLink(
            session, Credentials(way.us, program, way.program, prove)
        )
        self._put_back: deque[Message] = deque()

    @classmethod
    async def open(cls, way: Way, session: SessionId) -> Self:
        """Connect to a session's holder.

        Cancelling leaves nothing open.

        Raises:
            Unavailable: None answers.
            PeerError: It speaks no version that we speak, or nonsense.
            Forbidden: Its host does not let us in.

        """
        link = cls(session, await way.dial(session), way)
        try:
            async with link.in_time("it does not greet"):
                await link._greet()
        except BaseException:
            await link.close()
            raise
        return link

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def send(self, *messages: Message) -> None:
        """Send messages, each whole. Cancelling spoils the link: close it then.

        Raises:
            Unavailable: The holder is gone.
            UsageError: A message cannot be written; none was sent.

        """
        if messages:
            await self._stream.send(b"".join(map(encode, messages)))

    async def receive(self) -> Message:
        """Return the next message. Cancelling is safe: none is lost.

        Raises:
            Unavailable: The holder is gone, or said goodbye.
            Forbidden: It does not believe who we are.
            PeerError: It sent what no holder sends.

        """
        if self._put_back:
            return self._put_back.popleft()
        while (message := self._talk.take()) is None:
            await self._fill()
        return message

    def put_back(self, messages: list[Message]) -> None:
        """Have `receive` return these first, in this order."""
        self._put_back.extendleft(reversed(messages))

    async def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(HoldfastError):
            await self._stream.close()

    @contextlib.asynccontextmanager
    async def in_time(self, otherwise: str) -> AsyncGenerator[None, None]:
        """Let what is done last GREETING seconds at most.

        Raises:
            Unavailable: It did last longer.

        """
        try:
            async with asyncio.timeout(GREETING):
                yield
        except TimeoutError:
            raise SessionUnreachable(self._session, otherwise) from None

    async def _greet(self) -> None:
        await self._stream.send(self._talk.hello())
        while not self._talk.is_greeted:
            await self._fill()

    async def _fill(self) -> None:
        if answer := self._talk.feed(await self._stream.receive()):
            await self._stream.send(answer)


async def attach(link: Link, attachment: Attachment) -> Attached:
    """Attach on a link, and send again what has no answer yet.

    Raises:
        Unavailable: The holder does not answer.
        HoldfastError: It refused, and why.

    """
    entrance = Entrance(attachment)
    await link.send(entrance.message())
    async with link.in_time("it does not let us attach"):
        while (attached := entrance.hear(await link.receive())) is None:
            pass
    link.put_back(entrance.early)
    await link.send(*attachment.resume())
    return attached


async def recent(link: Link) -> int | None:
    """Return a byte not long ago, if the shell has marked one; before attaching.

    Whoever wants only what comes from now on is spared most of what is kept.

    Raises:
        Unavailable: The holder does not answer.

    """
    await link.send(CommandRequest(NO_CLIENT))
    async with link.in_time("it does not say where its shell is"):
        message = await link.receive()
    match message:
        case CommandReport(_, command):
            if command is None:
                return None
            return command.start if command.end is None else command.end
        case Refuse():
            return None  # It is no shell that we know; or ATTACH is refused next.
        case _:
            raise UnexpectedMessage(type(message).__name__, "asking for a command")
