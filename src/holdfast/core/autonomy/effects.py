"""What a command did, beside what was expected of it.

Theory of operation
-------------------
Before the command the folder that its shell works in is listed, with what runs and
listens in the session; afterwards once more. What differs is *seen*. All that is seen
and not expected is an unintended effect:

    nothing comparable was declared     undecided
    something seen is not expected      unintended
    not everything could be looked at   undecided
    a pattern expects every file        undecided: it says nothing
    otherwise                           matched

A sentence is never matched. A status other than the expected one is no side effect,
and counts with the success of the command, not here.

Invariants, each checked by tests/core/autonomy/test_effects_properties.py:

I1  Nothing is matched unless everything that was seen is expected and named.
I2  More that is seen never turns what is unintended into something milder.
I3  What was not looked at whole is never matched.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.core.shell.globs import Globs
from holdfast.model.expectations import Expectation
from holdfast.wire.lines import Value

MAX_NAMED = 16
"""Effects named of each kind; the rest is counted."""

MAX_NAME = 200
"""Characters of one name."""

Fields = dict[str, Value]

Stamp = tuple[int, int, int, int]
"""Inode, size, change time and mode; of a folder, whose entries tell the rest, only
inode and mode."""


class Effects(enum.StrEnum):
    """What became of an expectation."""

    MATCHED = "matched"
    UNINTENDED = "unintended"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder held and what the session ran, at one moment."""

    files: Mapping[str, Stamp]
    """By path from the folder on; folders end in a slash."""

    processes: Mapping[tuple[int, int], str]
    """By pid and start time, the program's name."""

    ports: frozenset[int] = frozenset()
    missing: str = ""
    """What could not be looked at, and why; empty if nothing."""

    has_processes: bool = True
    """Whether all that ran and listened was looked at."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a command did."""

    made: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was seen and not expected."""

    effects: Effects
    files: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    why: str = ""
    """Why it is undecided."""


def difference(before: Listing, after: Listing) -> Seen:
    """Return what happened between two listings.

    What one of them lacks is not taken for made, deleted or left.
    """
    old, new = before.files, after.files
    made = [path for path in new if path not in old and not before.missing]
    deleted = [path for path in old if path not in new and not after.missing]
    changed = [path for path in new if old.get(path, new[path]) != new[path]]
    left = [
        name
        for mark, name in after.processes.items()
        if mark not in before.processes and before.has_processes
    ]
    opened = after.ports - before.ports if before.has_processes else frozenset()
    return Seen(
        tuple(sorted(made)),
        tuple(sorted(changed)),
        tuple(sorted(deleted)),
        tuple(sorted(left)),
        tuple(sorted(opened)),
        before.missing or after.missing,
    )


def compare(expected: Expectation, seen: Seen) -> Comparison:
    """Return what was seen and not expected."""
    patterns = [form for one in expected.files for form in _forms(one)]
    globs = Globs.of(patterns)
    files = tuple(
        path
        for path in (*seen.made, *seen.changed, *seen.deleted)
        if not globs.fit(path.rstrip("/"))
    )
    names = Globs.of(expected.processes)
    processes = tuple(one for one in seen.processes if not names.fit(one))
    ports = tuple(one for one in seen.ports if one not in expected.ports)
    if files or processes or ports:
        return Comparison(Effects.UNINTENDED, files, processes, ports)
    if seen.missing:
        return Comparison(Effects.UNDECIDED, why=seen.missing)
    if any(map(is_open, (*expected.files, *expected.processes))):
        return Comparison(Effects.UNDECIDED, why="a pattern expects everything")
    return Comparison(Effects.MATCHED)


def is_open(pattern: str) -> bool:
    """Tell whether a pattern begins with a wildcard, and so says next to nothing."""
    return pattern.startswith(("*", "?"))


def observed_fields(actor: str, number: int, found: Comparison, seen: Seen) -> Fields:
    """Say in the book what a command did beyond what its operator expected."""
    all_names = (found.files, found.processes, tuple(map(str, found.ports)))
    return {
        "actor": actor,
        "number": number,
        "as": found.effects.value,
        "made": len(seen.made),
        "changed": len(seen.changed),
        "deleted": len(seen.deleted),
        "left": len(seen.processes),
        "opened": len(seen.ports),
        "files": _named(found.files),
        "processes": _named(found.processes),
        "ports": _named(all_names[2]),
        "more": sum(max(0, len(names) - MAX_NAMED) for names in all_names),
        "why": found.why[:MAX_NAME],
    }


def _forms(pattern: str) -> tuple[str, str]:
    """Return a pattern, and one for everything in what it names."""
    bare = pattern.rstrip("/")
    return bare, f"{bare}/*"


def _named(names: Iterable[str]) -> str:
    return "\n".join(name[:MAX_NAME] for name in list(names)[:MAX_NAMED])
