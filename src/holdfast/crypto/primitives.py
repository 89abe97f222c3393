"""The primitives of the `cryptography` package, by the shortest way to them.

Its public modules hand on what its compiled part does, and load five times as much as
that: every command that signs would wait for it. The compiled part is not public, and
may be moved one day; then the public modules are used (`public_way`).
tests/crypto/test_primitives.py holds the two against each other.
"""

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    Way = tuple[
        Callable[[bytes], ed25519.Ed25519PrivateKey],
        Callable[[bytes], ed25519.Ed25519PublicKey],
        Callable[[bytes], x25519.X25519PrivateKey],
        Callable[[bytes], x25519.X25519PublicKey],
        type[AESGCM],
    ]


def short_way() -> "Way | None":
    """Return what makes keys and seals, or None if it is not where it was."""
    try:
        from cryptography.hazmat.bindings._rust import openssl  # noqa: PLC0415  # tried

        found = (
            openssl.ed25519.from_private_bytes,
            openssl.ed25519.from_public_bytes,
            openssl.x25519.from_private_bytes,
            openssl.x25519.from_public_bytes,
            openssl.aead.AESGCM,
        )
    except (ImportError, AttributeError):
        return None
    return found


def public_way() -> "Way":
    """Return the same, from where it is documented."""
    from cryptography.hazmat.primitives.asymmetric import ed25519, x25519  # noqa: PLC0415  # slow to load
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # ditto

    return (
        ed25519.Ed25519PrivateKey.from_private_bytes,
        ed25519.Ed25519PublicKey.from_public_bytes,
        x25519.X25519PrivateKey.from_private_bytes,
        x25519.X25519PublicKey.from_public_bytes,
        AESGCM,
    )


def is_invalid_tag(error: Exception) -> bool:
    """Tell whether a seal that did not open is what went wrong."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # slow to load

    return isinstance(error, InvalidTag)


signing_key, verifying_key, exchange_key, exchange_public, Aead = (
    short_way() or public_way()
)
