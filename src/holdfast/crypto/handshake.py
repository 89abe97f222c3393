"""The handshake that opens an encrypted channel between an operator and a host.

Theory of operation
-------------------
Three messages, whatever the purpose; the operator begins.

    attach   the operator knows the host's keys    Noise IK
        o → h   purpose, e, s, statement
        h → o   e, statement
        o → h   a sealed CONFIRM

    join     the operator has an invitation        Noise XXpsk3
        o → h   purpose, invitation's id, e, zeros
        h → o   e, s, statement
        o → h   s, statement; the invitation's secret is mixed in

A replay of an operator's first message gets an answer that the replayer cannot read.
So a host takes nobody for proven before the third message: in an attach that is
the CONFIRM, which only the owner of the static key can seal; in a join it opens
only with the secret. An operator knows its host with the second message, and
tells it nothing before.

The zeros of a join make the first message longer than its answer, so that
nobody makes a host send more than was sent to it before it knows whom it serves.

Invariants, checked by tests/crypto/test_handshake.py and test_handshake_hostile.py:

I1  Both sides finish with each other's identity, or one of them raises.
I2  A host that is not the expected one is told nothing about the operator but,
    in an attach, a message that only the expected host can read.
I3  Any changed bit of any of the messages is refused, and so is a recorded one.
I4  No answer is longer than what it answers.
"""

from holdfast.crypto.identity import (
    Identity,
    Role,
    invite_psk,
    stated,
    statement,
)
from holdfast.crypto.noise import IK, XXPSK3, Agreed, HandshakeState, KeyPair
from holdfast.crypto.sealing import Inbound, Outbound
from holdfast.model import errors
from holdfast.model.ids import HostId, host_id
from holdfast.wire.channel import First, Purpose, RecordKind, prologue

FILLING = 128
"""Zeros in the first message of a join: its answer is one byte shorter."""


class Established:
    """A channel that stands, as one of its sides has it."""

    __slots__ = ("binding", "inbound", "outbound", "peer", "peer_static")

    def __init__(
        self, directions: tuple[Outbound, Inbound], agreed: Agreed, peer: bytes
    ) -> None:
        self.outbound, self.inbound = directions
        self.peer = peer
        """The Ed25519 public key that the other side has proven to own."""

        self.peer_static = agreed.remote_static
        """Its X25519 public key, to be kept for the next attach."""

        self.binding = agreed.hash
        """The same on both sides, and on no other channel."""


class Opening:
    """The operator's side of an attach."""

    def __init__(
        self, us: Identity, host_public: bytes, host_static: bytes, ephemeral: bytes
    ) -> None:
        self._us = us
        self._host = host_public
        self._prologue = prologue(host_id(host_public), Purpose.ATTACH)
        self._noise = HandshakeState(
            IK,
            self._prologue,
            us.static,
            KeyPair(ephemeral),
            remote_static=host_static,
            is_initiator=True,
        )

    def first(self) -> bytes:
        """Return the first message.

        Raises:
            PeerError: The host's key is of low order.

        """
        said = statement(self._us, Role.OPERATOR, self._prologue)
        return First(Purpose.ATTACH, b"", self._noise.write(said)).to_bytes()

    def last(self, reply: bytes) -> tuple[bytes, Established]:
        """Take the host's answer; return the third message, and the channel.

        Raises:
            PeerError: The answer is not from that host.

        """
        said = self._noise.read(reply)
        agreed = self._noise.agree()
        _check_host(said, self._prologue, agreed.remote_static, self._host)
        made = _established(agreed, self._host)
        return made.outbound.seal(RecordKind.CONFIRM), made


class Joining:
    """The operator's side of a join."""

    def __init__(
        self,
        us: Identity,
        host_public: bytes,
        invite_id: bytes,
        secret: bytes,
        ephemeral: bytes,
    ) -> None:
        self._us = us
        self._host = host_public
        self._invite_id = invite_id
        self._prologue = prologue(host_id(host_public), Purpose.JOIN, invite_id)
        self._noise = _joining(self._prologue, us, ephemeral, is_initiator=True)
        self._noise.set_psk(invite_psk(secret, invite_id))

    def first(self) -> bytes:
        """Return the first message."""
        noise = self._noise.write(bytes(FILLING))
        return First(Purpose.JOIN, self._invite_id, noise).to_bytes()

    def last(self, reply: bytes) -> tuple[bytes, Established]:
        """Take the host's answer; return the third message, and the channel.

        Raises:
            PeerError: The answer is not from that host.

        """
        said = self._noise.read(reply)
        static = self._noise.remote_static or b""
        # Before we say who we are, and before the secret is used.
        _check_host(said, self._prologue, static, self._host)
        ours = statement(self._us, Role.OPERATOR, self._prologue)
        message = self._noise.write(ours)
        return message, _established(self._noise.agree(), self._host)


class Accepting:
    """The host's side of either."""

    def __init__(self, us: Identity, first: bytes, ephemeral: bytes) -> None:
        """Take an operator's first message.

        Raises:
            PeerError: It begins no handshake with us.

        """
        self._us = us
        opened = First.from_bytes(first)
        self.invite_id = opened.invite_id or None
        """Which invitation the operator has, or None in an attach."""

        own: HostId = host_id(us.public)
        self._prologue = prologue(own, opened.purpose, opened.invite_id)
        if self.invite_id is None:
            self._noise = HandshakeState(
                IK, self._prologue, us.static, KeyPair(ephemeral), is_initiator=False
            )
        else:
            self._noise = _joining(self._prologue, us, ephemeral, is_initiator=False)
        self._said = self._noise.read(opened.noise)
        if self.invite_id is not None and self._said != bytes(FILLING):
            raise errors.HandshakeFailed("its first message is not filled with zeros")

    def reply(self) -> bytes:
        """Return the second message.

        Raises:
            PeerError: A key of the operator's is of low order.

        """
        return self._noise.write(statement(self._us, Role.HOST, self._prologue))

    def finish(self, last: bytes, secret: bytes = b"") -> Established:
        """Take the third message; with it, the operator is proven.

        `secret` is that of the invitation, if there is one.

        Raises:
            PeerError: It is not from the sender of the first, or not with this
                secret.

        """
        if self.invite_id is not None:
            self._noise.set_psk(invite_psk(secret, self.invite_id))
            self._said = self._noise.read(last)
        agreed = self._noise.agree()
        peer = stated(self._said, Role.OPERATOR, self._prologue, agreed.remote_static)
        made = _established(agreed, peer)
        if self.invite_id is None:
            _check_confirmed(made.inbound, last)
        return made


def _joining(
    spoken: bytes, us: Identity, ephemeral: bytes, *, is_initiator: bool
) -> HandshakeState:
    return HandshakeState(
        XXPSK3, spoken, us.static, KeyPair(ephemeral), is_initiator=is_initiator
    )


def _check_host(said: bytes, spoken: bytes, static: bytes, wanted: bytes) -> None:
    found = stated(said, Role.HOST, spoken, static)
    if found != wanted:
        raise errors.WrongIdentity(wanted.hex(), f"it is {found.hex()}")


def _check_confirmed(inbound: Inbound, message: bytes) -> None:
    try:
        record = inbound.open(message)
    except (errors.SealBroken, errors.MalformedMessage):
        raise errors.HandshakeFailed("its last message does not open") from None
    if record.kind is not RecordKind.CONFIRM:
        raise errors.HandshakeFailed("its last message is not a CONFIRM")


def _established(agreed: Agreed, peer: bytes) -> Established:
    directions = Outbound(agreed.sending), Inbound(agreed.receiving)
    return Established(directions, agreed, peer)
