"""Which recordings are removed: the oldest, while there are too many or too much."""

from typing import NamedTuple


class KeptRecording(NamedTuple):
    """A recording that is on disk."""

    name: str
    size: int
    changed_wall: float


class Bounds(NamedTuple):
    """How many recordings are kept, how many bytes, and for how many seconds."""

    keep: int
    size: int
    age: float
    """0 for any age."""


def removable(
    found: list[KeptRecording], bounds: Bounds, now_wall: float
) -> list[KeptRecording]:
    """Return the recordings to remove, oldest first."""
    oldest_first = sorted(found, key=lambda one: (one.changed_wall, one.name))
    count, size = len(found), sum(one.size for one in found)
    chosen = []
    for one in oldest_first:
        is_old = bounds.age and now_wall - one.changed_wall > bounds.age
        if count > bounds.keep or size > bounds.size or is_old:
            chosen.append(one)
            count, size = count - 1, size - one.size
    return chosen
