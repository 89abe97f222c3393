"""Encrypts files, so that they can be read only with the host's key.

A sealed file is a nonce and what AES-256-GCM makes of the rest under it. What the file
is about is sealed in, so that one file cannot be put in the place of another. A nonce
is random: a host seals far fewer than 2**32 files, up to which that is sound.

Invariants, checked by tests/crypto/test_at_rest.py:

I1  What is opened is what was sealed, about the same thing, under the same key.
I2  Whatever was cut, flipped or added, nothing is opened, and the error is ours.
"""

import hmac

from holdfast.crypto.primitives import Aead
from holdfast.model.errors import MalformedMessage

NONCE = 12
"""Random bytes for each file."""

_KEY = b"holdfast sealed file 1\n"
_TAG = 16


def file_key(seed: bytes) -> bytes:
    """Return the key of a host's sealed files, by the host's own."""
    return hmac.digest(seed, _KEY, "sha256")


def seal_file(key: bytes, nonce: bytes, plain: bytes, about: str) -> bytes:
    """Return what is written into a file; `about` says which file that is."""
    return nonce + Aead(key).encrypt(nonce, plain, about.encode())


def open_file(key: bytes, raw: bytes, about: str) -> bytes:
    """Return what was sealed.

    Raises:
        PeerError: It is not a file of this host about this, or was changed.

    """
    if len(raw) < NONCE + _TAG:
        raise MalformedMessage("sealed file", "it is cut short")
    try:
        return Aead(key).decrypt(raw[:NONCE], raw[NONCE:], about.encode())
    except Exception as error:
        from holdfast.crypto.primitives import is_invalid_tag  # noqa: PLC0415  # rarely needed

        if not is_invalid_tag(error):
            raise
        raise MalformedMessage("sealed file", "its seal does not open") from None
