"""Who started which process.

Theory of operation
-------------------
Commands are executed by the session's leader, a shell, whose children they are. A
child of the leader belongs to the command in whose span it was started; everything
below it belongs to the same, whenever it was started. A process whose parents are
gone (a daemon) cannot be traced that way: all that is left is when it was started,
and it is told to be known *by time* only.

A process is known by its number and the kernel's date of its start, never by its
name, which it can choose; a parent that is younger than its child is none, it got
the number of one that is gone.

Invariants, checked by tests/core/provenance/test_lineage.py:

I1  Every process has one root: the ancestor nearest to the leader, or the last that
    is there; the leader is its own.
I2  No process is traced through a parent that began after it.
I3  Only what descends from the leader is known otherwise than by time.
"""

from collections.abc import Iterable
from typing import NamedTuple


class ProcessStart(NamedTuple):
    """One process: its number, its parent's, and when it began, in clock ticks."""

    pid: int
    parent: int
    started: int


class Root(NamedTuple):
    """Where a process comes from: that process, and whether by time only."""

    pid: int
    started: int
    is_by_time: bool


def roots(processes: Iterable[ProcessStart], leader: int) -> dict[int, Root]:
    """Return, for each process, the one that tells which command it belongs to."""
    by_pid = {one.pid: one for one in processes}
    found: dict[int, Root] = {}
    for one in sorted(by_pid.values(), key=lambda one: (one.started, one.pid)):
        line = [one]
        # A list instead of calls: a session may nest deeper than Python can call.
        while (parent := _parent(line[-1], by_pid, leader)) is not None:
            if parent.pid in found or parent in line:
                break
            line.append(parent)
        last = line.pop()
        known = found.get(parent.pid) if parent is not None else None
        is_by_time = last.pid != leader and not _is_child(last, by_pid.get(leader))
        root = known or Root(last.pid, last.started, is_by_time)
        for each in (*line, last):
            found[each.pid] = root
    return found


def _is_child(one: ProcessStart, leader: ProcessStart | None) -> bool:
    return (
        leader is not None
        and one.parent == leader.pid
        and leader.started <= one.started
    )


def _parent(
    one: ProcessStart, by_pid: dict[int, ProcessStart], leader: int
) -> ProcessStart | None:
    """Return a process's parent, unless it is the leader or not its own."""
    if leader in (one.pid, one.parent):
        return None
    parent = by_pid.get(one.parent)
    return None if parent is None or parent.started > one.started else parent
