"""Wire form of an operator's signature over its inputs.

A client hands over a statement about its next inputs, and is told how far the book
has them. Who signs is known from the link, and not said here.
Specified in docs/spec/wire.md, section 4.4; what is signed, in docs/spec/logbook.md,
section 13.
"""

from typing import Annotated

from msgspec import Meta

from holdfast.wire.messages import RAW, Client, Digest, Number, Part, Positive
from holdfast.wire.messages import Signature as SignatureBytes
from holdfast.wire.signature_sizes import (
    MAX_ROTATIONS,
    MAX_SIGNED,
    ROTATION,
    SALT,
    STEP,
)

__all__ = ["MAX_ROTATIONS", "MAX_SIGNED", "ROTATION", "SALT", "STEP", "Sign", "Signed"]


class Sign(Part, frozen=True, kw_only=True):
    """These are my next inputs, up to `last`; I have signed that.

    `rotations` lead from the key that I am known by to `key`, if that is another.
    """

    client: Client
    last: Positive
    steps: Annotated[
        bytes,
        Meta(min_length=STEP, max_length=STEP * MAX_SIGNED, extra_json_schema=RAW),
    ]
    key: Digest
    rotations: Annotated[
        bytes, Meta(max_length=ROTATION * MAX_ROTATIONS, extra_json_schema=RAW)
    ]
    signature: SignatureBytes


class Signed(Part, frozen=True):
    """The book has your statements up to the input `last`."""

    client: Client
    last: Number
