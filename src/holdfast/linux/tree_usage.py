"""How much processor time and memory the trees of many sessions use, in one walk.

A process belongs to a session as process_table has it: it is in the leader's kernel
session, its parent belongs, it is in the capsule, or it has left all of that and its
environment still names the session. An environment is read once for each process that
nothing else tells of. Two thousand sessions take as many reads of /proc/PID/stat as
there are processes, some fifteen microseconds each.

Memory is what the kernel counts as resident for each process. What several of them
share is counted several times, so the sum is an upper bound.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.linux import procfs

_PARENT, _SESSION = 1, 3
_FOREGROUND = 5
_TIMES = slice(11, 15)
"""Of the process, and of its children that were waited for; user and system."""

_STARTED, _RESIDENT = 19, 21
"""Fields of /proc/PID/stat, counted from the state."""

_ENVIRON = 1 << 23
_NAME = b"\0HOLDFAST_SESSION="
_MAX_ID = 64


class Root(NamedTuple):
    """Where a session's tree begins."""

    leader: int
    first: int = 0
    """Pid 1 of its capsule; 0 if it has none."""


class Usage(NamedTuple):
    """What one session's tree has used, and who has its terminal."""

    ticks: int
    resident: int
    foreground: int
    """The process group in its terminal's foreground; 0 if that is not known."""


class _Seen(NamedTuple):
    pid: int
    parent: int
    session: int
    started: int
    foreground: int
    ticks: int
    resident: int


class TreeUsage:
    """What sessions use, look after look."""

    def __init__(self) -> None:
        self._named: dict[tuple[int, int], str] = {}
        """Which session the environment of a process names, by pid and start."""

    def measured(self, roots: Mapping[str, Root], keeper: int = 0) -> dict[str, Usage]:
        """Return what each session uses now; one whose leader is gone is left out.

        What is of the kernel session of `keeper` serves sessions, and is part of none,
        whatever its environment says: it may have been started from inside one.
        """
        table = {one.pid: one for one in map(_read, procfs.numbers("/proc")) if one}
        ours = {os.getsid(0)} | {table[pid].session for pid in {keeper} & table.keys()}
        owners = self._owners(table, roots, ours)
        found: dict[str, Usage] = {
            session: Usage(0, 0, table[root.leader].foreground)
            for session, root in roots.items()
            if root.leader in table
        }
        for pid, session in owners.items():
            if session in found:
                one, sum_ = table[pid], found[session]
                found[session] = sum_._replace(
                    ticks=sum_.ticks + one.ticks, resident=sum_.resident + one.resident
                )
        marks = {(one.pid, one.started) for one in table.values()}
        self._named = {mark: at for mark, at in self._named.items() if mark in marks}
        return found

    def _owners(
        self, table: Mapping[int, _Seen], roots: Mapping[str, Root], ours: set[int]
    ) -> dict[int, str]:
        """Return the session of each process that belongs to one."""
        tops = {root.leader: session for session, root in roots.items()}
        tops |= {root.first: session for session, root in roots.items() if root.first}
        owners: dict[int, str] = {}
        for pid in table:
            path: list[int] = []
            at: int = pid
            owner = ""
            while at in table and at not in owners and at not in path:
                path.append(at)
                owner = tops.get(at) or tops.get(table[at].session, "")
                if owner:
                    break
                at = table[at].parent
            owner = owner or owners.get(at, "")
            if not owner and table[pid].session not in ours:
                path, owner = [pid], self._name(table[pid], roots)
            owners |= dict.fromkeys(path, owner)
        return {pid: owner for pid, owner in owners.items() if owner}

    def _name(self, one: _Seen, roots: Mapping[str, Root]) -> str:
        mark = one.pid, one.started
        if mark not in self._named:
            path = f"/proc/{one.pid}/environ"
            _, _, rest = (b"\0" + procfs.read_table(path, _ENVIRON)).partition(_NAME)
            named = rest[:_MAX_ID].partition(b"\0")[0].decode("ascii", "replace")
            self._named[mark] = named
        named = self._named[mark]
        return named if named in roots else ""


def _read(pid: int) -> _Seen | None:
    raw = procfs.read(f"/proc/{pid}/stat", procfs.STAT)
    fields = procfs.stat_fields(raw, _RESIDENT + 1)
    if len(fields) <= _RESIDENT:
        return None
    return _Seen(
        pid,
        int(fields[_PARENT]),
        int(fields[_SESSION]),
        int(fields[_STARTED]),
        max(0, int(fields[_FOREGROUND])),
        sum(map(int, fields[_TIMES])),
        max(0, int(fields[_RESIDENT])) * procfs.PAGE,
    )
