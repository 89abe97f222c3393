"""Fingerprints, with which two people compare a key.

A key is too long to compare, so they compare a fingerprint of it: what the first
bytes of its SHA-256 look like. The short one is the beginning of the id that
is made of the key (model/ids.py), so one implies the other.

    short   k3fq-7m2a-xw4d-ypqe                      80 bits, to be read
    words   amber fox linen otter piano ruby teapot zebra   64 bits, to be said

To find another key with the same words, an attacker has to make about 2^64 keys;
by the same short one, 2^80. That is enough to see that a link or a host is the
one that was meant, and less than a signature: nothing here is ever taken for a
proof, and no program compares fingerprints.
"""

import base64

from holdfast.crypto.keys import PUBLIC
from holdfast.crypto.noise import digest
from holdfast.crypto.words import WORDS
from holdfast.model.errors import MalformedKey

SPOKEN = 8
"""Words of a spoken fingerprint: one breath, 64 bits."""

_SHORT = 10
_GROUP = 4


def short_fingerprint(public: bytes) -> str:
    """Return four groups of four letters, as in the id of the key.

    Raises:
        UsageError: It is no public key.

    """
    letters = base64.b32encode(_digest(public)[:_SHORT]).decode().lower()
    return "-".join(
        letters[start : start + _GROUP] for start in range(0, len(letters), _GROUP)
    )


def spoken_fingerprint(public: bytes) -> str:
    """Return SPOKEN words.

    Raises:
        UsageError: It is no public key.

    """
    return " ".join(WORDS[byte] for byte in _digest(public)[:SPOKEN])


def _digest(public: bytes) -> bytes:
    if len(public) != PUBLIC:
        raise MalformedKey(len(public), PUBLIC)
    return digest(public)
