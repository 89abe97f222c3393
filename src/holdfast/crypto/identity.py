"""The identity at the other end of a channel.

Theory of operation
-------------------
A host and an operator each have one secret, a seed of 32 bytes. Two keys come of
it: the Ed25519 key that is their identity, and an X25519 key for handshakes,
derived so that it need not be stored, backed up or lost apart from the other.

A handshake proves that the other side has an X25519 key. That this key belongs
to an identity is said by an *identity statement*, sealed in the handshake: the
Ed25519 public key, and a signature over the X25519 public key, the prologue
(which names the host and the purpose) and the role of the signer. A statement
by itself is of no use to a replayer: it names an X25519 key that
they do not have.

Invariants, checked by tests/crypto/test_identity.py:

I1  The same seed makes the same keys, everywhere and always.
I2  A statement is accepted for its own static key, role and prologue only.
I3  The printed form of an identity does not allow acting as it.
"""

import enum
import hmac

from holdfast.crypto.keys import PUBLIC, SIGNATURE, SigningKey, verify
from holdfast.crypto.noise import KeyPair, digest
from holdfast.model.errors import HandshakeFailed, WrongIdentity

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from typing import NoReturn

STATEMENT = PUBLIC + SIGNATURE
"""Bytes of an identity statement."""

SECRET = 16
"""Random bytes of an invitation's secret: 128 bits, used once."""

_HASH = 32
_STATIC = b"holdfast channel static 1"
_PSK = b"holdfast invite psk 1"
_STATEMENT = b"holdfast channel identity 1\n"


class Role(enum.Enum):
    """The side of a channel; one never passes for the other."""

    OPERATOR = b"operator\n"
    HOST = b"host\n"


class Identity:
    """One side's keys. They cannot be printed, copied or pickled."""

    __slots__ = ("_signing", "public", "static", "static_public")

    def __init__(self, signing: SigningKey, static: KeyPair) -> None:
        self._signing = signing
        self.static = static
        self.public = signing.public
        self.static_public = static.public

    @classmethod
    def from_seed(cls, seed: bytes) -> "Identity":
        """Make the keys that belong to a seed of 32 bytes.

        Raises:
            UsageError: There are more or fewer.

        """
        return cls(SigningKey.from_seed(seed), KeyPair(derive(seed, _STATIC)))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message` by the Ed25519 key."""
        return self._signing.sign(message)

    def __repr__(self) -> str:
        return f"<Identity {self.public.hex()}>"

    def __reduce__(self) -> "NoReturn":
        raise TypeError("an identity stays where it was made")


def derive(secret: bytes, info: bytes, salt: bytes = b"", size: int = 32) -> bytes:
    """Return `size` bytes that follow from a secret and from what they are for.

    HKDF with SHA-256 (RFC 5869).
    """
    key = hmac.digest(salt or bytes(_HASH), secret, "sha256")
    made = last = b""
    for number in range(1, -(-size // _HASH) + 1):
        last = hmac.digest(key, last + info + bytes((number,)), "sha256")
        made += last
    return made[:size]


def invite_psk(secret: bytes, invite_id: bytes) -> bytes:
    """Return what both sides of a join mix into the handshake."""
    return derive(secret, _PSK, salt=invite_id)


def statement(us: Identity, role: Role, prologue: bytes) -> bytes:
    """Say who we are, for one role at one host and for one purpose."""
    return us.public + us.sign(_signed(role, prologue, us.static_public))


def stated(raw: bytes, role: Role, prologue: bytes, static: bytes) -> bytes:
    """Return the identity that a statement proves the owner of `static` to be.

    Raises:
        PeerError: It proves nothing of the kind.

    """
    if len(raw) != STATEMENT:
        raise HandshakeFailed("it says nothing of who is there")
    public, signature = raw[:PUBLIC], raw[PUBLIC:]
    if not verify(public, _signed(role, prologue, static), signature):
        raise WrongIdentity(public.hex(), "its statement is not signed by that key")
    return public


def _signed(role: Role, prologue: bytes, static: bytes) -> bytes:
    return _STATEMENT + role.value + digest(prologue) + static
