"""The processes of this machine, and which of them belong to a session.

A process belongs to a session if it is the leader, if the kernel counts it as part of
the leader's session, if its parent belongs, or if its environment names the session: a
daemon that has left its terminal and its parent still carries that. A process that has
left all four cannot be told from somebody else's.

Walking /proc is most of what freezing costs, so it is done with bare system
calls, and an environment is read once for each process. A process that serves others
meanwhile takes a `Walk` in slices: there may be thousands of processes.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.linux import procfs

_THREADS = 17
_STARTED = 19
"""Fields of it, counted from the state."""

_ENVIRON = 1 << 23
"""Bytes of an environment that are read: more than a program can be given."""

SLICE = 0.004
"""Seconds of looking at once: less than a key's echo may take."""

STOPPED = "T"
TRACED = "t"
_DEAD = frozenset("ZXx")


class Process(NamedTuple):
    """One process, as the kernel listed it a moment ago."""

    pid: int
    started: int
    """Clock ticks since boot. With the pid it names a process for good."""

    parent: int
    group: int
    session: int
    state: str
    threads: int

    @property
    def mark(self) -> tuple[int, int]:
        """What tells it from a later process with the same number."""
        return self.pid, self.started

    @property
    def is_dead(self) -> bool:
        """Whether it runs no more. A first thread may end before the others."""
        return self.state in _DEAD and self.threads <= 1

    @property
    def is_stopped(self) -> bool:
        """Whether a stop signal holds it."""
        if self.state in _DEAD:
            return all(state == STOPPED for state in _other_threads(self.pid))
        return self.state == STOPPED


class Tree(NamedTuple):
    """Whose processes are meant: a session's, from its leader on."""

    leader: int
    started: int
    session: str

    @classmethod
    def of(cls, leader: int, session: str) -> "Tree":
        """Name the tree of a leader that lives.

        A leader that is gone leaves its number to others; then only what still
        carries the session's name is found.
        """
        found = read_process(leader)
        return cls(leader, -1 if found is None else found.started, session)


Table = dict[int, Process]


class Belonging:
    """Tells, walk after walk, which processes belong to one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._variable = b"\0HOLDFAST_SESSION=" + os.fsencode(tree.session) + b"\0"
        self._judged: dict[tuple[int, int], bool] = {}
        # A keeper that was started from inside a session carries its name, and
        # so do the holders: all of them are of our own kernel session.
        self._own_session = os.getsid(0)

    def find(self, table: Table) -> list[Process]:
        """Return what belongs, parents before their children."""
        if len(self._judged) > 2 * len(table):
            marks = {process.mark for process in table.values()}
            self._judged = {
                mark: is_it for mark, is_it in self._judged.items() if mark in marks
            }
        spared = set(_ancestors(os.getpid(), table))
        found = {
            process.pid: process
            for process in table.values()
            if process.pid not in spared and self._is_root(process)
        }
        children = _children(table)
        waiting = list(found)
        while waiting:
            for child in children.get(waiting.pop(), ()):
                if child.pid not in found and child.pid not in spared:
                    found[child.pid] = child
                    waiting.append(child.pid)
        return sorted(found.values(), key=lambda one: (one.started, one.pid))

    def judge(self, process: Process) -> None:
        """Read what `find` has to know of a process, once."""
        self._is_root(process)

    def is_ours(self, process: Process) -> bool:
        """Tell whether a process is one of those that serve sessions."""
        return process.session == self._own_session

    def _is_root(self, process: Process) -> bool:
        tree = self._tree
        if tree.leader in (process.pid, process.session):
            # While a process is of a session, nobody else gets that number.
            return process.pid != tree.leader or process.started == tree.started
        if self.is_ours(process):
            return False
        known = self._judged.get(process.mark)
        if known is None:
            known = self._judged[process.mark] = self._variable in _environment(
                process.pid
            )
        return known


def read_table(still: Iterable[Process] = ()) -> Table:
    """Return every process there is, without reading those in `still` again.

    What stands still does not end by itself, so its number stays its own.
    """
    known = {process.pid: process for process in still}
    return {process.pid: process for process in _processes(known)}


class Walk:
    """One look at which processes belong to a tree, in slices."""

    def __init__(self, belonging: Belonging) -> None:
        self._belonging = belonging
        self._rest = _processes({})
        self._table: Table = {}

    def go_on(self, until: float) -> list[Process] | None:
        """Read on until that time; return what belongs, or None if there is more."""
        for process in self._rest:
            self._table[process.pid] = process
            self._belonging.judge(process)
            if time.monotonic() >= until:
                return None
        return self._belonging.find(self._table)


def _processes(known: Table) -> Iterator[Process]:
    for name in os.listdir("/proc"):  # noqa: PTH208  # a Path for each costs more than the read
        if name.isdigit():
            process = known.get(int(name)) or read_process(int(name))
            if process is not None:
                yield process


def read_process(pid: int) -> Process | None:
    """Return one process, or None if it is gone."""
    raw = procfs.read(f"/proc/{pid}/stat", procfs.STAT)
    fields = procfs.stat_fields(raw, _STARTED + 1)
    if len(fields) <= _STARTED:
        return None
    state, parent, group, session = fields[:4]
    return Process(
        pid,
        int(fields[_STARTED]),
        int(parent),
        int(group),
        int(session),
        state.decode(),
        int(fields[_THREADS]),
    )


def tracer_of(pid: int) -> int:
    """Return the pid of a process's tracer; 0 if it is not traced."""
    return int(procfs.status(pid, "TracerPid") or 0)


def is_to_stop(pid: int) -> bool:
    """Tell whether a process stops as soon as it comes back from the kernel."""
    fields = (procfs.status(pid, name) for name in ("SigPnd", "ShdPnd"))
    return any(int(one or "0", 16) >> (signal.SIGSTOP - 1) & 1 for one in fields)


def _ancestors(pid: int, table: Table) -> Iterator[int]:
    while pid in table:
        yield pid
        pid = table[pid].parent


def _children(table: Table) -> dict[int, list[Process]]:
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    return children


def _environment(pid: int) -> bytes:
    return b"\0" + procfs.read_table(f"/proc/{pid}/environ", _ENVIRON)


def _other_threads(pid: int) -> Iterable[str]:
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            raw = procfs.read(f"/proc/{pid}/task/{name}/stat", procfs.STAT)
            state = b"".join(procfs.stat_fields(raw, 1)[:1]).decode()
            if state and state not in _DEAD:
                yield state
