"""The Noise handshake: two sides that know each other's keys agree on a secret.

Theory of operation
-------------------
The Noise protocol framework (revision 34), as far as we use it: the patterns IK
and XXpsk3 with X25519, AES-256-GCM and SHA-256. There is nothing to choose at
run time, so nothing can be negotiated down. The three objects are those of its
section 5, and so are their names:

    CipherState      a key and a count: seals and opens, each message once
    SymmetricState   a chaining key and a hash over all that was said
    HandshakeState   walks through a pattern, one message at a time

Everything either side says is mixed into the hash, and the hash is sealed along
with each payload, so a changed byte anywhere makes the next message unreadable.
An ephemeral key is an argument: there is no randomness here. The caller MUST draw a
new one for each handshake and use it for no other.

Invariants, checked by tests/crypto/test_noise.py, test_noise_hostile.py and, for
the published vectors and another's implementation, test_noise_oracle.py:

I1  Both sides end with the same hash and keys, or one of them raises.
I2  Any changed, cut or lengthened handshake message is refused.
I3  A sealed message opens once, in its place, and nowhere else.
I4  A count is never used twice with a key; the last one is kept for rekeying.
I5  A public key of low order is refused from any peer.
I6  What has failed stays failed: it never opens anything again.
"""

import enum
import hashlib
import hmac

from holdfast.crypto.primitives import (
    Aead,
    exchange_key,
    exchange_public,
    is_invalid_tag,
)
from holdfast.model.errors import ChannelWornOut, HandshakeFailed, SealBroken, WeakKey
from holdfast.model.plain_value import PlainValue

DH = 32
"""Bytes of an X25519 key, public or private, and of what two of them make."""

HASH = 32
TAG = 16
"""Bytes by which sealing makes a message longer."""

MAX_MESSAGE = 65_535
"""Bytes of any Noise message, by its specification."""

MAX_COUNT = 2**64 - 1
"""The count that is kept for rekeying; a CipherState is worn out before it."""

_ZEROS = bytes(32)


class Token(enum.Enum):
    """What a handshake message is made of."""

    E = "e"
    S = "s"
    EE = "ee"
    ES = "es"
    SE = "se"
    SS = "ss"
    PSK = "psk"


class Pattern(PlainValue):
    """The messages of a handshake, in turn; the initiator sends the first."""

    __slots__ = ("knows_responder", "messages", "name")

    def __init__(
        self,
        name: str,
        messages: tuple[tuple[Token, ...], ...],
        *,
        knows_responder: bool,
    ) -> None:
        self.name = name
        self.messages = messages
        self.knows_responder = knows_responder
        """Whether the initiator has the responder's static key beforehand."""

    @property
    def has_psk(self) -> bool:
        """Whether a secret shared beforehand is mixed in."""
        return any(Token.PSK in message for message in self.messages)


IK = Pattern(
    "Noise_IK_25519_AESGCM_SHA256",
    (
        (Token.E, Token.ES, Token.S, Token.SS),
        (Token.E, Token.EE, Token.SE),
    ),
    knows_responder=True,
)

XXPSK3 = Pattern(
    "Noise_XXpsk3_25519_AESGCM_SHA256",
    (
        (Token.E,),
        (Token.E, Token.EE, Token.S, Token.ES),
        (Token.S, Token.SE, Token.PSK),
    ),
    knows_responder=False,
)


def hkdf(chaining_key: bytes, material: bytes, outputs: int) -> tuple[bytes, ...]:
    """Return two or three secrets of HASH bytes (RFC 5869, with no info)."""
    secret = hmac.digest(chaining_key, material, "sha256")
    made: list[bytes] = []
    last = b""
    for number in range(1, outputs + 1):
        last = hmac.digest(secret, last + bytes((number,)), "sha256")
        made.append(last)
    return tuple(made)


class KeyPair:
    """An X25519 key. It cannot be seen, only used."""

    __slots__ = ("_key", "public")

    def __init__(self, private: bytes) -> None:
        assert len(private) == DH, f"a key has {DH} bytes"  # noqa: S101
        self._key = exchange_key(private)
        self.public = self._key.public_key().public_bytes_raw()

    def shared_with(self, public: bytes) -> bytes:
        """Return the secret that this key and another's make.

        Raises:
            PeerError: The other key is of low order: the secret would be none.

        """
        try:
            return self._key.exchange(exchange_public(public))
        except ValueError:  # The library refuses a result of zeros.
            raise WeakKey from None

    def __repr__(self) -> str:
        return f"<KeyPair of {self.public.hex()}>"


class CipherState:
    """A key and a count, for one direction."""

    __slots__ = ("_aead", "_count", "_is_broken", "_key")

    def __init__(self, key: bytes, count: int = 0) -> None:
        self._key = key
        self._aead = Aead(key)
        self._count = count
        self._is_broken = False

    @property
    def count(self) -> int:
        """How many messages were sealed or opened, and the number of the next."""
        return self._count

    def seal(self, data: bytes, along: bytes = b"") -> bytes:
        """Return `data` sealed, TAG bytes longer; `along` is sealed but not sent.

        Raises:
            Unavailable: The last count is used up.

        """
        number = self._next()
        self._count = number + 1
        return self._aead.encrypt(_nonce(number), data, along)

    def open(self, sealed: bytes, along: bytes = b"") -> bytes:
        """Return what was sealed as the next message.

        Raises:
            PeerError: It was not. Nothing opens any more from then on (I6).
            Unavailable: The last count is used up.

        """
        number = self._next()
        if self._is_broken:
            raise SealBroken(number)
        try:
            data = self._aead.decrypt(_nonce(number), sealed, along)
        except Exception as error:
            if not is_invalid_tag(error):
                raise
            self._is_broken = True
            raise SealBroken(number) from None
        self._count = number + 1
        return data

    def rekey(self) -> None:
        """Take another key that the old one leads to, and no way leads back."""
        made = self._aead.encrypt(_nonce(MAX_COUNT), _ZEROS, b"")
        self._key = made[:HASH]
        self._aead = Aead(self._key)

    def _next(self) -> int:
        if self._count >= MAX_COUNT:
            raise ChannelWornOut
        return self._count

    def __repr__(self) -> str:
        return f"<CipherState at {self._count}>"


class SymmetricState:
    """What both sides have mixed so far, and a key for the rest of it."""

    __slots__ = ("_chaining_key", "_cipher", "hash")

    def __init__(self, name: str) -> None:
        raw = name.encode()
        is_short = len(raw) <= HASH
        self.hash = raw.ljust(HASH, b"\0") if is_short else digest(raw)
        self._chaining_key = self.hash
        self._cipher: CipherState | None = None

    def mix_hash(self, data: bytes) -> None:
        """Bind everything that follows to `data`."""
        self.hash = digest(self.hash + data)

    def mix_key(self, material: bytes) -> None:
        """Make another key from the last one and `material`."""
        self._chaining_key, key = hkdf(self._chaining_key, material, 2)
        self._cipher = CipherState(key)

    def mix_key_and_hash(self, material: bytes) -> None:
        """Do both with a secret that was shared beforehand."""
        self._chaining_key, mixed, key = hkdf(self._chaining_key, material, 3)
        self.mix_hash(mixed)
        self._cipher = CipherState(key)

    def seal_and_hash(self, data: bytes) -> bytes:
        """Seal `data` if there is a key yet, and mix in what is sent."""
        sent = data if self._cipher is None else self._cipher.seal(data, self.hash)
        self.mix_hash(sent)
        return sent

    def open_and_hash(self, sent: bytes) -> bytes:
        """Undo `seal_and_hash`."""
        data = sent if self._cipher is None else self._cipher.open(sent, self.hash)
        self.mix_hash(sent)
        return data

    def split(self) -> tuple[CipherState, CipherState]:
        """Return what the initiator seals with, and what the responder does."""
        first, second = hkdf(self._chaining_key, b"", 2)
        return CipherState(first), CipherState(second)


class Agreed:
    """The end of a handshake."""

    __slots__ = ("hash", "receiving", "remote_static", "sending")

    def __init__(
        self,
        sending: CipherState,
        receiving: CipherState,
        said: bytes,
        remote_static: bytes,
    ) -> None:
        self.sending = sending
        self.receiving = receiving
        self.hash = said
        """Over all that was said: the same on both sides, and on no other two."""

        self.remote_static = remote_static


class HandshakeState:
    """One side of one handshake."""

    def __init__(
        self,
        pattern: Pattern,
        prologue: bytes,
        static: KeyPair,
        ephemeral: KeyPair,
        *,
        remote_static: bytes | None = None,
        is_initiator: bool,
    ) -> None:
        self._pattern = pattern
        self._static = static
        self._ephemeral = ephemeral
        self._is_initiator = is_initiator
        self._remote_static = remote_static
        self._remote_ephemeral: bytes | None = None
        self._psk: bytes | None = None
        self._done = 0
        self._state = SymmetricState(pattern.name)
        self._state.mix_hash(prologue)
        if pattern.knows_responder:
            known = remote_static if is_initiator else static.public
            assert known is not None, "this pattern needs the responder's key"  # noqa: S101
            self._state.mix_hash(known)

    def set_psk(self, psk: bytes) -> None:
        """Say the secret shared beforehand; at the latest before it is mixed in."""
        assert len(psk) == HASH, f"a shared secret has {HASH} bytes"  # noqa: S101
        self._psk = psk

    def write(self, payload: bytes) -> bytes:
        """Return our next message, with `payload` in it.

        Raises:
            PeerError: A key of the other side is of low order.

        """
        parts: list[bytes] = []
        for token in self._turn(is_ours=True):
            if token is Token.E:
                parts.append(self._say_ephemeral())
            elif token is Token.S:
                parts.append(self._state.seal_and_hash(self._static.public))
            else:
                self._mix(token)
        parts.append(self._state.seal_and_hash(payload))
        message = b"".join(parts)
        assert len(message) <= MAX_MESSAGE, "the payload is too long"  # noqa: S101
        return message

    def read(self, message: bytes) -> bytes:
        """Return the payload of the other side's next message.

        Raises:
            PeerError: It is not what this pattern has here, or was changed, or a
                key in it is of low order. The handshake is of no further use.

        """
        if len(message) > MAX_MESSAGE:
            raise HandshakeFailed("a message of it is too long")
        rest = message
        try:
            for token in self._turn(is_ours=False):
                if token is Token.E:
                    rest = self._hear_ephemeral(rest)
                elif token is Token.S:
                    rest = self._hear_static(rest)
                else:
                    self._mix(token)
            return self._state.open_and_hash(rest)
        except SealBroken:
            self._done = -1
            raise HandshakeFailed("a message of it does not open") from None
        except (WeakKey, HandshakeFailed):
            self._done = -1
            raise

    @property
    def is_over(self) -> bool:
        """Whether every message was said."""
        return self._done == len(self._pattern.messages)

    @property
    def remote_static(self) -> bytes | None:
        """The other side's static key, as soon as it is known."""
        return self._remote_static

    def agree(self) -> Agreed:
        """Return what the handshake was for. It MUST be over."""
        assert self.is_over, "the handshake is not over"  # noqa: S101
        assert self._remote_static is not None, "both patterns send it"  # noqa: S101
        ours, theirs = self._state.split()
        if not self._is_initiator:
            ours, theirs = theirs, ours
        return Agreed(ours, theirs, self._state.hash, self._remote_static)

    def _turn(self, *, is_ours: bool) -> tuple[Token, ...]:
        assert 0 <= self._done < len(self._pattern.messages), "it is over"  # noqa: S101
        assert (self._done % 2 == 0) is (self._is_initiator is is_ours), "wrong turn"  # noqa: S101
        self._done += 1
        return self._pattern.messages[self._done - 1]

    def _say_ephemeral(self) -> bytes:
        self._mix_ephemeral(self._ephemeral.public)
        return self._ephemeral.public

    def _hear_ephemeral(self, message: bytes) -> bytes:
        if len(message) < DH:
            raise HandshakeFailed("a message of it is too short")
        self._remote_ephemeral = message[:DH]
        self._mix_ephemeral(self._remote_ephemeral)
        return message[DH:]

    def _mix_ephemeral(self, public: bytes) -> None:
        self._state.mix_hash(public)
        if self._pattern.has_psk:
            self._state.mix_key(public)

    def _hear_static(self, message: bytes) -> bytes:
        size = DH + TAG  # Both patterns have a key by the time it is said.
        if len(message) < size:
            raise HandshakeFailed("a message of it is too short")
        self._remote_static = self._state.open_and_hash(message[:size])
        return message[size:]

    def _mix(self, token: Token) -> None:
        if token is Token.PSK:
            assert self._psk is not None, "set_psk comes first"  # noqa: S101
            self._state.mix_key_and_hash(self._psk)
            return
        # "es" is the initiator's ephemeral and the responder's static, and so on.
        first, second = token.value if self._is_initiator else token.value[::-1]
        ours = self._ephemeral if first == "e" else self._static
        theirs = self._remote_ephemeral if second == "e" else self._remote_static
        assert theirs is not None, "the pattern says it before it is needed"  # noqa: S101
        self._state.mix_key(ours.shared_with(theirs))


def _nonce(number: int) -> bytes:
    return b"\0\0\0\0" + number.to_bytes(8, "big")


def digest(data: bytes) -> bytes:
    """Return the SHA-256 of `data`."""
    return hashlib.sha256(data).digest()
