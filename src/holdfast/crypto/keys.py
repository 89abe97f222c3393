"""Signing keys, and the public keys that must be refused.

Ed25519 (RFC 8032), by the `cryptography` package; nothing of it is ours but the
refusals. The library says yes by returning nothing and no by raising, so it is
wrapped here once, and only here:

I1  `verify` never raises, and is True only when the library verified.
I2  A key that verifies signatures nobody made is refused: a point of low order,
    or a second spelling of a point.
"""

from holdfast.crypto.primitives import signing_key, verifying_key

TYPE_CHECKING = False
"""Only checkers take it for true: every sender of an input waits for this to load."""

if TYPE_CHECKING:
    from typing import NoReturn

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SEED = 32
"""Random bytes a signing key is made of."""

PUBLIC = 32
SIGNATURE = 64

_PRIME = 2**255 - 19
_SIGN_BIT = 1 << 255

_LOW_ORDER = frozenset(
    {
        0,
        1,
        _PRIME - 1,
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
        0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
    }
)
"""The y of the eight points whose order divides 8, whatever their sign bit.

With such a key, one signature fits a great many messages.
"""


class SigningKey:
    """A secret that makes signatures. It cannot be printed, copied or pickled."""

    __slots__ = ("_key", "public")

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw()

    @classmethod
    def from_seed(cls, seed: bytes) -> "SigningKey":
        """Make the key that belongs to SEED random bytes.

        Raises:
            UsageError: There are more or fewer.

        """
        if len(seed) != SEED:
            from holdfast.model.errors import MalformedKey  # noqa: PLC0415  # rarely needed

            raise MalformedKey(len(seed), SEED)
        return cls(signing_key(seed))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message`, SIGNATURE bytes."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"<SigningKey for {self.public.hex()}>"

    def __reduce__(self) -> "NoReturn":
        raise TypeError("a signing key stays where it was made")


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether the owner of `public` signed `message`. Never raises."""
    if not (
        _is_bytes(public, PUBLIC)
        and _is_bytes(signature, SIGNATURE)
        and isinstance(message, bytes)
        and _is_honest_point(public)
    ):
        return False
    try:
        verifying_key(public).verify(signature, message)
    except Exception:  # noqa: BLE001  # whatever it raises, it did not verify
        return False
    return True


def _is_bytes(value: object, size: int) -> bool:
    return isinstance(value, bytes) and len(value) == size


def _is_honest_point(public: bytes) -> bool:
    y = int.from_bytes(public, "little") & ~_SIGN_BIT
    return y < _PRIME and y not in _LOW_ORDER
