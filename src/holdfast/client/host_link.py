"""A channel to a remote host through one of its relays, and requests on it.

Relays are tried in the order in which they are written down, beginning with the
one that was the way last time. Whatever a relay says is no more than a hint; who
answers at the other end has proven the host's key, or it is not talked to.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from holdfast.aio.channel import Sealed, join_channel, open_channel
from holdfast.aio.relay_client import reach
from holdfast.client.hosts import KnownHost
from holdfast.crypto.identity import Identity
from holdfast.linux.keeper_requests import whole
from holdfast.model import errors
from holdfast.model.ids import SessionId, host_id
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import OpenSession, Request, packet_of
from holdfast.model.text import printable
from holdfast.wire import opening
from holdfast.wire.channel import VERSION
from holdfast.wire.host_requests import PacketReader, error_from, packet_bytes
from holdfast.wire.opening import Declined, Open, Opened

ATTEMPT = 6.0
"""Seconds for one relay: with the host's dial-back these are four round trips."""

PATIENCE = 20.0
"""Seconds for an answer: the host waits for its keeper, which waits for a holder."""

MAX_PAGES = 256
"""Parts taken of one answer: more sessions than a host keeps."""

_ways: dict[bytes, str] = {}
"""The relay by which each host was reached last."""


class HostLink:
    """One channel to a host: for its requests, and after them for one session."""

    def __init__(self, name: str, sealed: Sealed) -> None:
        self._name = name
        self._sealed = sealed
        self._reader = PacketReader()
        self._is_asked = False
        """Whether we have said what the channel is for."""

        self._is_open = False
        """Whether the host has agreed."""

    @property
    def static_key(self) -> bytes:
        """The host's key for handshakes, which it has proven."""
        return self._sealed.peer_static

    async def ask(self, asked: Request, patience: float | None = None) -> Facts:
        """Return the host's answer; a list comes whole.

        Cancelling spoils the link: close it then.

        Raises:
            HoldfastError: The host refused, and why.
            Unavailable: It did not answer.

        """
        packet = packet_bytes(packet_of(asked))
        async with self._in_time(patience):
            # The question is not held back until the host has said yes to OPEN.
            await self._say_what_for(opening.HOST)
            await self._sealed.send(packet)
            await self._agree()
            return await self._answer()

    async def hear(self, patience: float | None = None) -> Facts:
        """Return the host's next answer, to what was sent after a question.

        Raises:
            HoldfastError: The host refused, and why.
            Unavailable: It did not answer.

        """
        async with self._in_time(patience):
            return await self._answer()

    async def open_session(self, session: SessionId) -> None:
        """Switch the link to the protocol of one session.

        Raises:
            HoldfastError: The host refused, and why.
            Unavailable: It did not answer.

        """
        if self._is_asked:
            await self.ask(OpenSession(session))
            return
        async with self._in_time():
            await self._say_what_for(session)
            await self._agree()

    async def send(self, data: bytes) -> None:
        """Send bytes of the session's protocol, waiting while the host is slow."""
        await self._sealed.send(data)

    async def receive(self) -> bytes:
        """Return the next bytes of it; b"" once the host is done."""
        return self._reader.rest() or await self._sealed.receive()

    async def close(self) -> None:
        """Hang up. Safe to call twice."""
        await self._sealed.close()

    async def _say_what_for(self, target: str) -> None:
        if not self._is_asked:
            self._is_asked = True
            await self._sealed.send(opening.encode(Open(VERSION, target)))

    async def _agree(self) -> None:
        if self._is_open:
            return
        data = await self._sealed.receive()
        if not data:
            raise errors.LinkEnded("the host hung up")
        said = opening.decode(data)
        match said:
            case Opened():
                self._is_open = True
            case Declined():
                raise opening.error_from(said)
            case Open():
                raise errors.UnexpectedMessage("Open", "opening a channel")

    @contextlib.asynccontextmanager
    async def _in_time(self, patience: float | None = None) -> AsyncIterator[None]:
        seconds = patience or PATIENCE
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            why = f"no answer within {seconds:.0f} s"
            raise errors.HostUnreachable(self._name, why) from None

    async def _answer(self) -> Facts:
        listed: list[object] = []
        for _ in range(MAX_PAGES):
            part = await self._packet()
            if part.get("ok") is not True:
                raise error_from(part)
            answer = whole(part, listed)
            if answer is not None:
                return answer
        raise errors.HostUnreachable(self._name, "its answer does not end")

    async def _packet(self) -> Facts:
        while (packet := self._reader.take()) is None:
            data = await self._sealed.receive()
            if not data:
                raise errors.LinkEnded("the host hung up")
            self._reader.feed(data)
        return packet


async def reach_host(
    host: KnownHost, us: Identity, tls: ssl.SSLContext | None = None
) -> HostLink:
    """Open a channel to a host, by the first of its relays that leads there.

    Cancelling leaves nothing open.

    Raises:
        Forbidden: The host does not let us in.
        Unavailable: No relay leads there now.

    """

    async def opened(relay: str) -> Sealed:
        try:
            carrier = await reach(relay, us, host.id, ssl=tls)
            sealed = await open_channel(
                carrier, us, host.public_key, host.static_key, host.id
            )
        except errors.HoldfastError as error:
            if _says_revoked(error):
                raise errors.Revoked(host.name) from error
            raise
        _ways[host.public_key] = relay
        return sealed

    last = _ways.get(host.public_key)
    ordered = sorted(host.relays, key=lambda relay: relay != last)
    return await _by_relays(host.name, ordered, opened)


async def join_host(
    relays: tuple[str, ...],
    us: Identity,
    host_public: bytes,
    invite: tuple[bytes, bytes],
    tls: ssl.SSLContext | None = None,
) -> HostLink:
    """Open a channel to the host that made an invitation: its id and its secret.

    Raises:
        Forbidden: The invitation was used, has expired, or never was.
        Unavailable: No relay leads there now.

    """
    wanted, secret = invite
    host = host_id(host_public)

    async def joined(relay: str) -> Sealed:
        carrier = await reach(relay, us, host, invite_id=wanted, ssl=tls)
        return await join_channel(carrier, us, host_public, host, wanted, secret)

    return await _by_relays(host, relays, joined)


async def _by_relays(
    name: str, relays: Sequence[str], dial: Callable[[str], Awaitable[Sealed]]
) -> HostLink:
    """Try one relay after the other; what the host itself refuses is final."""
    why: list[str] = []
    for relay in relays:
        try:
            async with asyncio.timeout(ATTEMPT):
                return HostLink(name, await dial(relay))
        except (errors.InviteUnknown, errors.Revoked):
            raise
        except TimeoutError:
            why.append(f"{printable(relay, 64)}: nothing within {ATTEMPT:.0f} s")
        except (errors.HoldfastError, OSError) as error:
            why.append(f"{printable(relay, 64)}: {error}")
    raise errors.HostUnreachable(name, "; ".join(why) or "no relay leads to it")


def _says_revoked(error: Exception) -> bool:
    if isinstance(error, errors.LinkEnded):
        return error.facts["why"] == errors.Revoked.code
    return isinstance(error, errors.Forbidden) and error.code == errors.Revoked.code
