"""One link to a holder: messages out, messages in, with deadlines.

What `client.connection` is for programs that block, this is for an event loop.
"""

import asyncio
import contextlib
from functools import partial
from typing import Self

from holdfast.core.client.holder_link import Credentials, HolderLink
from holdfast.core.client.timeouts import GREETING
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.sdk.routes import Stream, Way
from holdfast.version import __version__
from holdfast.wire.codec import Message, encode


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
            async with asyncio.timeout(GREETING):
                await link._greet()
        except TimeoutError:
            await link.close()
            raise SessionUnreachable(session, link._talk.missing) from None
        except BaseException:
            await link.close()
            raise
        return link

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
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
        while (message := self._talk.take()) is None:
            await self._fill()
        return message

    async def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(HoldfastError):
            await self._stream.close()

    async def _greet(self) -> None:
        await self._stream.send(self._talk.hello())
        while not self._talk.is_greeted:
            await self._fill()

    async def _fill(self) -> None:
        if answer := self._talk.feed(await self._stream.receive()):
            await self._stream.send(answer)
