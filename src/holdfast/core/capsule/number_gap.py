"""The first pid that CRIU may use for its own helpers during a restore.

It runs in the pid namespace that it restores into, and its helpers take the next free
numbers. One that takes a number of the image makes the restore fail. So the kernel's
counter is put into a gap that the image does not use.
"""

from collections.abc import Collection, Iterator

GAP = 1000
"""Free numbers in a row: some hundred times what helpers take."""

FIRST = 300
"""The kernel starts here, too, once it has used all numbers."""


class NoGap(ValueError):
    """The image uses so many numbers that there is no gap."""


def free_number(used: Collection[int], limit: int) -> int:
    """Return a number after which GAP numbers are free, below `limit`.

    Raises:
        NoGap: There is none.

    """
    for before, after in _neighbours(used, limit):
        if after - before > GAP:
            return before
    raise NoGap


def _neighbours(used: Collection[int], limit: int) -> Iterator[tuple[int, int]]:
    before = FIRST
    for number in sorted(one for one in used if FIRST < one < limit):
        yield before, number
        before = number
    yield before, limit
