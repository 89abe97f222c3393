"""The file changes of a session with its own files, and the order of applying them.

Theory of operation
-------------------
Of each path that a layer has, two things are known: what is there *before*, without the
layer, and what is there *now*, with it. `judge` compares them. `plan` puts the changes
into an order in which each can be made on the machine's own files:

    remove      what is gone or becomes something else, the inner first
    make        what is there now, the outer first
    finish      the modes and times of folders, the inner first: a folder may be closed

A change conflicts if the machine's file was itself changed since the layer began. A
folder does not: what is made in it, or removed, is judged by itself.

A change that has been made is none any more. So an interrupted application is finished
by judging and planning again.

Invariants, checked by tests/core/capsule/test_changes.py:

I1  Nothing is a change of nothing, and what is the same is none.
I2  Each path is removed after all that lies in it, and made after what it lies in.
I3  What is removed is gone, or becomes something that cannot be put over it.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Sort(StrEnum):
    """What can be at a path."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    PIPE = "pipe"
    SOCKET = "socket"
    DEVICE = "device"


class Kind(StrEnum):
    """What became of it."""

    MADE = "made"
    CHANGED = "changed"
    DELETED = "deleted"


class Facts(NamedTuple):
    """What is at a path."""

    sort: Sort
    mode: int = 0
    owner: tuple[int, int] = (0, 0)
    size: int = 0
    attributes: tuple[tuple[str, bytes], ...] = ()
    target: str = ""
    """Where a link leads to."""

    changed_ns: int = 0
    """When anything about it changed last."""


class Change(NamedTuple):
    """What became of one path."""

    path: str
    kind: Kind
    before: Facts | None
    now: Facts | None
    is_conflict: bool = False

    @property
    def sort(self) -> Sort:
        """What it is, or was."""
        told = self.now or self.before
        return Sort.FILE if told is None else told.sort

    @property
    def sizes(self) -> tuple[int, int]:
        """Its size before and now; 0 of what is no file."""
        return _size(self.before), _size(self.now)


class Plan(NamedTuple):
    """In which order changes are made; each part in its own."""

    remove: tuple[Change, ...]
    make: tuple[Change, ...]
    finish: tuple[Change, ...]


def judge(
    path: str,
    before: Facts | None,
    now: Facts | None,
    began_ns: int,
    *,
    is_same_content: bool,
) -> Change | None:
    """Return what became of a path; None if nothing did.

    `is_same_content` counts where both are files.
    """
    if before is None:
        return None if now is None else Change(path, Kind.MADE, None, now)
    is_conflict = before.sort is not Sort.FOLDER and before.changed_ns > began_ns
    if now is None:
        return Change(path, Kind.DELETED, before, None, is_conflict)
    is_same = before._replace(changed_ns=0, size=0) == now._replace(
        changed_ns=0, size=0
    )
    if is_same and (now.sort is not Sort.FILE or is_same_content):
        return None
    return Change(path, Kind.CHANGED, before, now, is_conflict)


def plan(changes: Iterable[Change]) -> Plan:
    """Return in which order changes are made."""
    listed = sorted(changes, key=lambda one: one.path.split("/"))
    inner = listed[::-1]
    return Plan(
        tuple(one for one in inner if _is_removed(one)),
        tuple(one for one in listed if one.now is not None),
        tuple(one for one in inner if one.now and one.now.sort is Sort.FOLDER),
    )


def counts(changes: Iterable[Change]) -> dict[str, int]:
    """Return how many paths were made, changed and deleted."""
    found = {kind.value: 0 for kind in Kind}
    for one in changes:
        found[one.kind] += 1
    return found


def _is_removed(one: Change) -> bool:
    if one.before is None or one.now is None:
        return one.now is None
    sorts = one.before.sort, one.now.sort
    return sorts[0] != sorts[1] and Sort.FOLDER in sorts


def _size(told: Facts | None) -> int:
    return told.size if told is not None and told.sort is Sort.FILE else 0
