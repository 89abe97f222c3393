"""One link to a holder on an event loop: messages out, messages in.

What `client.connection` is for programs that block. A stream of bytes leads there: the
holder's own socket, or a channel at whose other end its host has put that.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Protocol, Self

from holdfast.core.client.holder_link import Credentials, HolderLink
from holdfast.core.client.timeouts import GREETING
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.wire.codec import Message, encode

READ = 256 * 1024
"""Bytes taken from a socket at once: four full frames of output."""


class Stream(Protocol):
    """An ordered stream of bytes in both directions."""

    async def send(self, data: bytes) -> None:
        """Send all of `data`, waiting while the peer is slow."""
        ...

    async def receive(self) -> bytes:
        """Return the next bytes; b"" once the peer is done. Cancelling is safe."""
        ...

    async def close(self) -> None:
        """Hang up. Safe to call twice."""
        ...


async def connect(
    session: SessionId, address: str, is_ours: Callable[[socket.socket], bool]
) -> socket.socket:
    """Connect to a holder's socket.

    Raises:
        Unavailable: Nobody listens, or it is not ours.

    """
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.setblocking(False)  # noqa: FBT003  # the name of the call says it
    why = "its socket belongs to somebody else"
    try:
        await asyncio.get_running_loop().sock_connect(link, address)
        if is_ours(link):
            return link
    except OSError as error:
        why = error.strerror or "no answer"
    except BaseException:
        link.close()
        raise
    link.close()
    raise SessionUnreachable(session, why)


class SocketStream:
    """A holder's own socket."""

    def __init__(
        self,
        session: SessionId,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._session = session
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, session: SessionId, link: socket.socket) -> Self:
        """Read and write on a connected socket."""
        found = await asyncio.open_unix_connection(sock=link, limit=READ)
        return cls(session, *found)

    async def send(self, data: bytes) -> None:
        """Send all of `data`, waiting while the holder is slow.

        Raises:
            Unavailable: It is gone.

        """
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise self._gone(error) from error

    async def receive(self) -> bytes:
        """Return the next bytes; b"" once the holder is done. Cancelling is safe.

        Raises:
            Unavailable: It is gone.

        """
        try:
            return await self._reader.read(READ)
        except OSError as error:
            raise self._gone(error) from error

    async def close(self) -> None:
        """Hang up. Safe to call twice."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def _gone(self, error: OSError) -> SessionUnreachable:
        return SessionUnreachable(self._session, error.strerror or "it hung up")


class Link:
    """A link on which both sides have said who they are and what they speak."""

    def __init__(
        self, session: SessionId, stream: Stream, credentials: Credentials
    ) -> None:
        self._stream = stream
        self._talk = HolderLink(session, credentials)

    @classmethod
    async def open(
        cls, session: SessionId, stream: Stream, credentials: Credentials
    ) -> Self:
        """Greet the holder at the other end of a stream.

        Cancelling closes the stream, and so does every error.

        Raises:
            Unavailable: It does not answer.
            PeerError: It speaks no version that we speak, or nonsense.

        """
        link = cls(session, stream, credentials)
        try:
            async with asyncio.timeout(GREETING):
                await stream.send(link._talk.hello())
                while not link._talk.is_greeted:
                    await link._fill()
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

    async def _fill(self) -> None:
        if answer := self._talk.feed(await self._stream.receive()):
            await self._stream.send(answer)
