"""Wire form of an operator's signature over its inputs.

A client hands over a statement about its next inputs, and is told how far the book
has them. Who signs is known from the link, and not said here.
Specified in docs/spec/wire.md, section 4.4; what is signed, in docs/spec/logbook.md,
section 13.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import RAW, Client, Digest, Number, Part, Positive
from holdfast.wire.messages import Signature as SignatureBytes

SALT: Final = 16
"""Bytes that keep a commitment from being tried out."""

STEP: Final = SALT + 32
"""Bytes of one input in a statement: its salt, and the commitment to it."""

MAX_SIGNED: Final = 256
"""Inputs in one statement: 12 KiB of it; more of them make another statement."""

ROTATION: Final = 192
"""Bytes by which one key of an operator gave way to the next."""

MAX_ROTATIONS: Final = 16
"""Of those, in one statement: more keys than an operator has had."""


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
