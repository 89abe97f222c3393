"""How a host and an operator find each other through a relay.

The dialling sides of docs/spec/relay.md. `reach` is an operator's: it returns
when the host's end is there. `register` is a host's: it stays, says whom the host
admits, and yields a knock for each operator that comes. Nothing here retries by
itself; the caller knows when that makes sense.

What is returned carries messages between the two ends. We do not trust the relay, and
it cannot read us: a sealed channel goes on top.
"""

import asyncio
import itertools
import ssl as tls
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from holdfast.core.relay.unproven_connections import is_loopback
from holdfast.model import errors
from holdfast.model.ids import ActorId, HostId, Incarnation, SessionId, host_id
from holdfast.model.text import printable
from holdfast.wire import relay_messages as wire
from holdfast.wire.relay_messages import MAX_MESSAGE, MAX_PART, VERSION, Role

PATIENCE = 10.0
"""Seconds for dialling, and again for each answer of a relay."""

JOIN_PATIENCE = 15.0
"""Seconds until the other end is there: the relay gives it ten."""

HEARTBEAT = 20.0
"""Seconds between two pings; a relay that misses one by as much is gone."""

MAX_QUEUE = 16
"""Messages kept for a reader that does not read; then the relay is read no further."""

_PORTS = {"https": 443, "http": 80}


class Signer(Protocol):
    """An owner of a key: an Identity, or a bare signing key."""

    @property
    def public(self) -> bytes:
        """The Ed25519 public key."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return a signature of `message` by it."""
        ...


@dataclass(frozen=True, slots=True)
class Admitted:
    """Whom a host admits: known actors, and holders of open invitations."""

    actors: frozenset[ActorId] = frozenset()
    invites: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class RelayAddress:
    """Where a relay is, and what it is called there."""

    scheme: str
    name: str
    host: str

    def path(self, role: Role) -> str:
        """Return the path that a peer of this role dials."""
        return f"{'wss' if self.scheme == 'https' else 'ws'}://{self.name}/v1/{role}"


def relay_address(url: str) -> RelayAddress:
    """Read the address of a relay: https://NAME[:PORT], http:// on loopback.

    Raises:
        UsageError: It is none, or would send in plaintext over a network.

    """
    shown = printable(url, 100)
    try:
        parts = urlsplit(url.lower())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise errors.MalformedArgument(shown, "the address of a relay") from None
    is_bare = not (parts.username or parts.password or parts.query or parts.fragment)
    if parts.scheme not in _PORTS or not host or not is_bare or parts.path.strip("/"):
        raise errors.MalformedArgument(shown, "the address of a relay (https://NAME)")
    if parts.scheme == "http" and not (is_loopback(host) or host == "localhost"):
        raise errors.PlaintextRefused(shown)
    name = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[parts.scheme]:
        name = f"{name}:{port}"
    return RelayAddress(parts.scheme, name, host)


class WebSocketCarrier:
    """One WebSocket, as a Carrier; `host` is whom the relay says is there."""

    def __init__(self, link: ClientConnection, host: HostId) -> None:
        self.host = host
        self._link = link

    async def send(self, message: bytes) -> None:
        """Send one message, waiting while the relay is slow.

        Raises:
            Unavailable: The link has ended.

        """
        await _send(self._link, message)

    async def receive(self) -> bytes:
        """Return the next message. Cancelling is safe: none is lost.

        Raises:
            Unavailable: The link has ended.
            PeerError: It was no binary message.

        """
        return await _receive(self._link)

    async def close(self, code: str = "") -> None:
        """End the link. Safe to call twice."""
        await self._link.close(1000, code[:100])


# ── an operator ───────────────────────────────────────────────────────────────


async def reach(
    relay_url: str,
    us: Signer,
    target: str,
    *,
    invite_id: bytes | None = None,
    ssl: tls.SSLContext | None = None,
) -> WebSocketCarrier:
    """Return a link to a host, by its id or by the id of a session it has.

    Cancelling hangs up.

    Raises:
        Unavailable: The relay cannot be reached, or nobody there answers us.
        Forbidden: The relay does not take our proof.
        PeerError: What answers is no relay.
        UsageError: The address or the target makes no sense.

    """
    address = relay_address(relay_url)
    invite = invite_id or b""
    async with _dialled(address, Role.OPERATOR, ssl) as (link, nonce):
        wishes = (target.encode(), invite)
        signed = wire.statement(Role.OPERATOR, address.name, nonce, *wishes)
        said = wire.Reach(us.public, target, invite, us.sign(signed))
        await _send(link, wire.encode(said))
        return await _joined(link)


# ── a host ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Knocked:
    """An operator wants to reach us; the channel proves its identity."""

    actor: ActorId
    target: str
    invite_id: bytes
    ticket: bytes
    relay_url: str
    us: Signer
    ssl: tls.SSLContext | None

    async def answer(self) -> WebSocketCarrier:
        """Dial, and return the link to them. Once, and within seconds.

        Raises:
            Forbidden: It is too late, or was done before.
            Unavailable: The relay cannot be reached.
            PeerError: What answers is no relay.

        """
        address = relay_address(self.relay_url)
        async with _dialled(address, Role.MEET, self.ssl) as (link, nonce):
            signed = wire.statement(Role.MEET, address.name, nonce, self.ticket)
            said = wire.Meet(self.us.public, self.ticket, self.us.sign(signed))
            await _send(link, wire.encode(said))
            return await _joined(link)


class Registration:
    """A host's link to its relay. Iterate over it: that is what reads."""

    def __init__(
        self,
        link: ClientConnection,
        relay_url: str,
        us: Signer,
        ssl: tls.SSLContext | None,
    ) -> None:
        self.host = host_id(us.public)
        self._link = link
        self._relay_url = relay_url
        self._us = us
        self._ssl = ssl
        self._admitted = Admitted()
        self._published: frozenset[SessionId] = frozenset()
        self._asks = itertools.count(1)
        self._asked: dict[int, asyncio.Future[wire.LeaseGrant]] = {}

    async def admit(self, admitted: Admitted) -> None:
        """Say whom we take, from now on; only what changed is sent.

        Raises:
            Unavailable: The link has ended.

        """
        former, self._admitted = self._admitted, admitted
        for actors, invites in _parts(
            admitted.actors - former.actors, admitted.invites - former.invites
        ):
            said = wire.Admit(resets=False, actors=actors, invites=invites)
            await _send(self._link, wire.encode(said))
        for actors, invites in _parts(
            former.actors - admitted.actors, former.invites - admitted.invites
        ):
            await _send(self._link, wire.encode(wire.Dismiss(actors, invites)))

    async def publish(self, sessions: Iterable[SessionId]) -> None:
        """Say which sessions are with us, from now on; only what changed is sent.

        Raises:
            Unavailable: The link has ended.

        """
        former, self._published = self._published, frozenset(sessions)
        added = sorted(self._published - former)
        removed = sorted(former - self._published)
        for start in range(0, max(len(added), len(removed)), MAX_PART):
            part = slice(start, start + MAX_PART)
            said = wire.Publish(
                resets=False, added=tuple(added[part]), removed=tuple(removed[part])
            )
            await _send(self._link, wire.encode(said))

    async def __aiter__(self) -> AsyncIterator[Knocked]:
        """Yield each knock. Cancelling is safe: the next one is not lost.

        Raises:
            Unavailable: The link has ended, the relay is being stopped, or
                another process has registered with our key.
            PeerError: The relay broke the protocol.

        """
        while True:
            said = wire.decode(await _receive(self._link))
            match said:
                case wire.Knock():
                    yield Knocked(
                        said.actor,
                        said.target,
                        said.invite,
                        said.ticket,
                        self._relay_url,
                        self._us,
                        self._ssl,
                    )
                case wire.LeaseGrant() | wire.LeaseRefuse():
                    self._settle(said)
                case wire.Refused():
                    raise wire.error_from(said)
                case wire.Leaving():
                    raise errors.RelayLeaving
                case _:
                    raise errors.UnexpectedMessage(type(said).__name__, "registered")

    # ── leases, answered while the caller iterates ────────────────────────

    async def ask_lease(
        self,
        session: SessionId,
        incarnation: Incarnation | None,
        *,
        seen: Incarnation,
        is_speaking: bool,
    ) -> tuple[Incarnation, float]:
        """Renew a lease, or claim the next incarnation; return it and its ttl.

        Count the ttl from before this was called (spec/leases.md, section 3.3).

        Raises:
            Unavailable: Not now, or the link has ended.
            Forbidden: The session was not entrusted to us.

        """
        ask = next(self._asks)
        answer = asyncio.get_running_loop().create_future()
        self._asked[ask] = answer
        life = incarnation or Incarnation(0)
        said = wire.LeaseAsk(ask, session, life, seen, is_speaking)
        try:
            await _send(self._link, wire.encode(said))
            granted: wire.LeaseGrant = await answer
        finally:
            self._asked.pop(ask, None)
        return granted.life, granted.ttl_ms / 1000

    async def release_lease(self, session: SessionId, life: Incarnation) -> None:
        """Say that we have fenced a session and let go of it."""
        await _send(self._link, wire.encode(wire.LeaseRelease(session, life)))

    async def end_lease(self, session: SessionId, life: Incarnation) -> None:
        """Say that a session is over for good."""
        await _send(self._link, wire.encode(wire.LeaseEnd(session, life)))

    async def entrust(self, session: SessionId, hosts: Iterable[HostId]) -> None:
        """Say which hosts may claim one of our sessions after us."""
        said = wire.Entrust(session, tuple(sorted(hosts)))
        await _send(self._link, wire.encode(said))

    def _settle(self, said: wire.LeaseGrant | wire.LeaseRefuse) -> None:
        answer = self._asked.pop(said.ask, None)
        if answer is None or answer.done():
            return  # The caller did not wait.
        if isinstance(said, wire.LeaseGrant):
            answer.set_result(said)
        else:
            answer.set_exception(wire.error_from(said))

    def _give_up(self) -> None:
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(errors.LinkEnded(""))


@asynccontextmanager
async def register(
    relay_url: str,
    us: Signer,
    admitted: Admitted,
    ssl: tls.SSLContext | None = None,
) -> AsyncIterator[Registration]:
    """Be registered as a host for as long as the block lasts.

    Raises:
        Unavailable: The relay cannot be reached, or has no room.
        Forbidden: The relay does not take our proof, or not our key.
        PeerError: What answers is no relay.
        UsageError: The address makes no sense.

    """
    address = relay_address(relay_url)
    async with _dialled(address, Role.HOST, ssl) as (link, nonce):
        signed = wire.statement(Role.HOST, address.name, nonce)
        said = wire.Register(us.public, us.sign(signed))
        await _send(link, wire.encode(said))
        answer = await _told(link, PATIENCE)
        if not isinstance(answer, wire.Registered):
            raise errors.UnexpectedMessage(type(answer).__name__, "registering")
        registration = Registration(link, relay_url, us, ssl)
        try:
            await registration.admit(admitted)
            yield registration
        finally:
            registration._give_up()  # noqa: SLF001  # its other half
            await link.close()


# ── both ──────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def _dialled(
    address: RelayAddress, role: Role, ssl: tls.SSLContext | None
) -> AsyncIterator[tuple[ClientConnection, bytes]]:
    """Dial and be greeted; hang up if anything goes wrong in the block."""
    is_near = is_loopback(address.host) or address.host == "localhost"
    try:
        link = await connect(
            address.path(role),
            ssl=(ssl or tls.create_default_context())
            if address.scheme == "https"
            else None,
            proxy=None if is_near else True,
            compression=None,
            user_agent_header=None,
            open_timeout=PATIENCE,
            close_timeout=2,
            ping_interval=HEARTBEAT,
            ping_timeout=HEARTBEAT,
            max_size=MAX_MESSAGE,
            max_queue=MAX_QUEUE,
        )
    except (OSError, InvalidHandshake, EOFError) as error:
        why = printable(str(error)) or type(error).__name__
        raise errors.RelayUnreachable(address.name, why) from error
    try:
        yield link, await _greeted(link)
    except BaseException:
        # Cut, not closed: nobody is told anything. It is gone at the next turn of
        # the loop.
        link.transport.abort()
        await link.wait_closed()
        raise


async def _greeted(link: ClientConnection) -> bytes:
    greet = await _told(link, PATIENCE)
    if not isinstance(greet, wire.Greet):
        raise errors.UnexpectedMessage(type(greet).__name__, "dialling")
    if greet.version != VERSION:
        raise errors.NoCommonVersion(str(VERSION), str(greet.version))
    return greet.nonce


async def _joined(link: ClientConnection) -> WebSocketCarrier:
    answer = await _told(link, JOIN_PATIENCE)
    if not isinstance(answer, wire.Joined):
        raise errors.UnexpectedMessage(type(answer).__name__, "waiting to be joined")
    return WebSocketCarrier(link, answer.host)


async def _told(link: ClientConnection, patience: float) -> wire.RelayMessage:
    """Return the relay's next message; raise what it refuses with."""
    try:
        async with asyncio.timeout(patience):
            said = wire.decode(await _receive(link))
    except TimeoutError:
        name = "" if link.request is None else link.request.headers["Host"]
        raise errors.RelayUnreachable(name, "it does not answer") from None
    if isinstance(said, wire.Refused):
        raise wire.error_from(said)
    return said


async def _send(link: ClientConnection, message: bytes) -> None:
    try:
        await link.send(message)
    except ConnectionClosed as closed:
        raise _ended(closed) from None


async def _receive(link: ClientConnection) -> bytes:
    try:
        message = await link.recv()
    except ConnectionClosed as closed:
        raise _ended(closed) from None
    if isinstance(message, str):
        raise errors.MalformedMessage("relay message", "a text")
    return message


def _ended(closed: ConnectionClosed) -> errors.HoldfastError:
    told = closed.rcvd.reason if closed.rcvd is not None else ""
    return errors.LinkEnded(printable(told, 100))


def _parts(
    actors: Iterable[ActorId], invites: Iterable[bytes]
) -> Iterable[tuple[tuple[ActorId, ...], tuple[bytes, ...]]]:
    some, others = sorted(actors), sorted(invites)
    for start in range(0, max(len(some), len(others)), MAX_PART):
        part = slice(start, start + MAX_PART)
        yield tuple(some[part]), tuple(others[part])
