"""Which processes of a capsule are stopped, and how they are resumed.

CRIU leaves a tree that it has dumped, or restored, standing still as a whole: our own
processes in it too, but for pid 1, which it does not touch. What was stopped
before looks the same, so it has to be noted first.
"""

from collections.abc import Collection

from holdfast.linux import freezer
from holdfast.linux.criu.engine import numbers
from holdfast.linux.process_table import Process, read_process


def members(first: int) -> dict[int, Process]:
    """Return what runs below pid 1 of a capsule, by the capsule's own numbers."""
    found = ((inner, read_process(pid)) for inner, pid in numbers(first).items())
    return {
        inner: one
        for inner, one in found
        if one is not None and one.pid != first and not one.is_dead
    }


def standing(first: int) -> dict[int, freezer.Mark]:
    """Return what of a capsule stands still, by the capsule's own numbers."""
    return {inner: one.mark for inner, one in members(first).items() if one.is_stopped}


def let_go(first: int, spared: Collection[freezer.Mark]) -> freezer.Thawed:
    """Let a capsule go on, but for what is to stay as it is."""
    still = sorted(
        (one for one in members(first).values() if one.is_stopped),
        key=lambda one: (one.started, one.pid),
    )
    marks = tuple(one.mark for one in still if one.mark not in spared)
    return freezer.thaw(freezer.Frozen("signals", len(marks), (), marks))
