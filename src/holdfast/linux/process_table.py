"""The processes of this machine, and which of them belong to a session.

A process belongs to a session if it is the leader, if the kernel counts it as part of
the leader's session, if its parent belongs, or if its environment names the session: a
daemon that has left its terminal and its parent still carries that. A process that has
left all four cannot be told from another session's.

To a capsule belongs what is in its pid namespace, and what that has started, whatever
it says of itself: nothing leaves that, and nobody else's process gets into it. Our own
three processes in there are no part of the session.

Walking /proc is most of what freezing costs, so it is done with bare system
calls, and an environment is read once for each process. A process that serves others
meanwhile takes a `Walk` in slices: there may be thousands of processes.
"""

import contextlib
import functools
import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.linux import procfs
from holdfast.model.session_record import CapsuleRecord

_FLAGS = 6
_THREADS = 17
_STARTED = 19
"""Fields of it, counted from the state."""

_KERNEL = 0x00200000
"""The flag of a thread that the kernel has for itself (PF_KTHREAD): it has no program
and no environment, belongs to nobody's session, and takes no signal."""

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
    capsule: CapsuleRecord | None = None
    first: int = -1
    """When pid 1 of its capsule was started."""

    space: int = 0
    """Its capsule's pid namespace."""

    @classmethod
    def of(
        cls, leader: int, session: str, capsule: CapsuleRecord | None = None
    ) -> "Tree":
        """Name the tree of a leader that lives.

        A leader that is gone leaves its number to others; then only what still
        carries the session's name, or is in its capsule, is found.
        """
        found = read_process(leader)
        started = -1 if found is None else found.started
        if capsule is None:
            return cls(leader, started, session)
        space = _space_of(capsule.first)
        first = read_process(capsule.first)
        # The name of a namespace that is gone may be given to another.
        if first is None or space != capsule.space:
            return cls(leader, started, session, capsule)
        return cls(leader, started, session, capsule, first.started, space)

    def is_machinery(self, process: Process) -> bool:
        """Tell whether a process is one of our own in the capsule."""
        if self.capsule is None:
            return False
        ours = (self.capsule.first, self.capsule.init, self.capsule.parent)
        # A later process with a reused pid does not belong to the session.
        return process.pid in ours and process.started - self.first <= procfs.TICKS

    def has_capsule(self, table: "Table") -> bool:
        """Tell whether the capsule is there: with its pid 1 all of it is gone."""
        if self.capsule is None:
            return False
        first = table.get(self.capsule.first)
        return first is not None and first.started == self.first and not first.is_dead


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
        if self._tree.capsule is not None and not self._tree.has_capsule(table):
            return []
        spared = set(_ancestors(os.getpid(), table))
        spared |= {one.pid for one in table.values() if self._tree.is_machinery(one)}
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
        if tree.capsule is not None:
            return self._is_inside(process)
        if tree.leader in (process.pid, process.session):
            # While a process is of a session, nobody else gets that number.
            return process.pid != tree.leader or process.started == tree.started
        if self.is_ours(process):
            return False
        known = self._judged.get(process.mark)
        return self._is_named(process) if known is None else known

    def _is_named(self, process: Process) -> bool:
        pid = process.pid
        environment = _environment(pid)
        if not environment.strip(b"\0"):
            return False  # It may be in the middle of an exec: it is read again.
        # A capsule's processes are its own, whichever session they say they are of.
        is_it = self._variable in environment and _space_of(pid) == _own_space()
        self._judged[process.mark] = is_it
        return is_it

    def _is_inside(self, process: Process) -> bool:
        # A process never leaves the pid namespace that it was born in.
        known = self._judged.get(process.mark)
        if known is None:
            is_it = _space_of(process.pid) == self._tree.space
            known = self._judged[process.mark] = is_it
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
    """Return one process, or None if it is gone, or the kernel's own."""
    return process_told(pid, procfs.read(f"/proc/{pid}/stat", procfs.STAT))


def process_told(pid: int, raw: bytes) -> Process | None:
    """Return a process by its stat file, or None if it is gone, or the kernel's own."""
    fields = procfs.stat_fields(raw, _STARTED + 1)
    if len(fields) <= _STARTED or int(fields[_FLAGS]) & _KERNEL:
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


def _space_of(pid: int) -> int:
    """Return the pid namespace of a process; -1 if it is gone, or not ours to know."""
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino  # noqa: PTH116  # as above
    except OSError:
        return -1


@functools.cache
def _own_space() -> int:
    return _space_of(os.getpid())


def _environment(pid: int) -> bytes:
    return b"\0" + procfs.read_table(f"/proc/{pid}/environ", _ENVIRON)


def _other_threads(pid: int) -> Iterable[str]:
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            raw = procfs.read(f"/proc/{pid}/task/{name}/stat", procfs.STAT)
            state = b"".join(procfs.stat_fields(raw, 1)[:1]).decode()
            if state and state not in _DEAD:
                yield state
