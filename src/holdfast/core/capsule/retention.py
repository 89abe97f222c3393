"""Which images are removed, so that they do not fill the disk.

Images are large, and people make more than they look at. Of each session the newest
few are kept, and of all sessions together no more than a number of bytes. What
is still needed stays all the same:

I1  The newest image of a session is never removed: it may be the only one that works.
I2  An image that a session consists of, because it was stopped with it, is never
    removed.
I3  An image with a label is never removed: it was named in order to be found again.
    Their total size is bounded all the same: once it has reached the limit for all
    images, no other image with a label is made.
I4  What is removed is older, in its session, than every image without a label that
    is kept for its age.
I5  Nothing is removed while both bounds hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.model.ids import SessionId


@dataclass(frozen=True, slots=True)
class Kept:
    """An image, as far as it matters here."""

    session: SessionId
    number: int
    made_ms: int
    size: int
    label: str
    is_session: bool
    """Whether its session consists of it: there is no live one."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many images of one session are kept, and how many bytes of all."""

    count: int
    size: int


def removable(images: Iterable[Kept], bounds: Bounds) -> list[Kept]:
    """Return the images to remove, in the order in which to do it."""
    everything = sorted(images, key=lambda one: (one.made_ms, one.number))
    newest = {one.session: one.number for one in sorted(everything, key=_number)}
    spare = [
        one
        for one in everything
        if not (one.label or one.is_session or newest[one.session] == one.number)
    ]
    left = sum(one.size for one in everything)
    counts: dict[SessionId, int] = {}
    for one in everything:
        counts[one.session] = counts.get(one.session, 0) + (not one.label)
    chosen = []
    for one in spare:
        if counts[one.session] > bounds.count or left > bounds.size:
            chosen.append(one)
            counts[one.session] -= 1
            left -= one.size
    return chosen


def has_room(images: Iterable[Kept], bounds: Bounds) -> bool:
    """Tell whether one more image with a label may be made."""
    return sum(one.size for one in images if one.label) < bounds.size


def _number(one: Kept) -> int:
    return one.number
