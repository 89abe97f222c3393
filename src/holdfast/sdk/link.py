"""One link to a holder: messages out, messages in, with deadlines.

What `client.connection` is for programs that block, this is for an event loop.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

from holdfast.client.attachment import Attachment
from holdfast.client.signing import Pen
from holdfast.model.envelopes import Right
from holdfast.model.errors import (
    HoldfastError,
    NoCommonVersion,
    NotAllowed,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import ClientId, SessionId
from holdfast.model.text import printable
from holdfast.sdk.ways import Stream, Way
from holdfast.version import __version__
from holdfast.wire.codec import Message, decode, encode, error_from
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.messages import (
    Attached,
    Challenge,
    Goodbye,
    Hello,
    Identify,
    Ping,
    Pong,
    Refuse,
    Welcome,
)
from holdfast.wire.versions import SPOKEN, choose, spelled

ANSWER = 5.0
"""Seconds for a holder to say hello, or to let us attach."""

LAST_ANSWERS = 1.0
"""Seconds for the answers to what was sent just before we leave."""

SIGNING_PATIENCE = 5.0
"""Seconds for a holder to say that it has what we signed, before we leave."""

NO_CLIENT = ClientId("")


class Link:
    """A link on which both sides have said who they are and what they speak."""

    def __init__(self, session: SessionId, stream: Stream) -> None:
        self._session = session
        self._stream = stream
        self._reader = FrameReader()
        self._heard: deque[Message] = deque()
        self._us = ""

    @classmethod
    async def open(cls, way: Way, session: SessionId) -> Self:
        """Connect to a session's holder.

        Cancelling leaves nothing open.

        Raises:
            Unavailable: None answers.
            PeerError: It speaks no version that we speak, or nonsense.
            Forbidden: Its host does not let us in.

        """
        link = cls(session, await way.dial(session))
        try:
            async with link.in_time("it does not say hello"):
                await link._greet(way)
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
        await self._stream.send(b"".join(map(encode, messages)))

    async def receive(self) -> Message:
        """Return the next message. Cancelling is safe: none is lost.

        Questions whether we are there are answered, and not returned.

        Raises:
            Unavailable: The holder is gone, or said goodbye.
            Forbidden: It does not believe who we are.
            PeerError: It sent what no holder sends.

        """
        while True:
            while self._heard:
                message = self._heard.popleft()
                match message:
                    case Ping(number):
                        await self.send(Pong(number))
                    case Goodbye():
                        raise self._dismissed(message)
                    case Refuse(refused=FrameKind.IDENTIFY):
                        raise error_from(message)
                    case _:
                        return message
            raw = await self._stream.receive()
            if not raw:
                raise SessionUnreachable(self._session, "it hung up")
            self._heard.extend(map(decode, self._reader.feed(raw)))

    def put_back(self, messages: list[Message]) -> None:
        """Have `receive` return these first, in this order."""
        self._heard.extendleft(reversed(messages))

    async def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(HoldfastError):
            await self._stream.close()

    @contextlib.asynccontextmanager
    async def in_time(self, otherwise: str) -> AsyncIterator[None]:
        """Let what is done last ANSWER seconds at most.

        Raises:
            Unavailable: It did last longer.

        """
        try:
            async with asyncio.timeout(ANSWER):
                yield
        except TimeoutError:
            raise SessionUnreachable(self._session, otherwise) from None

    async def _greet(self, way: Way) -> None:
        self._us = way.us
        await self.send(Hello(SPOKEN, f"holdfast {__version__}", way.program))
        welcome = await self.receive()
        if not isinstance(welcome, Welcome):
            raise UnexpectedMessage(type(welcome).__name__, "greeting")
        choose(SPOKEN, (welcome.version,))
        asked = await self.receive()
        if not isinstance(asked, Challenge):
            raise UnexpectedMessage(type(asked).__name__, "greeting")
        # It is not answered unless it is refused, and later.
        await self.send(Identify(way.us, way.proof(self._session, asked.nonce)))

    def _dismissed(self, goodbye: Goodbye) -> HoldfastError:
        if goodbye.code == NoCommonVersion.code:
            return NoCommonVersion(spelled(SPOKEN), printable(goodbye.text))
        if goodbye.code == NotAllowed.code:
            # We are revoked: whoever comes back is not let in, and may not be told so.
            return NotAllowed(self._us, Right.OBSERVE.value)
        why = f"{printable(goodbye.text)} ({goodbye.code})"
        return SessionUnreachable(self._session, why)


async def attach(link: Link, attachment: Attachment) -> Attached:
    """Attach on a link, and send again what has no answer yet.

    Raises:
        Unavailable: The holder does not answer.
        HoldfastError: It refused, and why.

    """
    await link.send(attachment.attach(None, keyframe=False))
    early: list[Message] = []
    async with link.in_time("it does not let us attach"):
        while not isinstance(message := await link.receive(), Attached):
            if isinstance(message, Refuse) and message.refused == FrameKind.ATTACH:
                raise error_from(message)
            early.append(message)  # Our coming may be what caused it.
    attachment.heard(message)
    link.put_back(early)
    again: list[Message] = [*attachment.open]
    if (said := attachment.signing.again()) is not None:
        again.append(said)
    if again:
        await link.send(*again)
    return message


async def sign_off(link: Link, attachment: Attachment, pen: Pen | None) -> None:
    """Sign what we have sent and not signed, before we leave.

    What fails here is no error: it is on record that it is not signed.
    """
    signing = attachment.signing
    with contextlib.suppress(HoldfastError, TimeoutError):
        async with asyncio.timeout(LAST_ANSWERS):
            while attachment.open:  # Only what is in the book is signed.
                _take(attachment, await link.receive())
    with contextlib.suppress(HoldfastError, TimeoutError):
        async with asyncio.timeout(SIGNING_PATIENCE):
            while not (signing.is_done or signing.is_put_off):
                if (said := signing.sign(pen)) is not None:
                    await link.send(said)
                while signing.is_awaited:
                    _take(attachment, await link.receive())


def _take(attachment: Attachment, message: Message) -> None:
    attachment.heard(message)
    attachment.answered(message)


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
