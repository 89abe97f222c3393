"""Wire form of a request for an image of a session, and of the answer.

Specified in docs/spec/wire.md, section 4.7.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import Name, Number, Part, Positive
from holdfast.wire.preflights import MAX_CUTS, Cut

MAX_IMAGE: Final = 64
"""Characters of the name of an image."""


class CheckpointRequest(Part, frozen=True, kw_only=True):
    """Put the session to disk; with `stop`, it is on disk alone from then on.

    With `branch` the image is for one branch, and is removed when that is made; it
    takes the right `fork` instead of `checkpoint`.

    Who asks again with the same `key` is told of the same image: one that is being
    made, or was made. Without a key every request is another.
    """

    stop: bool
    label: Name
    branch: bool
    key: Name


class Checkpointed(Part, frozen=True, kw_only=True):
    """The image is on disk, whole."""

    image: Annotated[str, Meta(max_length=MAX_IMAGE)]
    number: Positive
    size: Number
    """Bytes."""

    still_ms: Number
    """How long the session stood still for it; with `stop`, until it was on disk."""

    stopped: bool
    cuts: Annotated[tuple[Cut, ...], Meta(max_length=MAX_CUTS)]
    """Connections that a restored session will not have any more, or the first of
    them."""
