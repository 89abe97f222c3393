"""The cgroup files that set limits, and their contents.

There are two versions of cgroups. In the second, one folder has all of it; in the
first, each controller has a tree of its own. Which of them a machine has is found out
in linux/limits.py.

Memory that was swapped out counts too, where the kernel counts it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.model.limits import Limits

MEMORY, CPU, PIDS = "memory", "cpu", "pids"

PERIOD = 100_000
"""Microseconds in which processor time is counted: what the kernel has by default."""

FIRST, SECOND = 1, 2
"""The versions of cgroups."""


class Line(NamedTuple):
    """What is written into a file of a cgroup."""

    file: str
    text: str
    is_needed: bool = True
    """Whether the limit does not hold without it; else a kernel may lack the file."""


class Counter(NamedTuple):
    """Where the kernel counts how often a limit was met: a file, and a word in it."""

    file: str
    word: str


def controllers(limits: Limits) -> tuple[str, ...]:
    """Return what has to be controlled."""
    wanted = ((MEMORY, limits.memory), (CPU, limits.millicpus), (PIDS, limits.pids))
    return tuple(name for name, value in wanted if value)


def lines(version: int, controller: str, limits: Limits) -> tuple[Line, ...]:
    """Return what to write, in this order, so that the limit holds."""
    memory, millicpus, pids = limits
    if controller == PIDS:
        return (Line("pids.max", f"{pids}"),)
    if controller == CPU:
        quota = millicpus * PERIOD // 1000
        if version == SECOND:
            return (Line("cpu.max", f"{quota} {PERIOD}"),)
        return (
            Line("cpu.cfs_period_us", f"{PERIOD}"),
            Line("cpu.cfs_quota_us", f"{quota}"),
        )
    if version == SECOND:
        return (
            Line("memory.max", f"{memory}"),
            Line("memory.swap.max", "0", is_needed=False),
        )
    return (
        Line("memory.limit_in_bytes", f"{memory}"),
        Line("memory.memsw.limit_in_bytes", f"{memory}", is_needed=False),
    )


def lifted(version: int, controller: str) -> tuple[Line, ...]:
    """Return what to write so that there is no limit, where an earlier life had one."""
    if controller == PIDS:
        return (Line("pids.max", "max"),)
    if controller == CPU:
        name, text = (
            ("cpu.max", f"max {PERIOD}")
            if version == SECOND
            else ("cpu.cfs_quota_us", "-1")
        )
        return (Line(name, text),)
    if version == SECOND:
        return (
            Line("memory.max", "max"),
            Line("memory.swap.max", "max", is_needed=False),
        )
    return (
        Line("memory.memsw.limit_in_bytes", "-1", is_needed=False),
        Line("memory.limit_in_bytes", "-1"),
    )


def counter(version: int, controller: str) -> Counter | None:
    """Return where it is counted how often the limit was met; None: nobody does."""
    if controller == PIDS:
        return Counter("pids.events", "max")
    if controller == MEMORY:
        file = "memory.events" if version == SECOND else "memory.oom_control"
        return Counter(file, "oom_kill")
    return None


def counted(text: str, word: str) -> int:
    """Return what a file of counters says of one; 0 if nothing."""
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == word and value.isdecimal():
            return int(value)
    return 0


def mounted(mounts: str, own: str) -> Mapping[str, tuple[int, str, str, str]]:
    """Read from mountinfo and our own cgroup file where each controller is.

    Return, by controller, the version, our path in its tree, the tree's part that is
    mounted, and where. Of the second version there is one, named "".
    """
    found: dict[str, tuple[int, str, str, str]] = {}
    paths = _own_paths(own)
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) <= _MOUNT or len(kind) <= _OPTIONS:
            continue
        if kind[0] == "cgroup2" and "" in paths:
            place = (SECOND, paths[""], fields[_ROOT], fields[_MOUNT])
            found.setdefault("", place)
        elif kind[0] == "cgroup":
            for name in {MEMORY, CPU, PIDS}.intersection(kind[_OPTIONS].split(",")):
                if name in paths:
                    place = (FIRST, paths[name], fields[_ROOT], fields[_MOUNT])
                    found.setdefault(name, place)
    return found


_ROOT, _MOUNT, _OPTIONS = 3, 4, 2
_FIELDS = 3


def _own_paths(own: str) -> dict[str, str]:
    paths: dict[str, str] = {}
    for line in own.splitlines():
        parts = line.split(":", _FIELDS - 1)
        if len(parts) == _FIELDS:
            paths.update(dict.fromkeys(parts[1].split(","), parts[2]))
    return paths
