"""How an operator replaces its key and stays the same operator.

Theory of operation
-------------------
An operator is known by the first key it ever had: its id, its rights, its turns
and its place in logbooks all hang on that. A *rotation* is a statement that
another key takes over. It is signed by the old key, so that nobody else can give
the operator away, and by the new one, so that nobody can claim a key that is not
theirs.

    offset  size  field
    0       32    the old public key
    32      32    the new public key
    64      64    signature by the old key
    128     64    signature by the new key

Both sign the text "holdfast rotation 1", a newline and the two public keys.

A host that knows the operator by the old key takes the new one in its place, and
the old one is worth nothing there any more. A rotation is not a revocation: a thief
of the old key can rotate it too, and at each host the first one counts.

Invariants, checked by tests/crypto/test_rotation.py:

I1  A rotation is accepted only from the key that is known now.
I2  Neither key can be changed, nor one side's signature be left out.
I3  A rotation that was taken is not taken again: the old key is not known then.
"""

from dataclasses import dataclass

from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import PUBLIC, SIGNATURE, verify
from holdfast.model.errors import RotationRefused

ROTATION = 2 * PUBLIC + 2 * SIGNATURE
"""Bytes of a rotation."""

_CONTEXT = b"holdfast rotation 1\n"


@dataclass(frozen=True, slots=True)
class Rotation:
    """That `new` takes the place of `old`, signed by both."""

    old: bytes
    new: bytes
    by_old: bytes
    by_new: bytes

    def to_bytes(self) -> bytes:
        """Write it down."""
        return self.old + self.new + self.by_old + self.by_new


def rotate(old: Identity, new: Identity) -> Rotation:
    """Say that `new` takes the place of `old`."""
    signed = _signed(old.public, new.public)
    return Rotation(old.public, new.public, old.sign(signed), new.sign(signed))


def accepted_rotation(raw: bytes, known: bytes) -> Rotation:
    """Read the rotation of the key that is `known` now.

    Raises:
        PeerError: It is none, it is of another key, or it is not signed by both.

    """
    if len(raw) != ROTATION:
        raise RotationRefused(f"{len(raw)} bytes are no rotation")
    old, new = raw[:PUBLIC], raw[PUBLIC : 2 * PUBLIC]
    by_old, by_new = raw[2 * PUBLIC : -SIGNATURE], raw[-SIGNATURE:]
    if old != known:
        raise RotationRefused("it is of another key")
    if new == old:
        raise RotationRefused("both keys are the same")
    signed = _signed(old, new)
    if not (verify(old, signed, by_old) and verify(new, signed, by_new)):
        raise RotationRefused("it is not signed by both keys")
    return Rotation(old, new, by_old, by_new)


def _signed(old: bytes, new: bytes) -> bytes:
    return _CONTEXT + old + new
