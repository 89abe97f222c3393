"""A channel that only its two ends can read, over an untrusted link.

`open_channel` and `join_channel` are the operator's side, `accept_channel` the
host's; all three return when the other side is proven, and give up in time.
The decisions are made in crypto/handshake.py and crypto/sealing.py; here the messages
are carried. One task may send while another receives.

Any error ends the carrier with the error's code. Nothing that came after a message
that does not open is ever returned.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from holdfast.aio.carrier import Carrier
from holdfast.crypto.handshake import Accepting, Established, Joining, Opening
from holdfast.crypto.identity import SECRET, Identity
from holdfast.crypto.noise import DH
from holdfast.model import errors
from holdfast.model.ids import HostId, host_id
from holdfast.wire.channel import INVITE_ID, MAX_DATA, RecordKind

HANDSHAKE = 10.0
"""Seconds for a whole handshake: a slow line twice over; longer is a stalled peer."""

CLOSING = 2.0
"""Seconds that a full link may hold up the END of the side that closes."""


class Sealed:
    """A channel to a peer that is proven."""

    def __init__(self, carrier: Carrier, made: Established) -> None:
        self._carrier = carrier
        self._outbound = made.outbound
        self._inbound = made.inbound
        self._sending = asyncio.Lock()
        self._is_spoilt = False
        self.peer = made.peer
        """The Ed25519 public key that the other side has proven to own."""

        self.peer_static = made.peer_static
        """Its X25519 public key: what the next attach needs."""

        self.binding = made.binding
        """The same on both sides, and on no other channel."""

    async def send(self, data: bytes) -> None:
        """Send all of `data`, waiting while the peer is slow.

        Cancelling spoils this direction: a message was counted, and may not have
        been sent. Close the channel then.

        Raises:
            Unavailable: The link has ended, or we ended it.

        """
        view = memoryview(data)
        async with self._sending:
            for start in range(0, len(view), MAX_DATA):
                await self._send(RecordKind.DATA, view[start : start + MAX_DATA])

    async def end(self) -> None:
        """Say that nothing more comes from us; what the peer sends still arrives.

        Safe to call twice, and after the link has ended.
        """
        async with self._sending:
            if not (self._outbound.has_ended or self._is_spoilt):
                with contextlib.suppress(errors.LinkEnded):
                    await self._send(RecordKind.END)

    async def receive(self) -> bytes:
        """Return the next bytes, at most MAX_DATA; b"" once the peer is done.

        Cancelling is safe: nothing is lost.

        Raises:
            PeerError: A message does not open. The channel is closed.
            Unavailable: The link ended, and the peer had not said that it is
                done: something may be missing.

        """
        if self._inbound.has_ended:
            return b""
        message = await self._carrier.receive()
        try:
            return self._inbound.open(message).data
        except errors.HoldfastError as error:
            await self._carrier.close(error.code)
            raise

    async def close(self, code: str = "", *, within: float = CLOSING) -> None:
        """End both directions, waiting `within` seconds at most. Safe to call twice.

        With the code of an error the peer is not told that all was sent.
        """
        if not code:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self.end()
        await self._carrier.close(code)

    async def _send(self, kind: RecordKind, data: bytes | memoryview = b"") -> None:
        if self._is_spoilt:
            raise errors.LinkEnded("a message was given up half sent")
        message = self._outbound.seal(kind, data)
        self._is_spoilt = True
        await self._carrier.send(message)
        self._is_spoilt = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """An operator that a host has let in, so far as its key is its own."""

    sealed: Sealed
    invite_id: bytes | None
    """The invitation it came with, whose secret it knew; None in an attach."""


async def open_channel(
    carrier: Carrier,
    us: Identity,
    host_public: bytes,
    host_static: bytes,
    host: HostId,
    *,
    within: float = HANDSHAKE,
) -> Sealed:
    """Open a channel to a host whose keys are known.

    Cancelling closes the carrier, and so does every error.

    Raises:
        PeerError: The side that answers is not that host, or was interfered with.
        Unavailable: The link ended, or nobody answered in time.

    """
    async with _ending(carrier), _in_time(within):
        _check_id(host_public, host)
        opening = Opening(us, host_public, host_static, os.urandom(DH))
        return await _dial(carrier, opening)


async def join_channel(
    carrier: Carrier,
    us: Identity,
    host_public: bytes,
    host: HostId,
    invite_id: bytes,
    secret: bytes,
) -> Sealed:
    """Open a channel to the host that made an invitation.

    The peer's `peer_static` is to be kept: an attach needs it. Cancelling closes
    the carrier, and so does every error.

    Raises:
        UsageError: Id or secret are no invitation's.
        Forbidden: The host says that it knows no such invitation; or a relay does.
        PeerError: The side that answers is not that host, or was interfered with.
        Unavailable: The link ended, or nobody answered in time.

    """
    async with _ending(carrier), _in_time(HANDSHAKE):
        _check_id(host_public, host)
        if (len(invite_id), len(secret)) != (INVITE_ID, SECRET):
            raise errors.MalformedInvite("its id or its secret has another length")
        joining = Joining(us, host_public, invite_id, secret, os.urandom(DH))
        try:
            return await _dial(carrier, joining)
        except errors.LinkEnded as error:
            if error.facts["why"] == errors.InviteUnknown.code:
                raise errors.InviteUnknown from error
            raise


async def accept_channel(
    carrier: Carrier,
    us: Identity,
    secret_of: Callable[[bytes], bytes | None],
    *,
    within: float = HANDSHAKE,
) -> Accepted:
    """Let an operator open a channel to us, a host.

    `secret_of` says the secret of an invitation, or None if there is none of that
    id. Whether the operator may do anything is for the caller to decide: only its
    key is proven, and that it knew the secret.

    Cancelling closes the carrier, and so does every error.

    Raises:
        Forbidden: There is no such invitation.
        PeerError: The operator is not who it says, or was interfered with.
        Unavailable: The link ended, or the operator was too slow.

    """
    async with _ending(carrier), _in_time(within):
        accepting = Accepting(us, await carrier.receive(), os.urandom(DH))
        secret: bytes | None = b""
        if accepting.invite_id is not None:
            secret = secret_of(accepting.invite_id)
        if secret is None:
            raise errors.InviteUnknown
        await carrier.send(accepting.reply())
        made = accepting.finish(await carrier.receive(), secret)
        return Accepted(Sealed(carrier, made), accepting.invite_id)


async def _dial(carrier: Carrier, handshake: Opening | Joining) -> Sealed:
    await carrier.send(handshake.first())
    message, made = handshake.last(await carrier.receive())
    await carrier.send(message)
    return Sealed(carrier, made)


def _check_id(host_public: bytes, host: HostId) -> None:
    if host_id(host_public) != host:
        raise errors.WrongIdentity(host, "its key has another id")


@contextlib.asynccontextmanager
async def _in_time(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise errors.HandshakeTimeout(round(seconds)) from None


@contextlib.asynccontextmanager
async def _ending(carrier: Carrier) -> AsyncIterator[None]:
    """End the carrier if what is done with it fails, saying why by code."""
    try:
        yield
    except errors.HoldfastError as error:
        await carrier.close(error.code)
        raise
    except BaseException:
        await carrier.close()
        raise
