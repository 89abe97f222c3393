"""Processes that have left a session's shell but still belong to it, and their end.

A daemon has a kernel session of its own, and its parents are gone. It belongs to the
session all the same: by the name in its environment, by its ancestors, or by the
cgroup that the session was born in (linux/process_table.py, linux/cgroups.py). What
belongs to another session, one that was started from inside this one, does not.

    D1  No process is signalled that merely has the number of one that belongs.
    D2  After `kill` has returned nothing, a walk over all processes found none.
"""

import contextlib
import signal
from collections.abc import Callable

from holdfast.linux import freezer, procfs
from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.freezer import signal_exactly
from holdfast.linux.process_table import Belonging, Process, Tree, read_table
from holdfast.model.session_record import CapsuleRecord

Seen = Callable[[list[Process]], None]
"""Is told of processes while they can still be looked at."""


class Daemons:
    """The processes that outlive the leader of one session."""

    def __init__(
        self,
        session: str,
        cgroup: SessionCgroup | None,
        capsule: CapsuleRecord | None = None,
    ) -> None:
        self._cgroup = cgroup
        # The leader is gone, or its own processes are ended by others.
        self._tree = Tree.of(-1, session, capsule)
        self._belonging = Belonging(self._tree)

    def find(self) -> list[Process]:
        """Return those that live, the eldest first."""
        table = read_table()
        belonging = self._belonging
        found = {one.pid: one for one in belonging.find(table)}
        for pid in self._inside():
            process = table.get(pid)
            # Whatever it says of itself: nothing else of ours is born in there.
            if process is None or self._tree.is_machinery(process):
                continue
            if not belonging.is_ours(process):
                found[pid] = process
        living = (one for one in found.values() if not one.is_dead)
        return sorted(living, key=lambda one: (one.started, one.pid))

    def tell(self, number: int, seen: Seen) -> None:
        """Send all of them a signal, awake or not; `seen` is told of them before."""
        found = self.find()
        seen(found)
        for one in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal_exactly(one.pid, one.started, number)
                signal_exactly(one.pid, one.started, signal.SIGCONT)

    def kill(self, seen: Seen) -> list[Process]:
        """Kill all of them, and return those that were there."""
        # Stopped first: what forks faster than we walk has no child left to run.
        freezer.freeze(self._tree)
        found = self.find()
        seen(found)
        if self._cgroup is not None and found:
            self._cgroup.kill()
        for one in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal_exactly(one.pid, one.started, signal.SIGKILL)
        return found

    def _inside(self) -> set[int]:
        return set() if self._cgroup is None else self._cgroup.pids()


def names_of(found: list[Process]) -> str:
    """Return processes as they can be shown: name and number of each."""
    told = []
    for one in found:
        stat = procfs.read_stat(one.pid)
        told.append(f"{'?' if stat is None else stat.name} ({one.pid})")
    return ", ".join(told)
