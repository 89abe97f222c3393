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
from holdfast.model.errors import HoldfastError, SessionUnreachable, Unavailable
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
    why = "its socket belongs to another user"
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
    """A holder's own socket.

    Not one of asyncio's streams: those forget what has come and was not read yet, once
    something cannot be sent any more. What a holder says last, before it ends, comes
    just then.
    """

    def __init__(self, session: SessionId, link: socket.socket) -> None:
        self._session = session
        self._link = link
        self._unsent = bytearray()
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_closed = False

    @classmethod
    async def over(cls, session: SessionId, link: socket.socket) -> Self:
        """Read and write on a connected socket, which does not block."""
        return cls(session, link)

    async def send(self, data: bytes) -> None:
        """Send all of `data`, waiting while the holder is slow.

        Raises:
            Unavailable: It is gone.

        """
        self._unsent += data
        loop = asyncio.get_running_loop()
        try:
            while self._unsent:
                try:
                    del self._unsent[: self._link.send(self._unsent)]
                except BlockingIOError:
                    await self._until(loop.add_writer, loop.remove_writer)
        except OSError as error:
            self._unsent.clear()
            raise self._gone(error) from error

    async def receive(self) -> bytes:
        """Return the next bytes; b"" once the holder is done. Cancelling is safe.

        Raises:
            Unavailable: It is gone.

        """
        loop = asyncio.get_running_loop()
        while not self._is_closed:
            # First, so that one that prints without a pause leaves others their turn.
            await self._until(loop.add_reader, loop.remove_reader)
            try:
                return self._link.recv(READ) if not self._is_closed else b""
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._gone(error) from error
        return b""

    async def close(self) -> None:
        """Hang up. Safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._link)
        loop.remove_writer(self._link)
        self._link.close()
        for one in self._waiting:
            _be_ready(one)

    async def _until(
        self, watch: Callable[..., None], unwatch: Callable[[socket.socket], bool]
    ) -> None:
        """Wait until the socket can be read, or written, or is closed."""
        ready = asyncio.get_running_loop().create_future()
        self._waiting.add(ready)
        watch(self._link, _be_ready, ready)
        try:
            await ready
        finally:
            self._waiting.discard(ready)
            if not self._is_closed:
                unwatch(self._link)

    def _gone(self, error: OSError) -> SessionUnreachable:
        return SessionUnreachable(self._session, error.strerror or "it hung up")


def _be_ready(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


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
            # One that cannot be told any more has said something just before.
            with contextlib.suppress(Unavailable):
                await self._stream.send(answer)
