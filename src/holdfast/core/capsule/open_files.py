"""Whether the files that a session had open are unchanged.

Theory of operation
-------------------
CRIU puts no file of the machine's into an image. It opens the same path again, and
refuses one of another size; other bytes of the same size it does not notice, and a
program would continue in the middle of a file that has changed meanwhile.

So an image says of each file that the session had open what it was: with a *copy* of
what was open for writing, with the *hash* of what was only read, or with no more than
size and time of change (*sized*), where reading it would keep the session standing
still for too long. A restore compares, and what has changed is never passed over:

    nothing is asked for    the restore is refused, and names the files
    put back                the copies are put back; without a copy it is refused
    as is                   the session goes on with what is there

Invariants, checked by tests/core/capsule/test_open_files.py:

O1  No more than the bounds are copied and read; what is written comes first.
O2  A file that was copied or hashed counts as unchanged only with the same content.
O3  Nothing is put back that is unchanged, and nothing without a copy of it.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.model.errors import MalformedArgument, OpenFilesChanged
from holdfast.model.text import printable
from holdfast.wire.image_manifest import MAX_OPEN, OpenFile

MAX_COPIED = 256 * 1024 * 1024
"""Bytes of all files that are copied into an image."""

MAX_HASHED = 64 * 1024 * 1024
"""Bytes of all files that are read while the session stands still: a tenth of a
second on most machines."""

SHOWN = 3
"""Files that an error names."""

How = Literal["copied", "hashed", "sized"]


class Wish(enum.StrEnum):
    """What is to become of files that have changed."""

    REFUSE = ""
    PUT_BACK = "put-back"
    AS_IS = "as-is"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that the session has open."""

    path: str
    size: int
    is_written: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it is now; `digest` is empty if it was not read."""

    size: int
    changed_ns: int
    digest: bytes = b""


def wish_of(text: str) -> Wish:
    """Read what is asked for.

    Raises:
        UsageError: It is nothing that we know.

    """
    try:
        return Wish(text)
    except ValueError:
        raise MalformedArgument("--files", "put-back or as-is") from None


def plan(seen: Iterable[Seen]) -> dict[str, How]:
    """Return how each file is known again: the written first, then the smallest."""
    copied = hashed = 0
    chosen: dict[str, How] = {}
    ordered = sorted(seen, key=lambda one: (not one.is_written, one.size, one.path))
    for one in ordered[:MAX_OPEN]:
        if one.is_written and copied + one.size <= MAX_COPIED:
            copied += one.size
            chosen[one.path] = "copied"
        elif hashed + one.size <= MAX_HASHED:
            hashed += one.size
            chosen[one.path] = "hashed"
        else:
            chosen[one.path] = "sized"
    return chosen


def is_read_again(one: OpenFile, size: int) -> bool:
    """Tell whether a file of this size has to be read to know whether it changed."""
    return one.how != "sized" and one.size == size


def to_put_back(
    opened: Iterable[OpenFile], found: Mapping[str, Found], wish: Wish
) -> list[OpenFile]:
    """Return the files whose copies are to be put in their places.

    `found` has what is there now, by path; what is not there is not in it.

    Raises:
        UsageError: Something has changed, and it is not said what becomes of it, or
            there is no copy of it.

    """
    changed = [one for one in opened if _is_changed(one, found.get(one.path))]
    match wish:
        case Wish.AS_IS:
            return []
        case Wish.PUT_BACK:
            lacking = [one for one in changed if not one.copy]
            if lacking:
                raise OpenFilesChanged(_named(lacking), "no copies of them")
            return changed
        case Wish.REFUSE:
            if changed:
                count = sum(1 for one in changed if one.copy)
                copies = "copies of them" if count == len(changed) else _few(count)
                raise OpenFilesChanged(_named(changed), copies)
            return []


def _is_changed(one: OpenFile, now: Found | None) -> bool:
    if now is None or now.size != one.size:
        return True
    if one.how == "sized":
        return now.changed_ns != one.changed_ns
    return now.digest != one.digest


def _few(count: int) -> str:
    return f"copies of {count} of them" if count else "no copies of them"


def _named(changed: list[OpenFile]) -> str:
    names = ", ".join(printable(one.path) for one in changed[:SHOWN])
    more = len(changed) - SHOWN
    return f"{names} and {more} more" if more > 0 else names
