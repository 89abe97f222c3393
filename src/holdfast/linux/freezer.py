"""Stops a whole session where it stands, so that nothing escapes.

By its cgroup, where it has one: the kernel does it, and forks do not escape.
Otherwise by signals. SIGSTOP cannot be caught, but a tree that forks while we
walk it is always ahead of the walk, so the walk is repeated until it finds
nothing running; and a process group that belongs entirely to the session gets one
signal that the kernel delivers to every member at once, including one being forked.
Parents are stopped before their children and resumed after them, so that a shell
does not see its jobs stop and does not take them for finished or suspended.

    F1  What was stopped before is not woken by a thaw.
    F2  A thaw wakes no process but those we stopped: a number that has passed to
        another process is recognised by its start time, under a pidfd.
    F3  What could not be stopped is named, with the reason.
    F4  A process that dies in the middle leaves a record of all it may have stopped:
        `keep` is called before the signals it speaks of.
    F5  A freeze or thaw is reported only after the kernel has confirmed it: the
        last walk reads every process anew, and a cgroup is asked.

Another process of the same user can send SIGCONT at any time; only a cgroup
holds against that. A process stopped here that is being traced may be made to
run by its tracer, and is reported (F3).
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.process_table import (
    STOPPED,
    TRACED,
    Belonging,
    Process,
    Table,
    Tree,
    is_to_stop,
    read_process,
    read_table,
    tracer_of,
)

MAX_PASSES = 100
"""Walks before we give up: a tree that outruns so many needs a cgroup."""

STEP = 0.0005
"""Seconds between walks that found nothing new: a signal needs a processor."""

WAKE_AGAIN = 3
"""Attempts to wake what does not stay awake: job control stops a job in the
background that reads its terminal, and is right."""

PARENT_PATIENCE = 0.01
"""Seconds a parent has to come to a stand before its children are stopped."""

_WAITING = "D"

Mark = tuple[int, int]
"""A pid and its start time."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A process that may still run, and why."""

    pid: int
    why: str


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a freeze did, and all that a thaw needs to know."""

    by: str
    """`cgroup` or `signals`."""

    count: int
    """Processes that stand still, those that did so before included."""

    missed: tuple[Missed, ...]
    stopped: tuple[Mark, ...]
    """What got a signal from us, parents first."""

    cgroup: str | None = None
    groups: tuple[int, ...] = ()
    """Groups that got one signal as a whole, and in which nothing stood still before:
    a child whose fork was under way is stopped as it is born, and no walk saw it."""

    def to_facts(self) -> dict[str, object]:
        """Return it as JSON values, for the process that thaws in our place."""
        return {
            "by": self.by,
            "count": self.count,
            "missed": [[one.pid, one.why] for one in self.missed],
            "stopped": [list(mark) for mark in self.stopped],
            "cgroup": self.cgroup,
            "groups": list(self.groups),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> "Frozen":
        """Read what `to_facts` wrote. Raises ValueError if that is not it."""
        match facts:
            case {
                "by": str(by),
                "count": int(count),
                "missed": list(missed),
                "stopped": list(stopped),
                "cgroup": None | str() as cgroup,
            }:
                return cls(
                    by,
                    count,
                    tuple(Missed(int(pid), str(why)) for pid, why in missed),
                    tuple((int(pid), int(started)) for pid, started in stopped),
                    None if cgroup is None else str(cgroup),
                    _numbers(facts.get("groups", [])),
                )
            case _:
                raise ValueError("this is not a record of a freeze")


def _numbers(facts: object) -> tuple[int, ...]:
    # Records of before there were groups in them have none.
    return tuple(int(one) for one in facts) if isinstance(facts, list) else ()


NOTHING = Frozen("signals", 0, (), ())
"""The record of a session in which nothing was stopped."""


@dataclass(frozen=True, slots=True)
class Thawed:
    """What a thaw did."""

    woken: int
    """Processes that got a signal."""

    missed: tuple[Missed, ...] = ()
    """What stands all the same: something else has stopped it since."""

    is_held: bool = False
    """Whether the kernel still holds its cgroup, and so all of it."""


Keep = Callable[[Frozen], None]
"""Puts a record where it outlives us."""


def _forget(_: Frozen) -> None:
    pass


def freeze(
    tree: Tree, cgroup: SessionCgroup | None = None, keep: Keep = _forget
) -> Frozen:
    """Stop every process of `tree`, and say what could not be stopped.

    `cgroup` is the session's own, if it was born in one. Calling it again stops
    what has escaped or appeared since; join the records with `joined`.
    """
    inside: set[int] = set()
    if cgroup is not None:
        keep(Frozen("cgroup", 0, (), (), str(cgroup.folder)))
        with contextlib.suppress(OSError):  # It is gone, or no longer ours.
            if cgroup.freeze():
                inside = cgroup.pids()
    # Also one that was not frozen in time is in the record, and is to be thawed.
    sweep = _Sweep(tree, "cgroup" if inside else "signals", cgroup, keep)
    return sweep.run(inside)


def standing(tree: Tree) -> Frozen:
    """Return a record of all of `tree` that stands still now, or is about to.

    A process that waits for the kernel, as one does for a child that is stopped before
    its exec, stops only when that wait is over: after the thaw, if nobody wakes it.
    """
    members = Belonging(tree).find(read_table())
    marks = tuple(
        one.mark
        for one in members
        if not one.is_dead and (one.is_stopped or is_to_stop(one.pid))
    )
    return Frozen("signals", len(marks), (), marks)


def thaw(frozen: Frozen, cgroup: SessionCgroup | None = None) -> Thawed:
    """Let go on what `frozen` says we stopped, and say what stands all the same.

    `cgroup` is the session's own, which is thawed whatever the record says.
    """
    folders = {} if frozen.cgroup is None else {frozen.cgroup: Path(frozen.cgroup)}
    if cgroup is not None:
        folders[str(cgroup.folder)] = cgroup.folder
    held = [one for one in folders.values() if not SessionCgroup(one).thaw()]
    woken = sum(_wake(pid, started) for pid, started in reversed(frozen.stopped))
    _wake_unseen(frozen)
    again = [] if held else _standing_again(frozen)
    missed = tuple(Missed(pid, "it was stopped again") for pid in again)
    return Thawed(woken, missed, is_held=bool(held))


def _wake(pid: int, started: int) -> bool:
    try:
        signal_exactly(pid, started, signal.SIGCONT)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _standing_again(frozen: Frozen) -> list[int]:
    """Return which processes are still stopped after several attempts to wake them."""
    left = frozen.stopped
    for _ in range(WAKE_AGAIN):
        looks = ((mark, read_process(mark[0])) for mark in left)
        left = tuple(
            mark
            for mark, found in looks
            if found is not None
            and found.mark == mark
            and not found.is_dead
            and found.is_stopped
        )
        if not left:
            break
        for pid, started in left:
            _wake(pid, started)
        time.sleep(STEP)
    return [pid for pid, _ in left]


def _wake_unseen(frozen: Frozen) -> None:
    """Wake what was born into a group as we stopped it, and after our last walk."""
    # A group is still the one we stopped as long as one of its members is there.
    living = {
        found.group
        for pid, started in frozen.stopped
        if (found := read_process(pid)) is not None and found.started == started
    }
    for group in living.intersection(frozen.groups):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGCONT)


def joined(first: Frozen, second: Frozen) -> Frozen:
    """Return the record of two freezes of one session, the later one second."""
    return Frozen(
        second.by,
        second.count,
        second.missed,
        tuple(dict.fromkeys((*first.stopped, *second.stopped))),
        second.cgroup or first.cgroup,
        tuple(dict.fromkeys((*first.groups, *second.groups))),
    )


def signal_exactly(pid: int, started: int, number: int) -> None:
    """Send a signal to this very process and to no later one of its number.

    Raises:
        ProcessLookupError: It is gone.
        PermissionError: It is not ours to signal.

    """
    fd = os.pidfd_open(pid)
    try:
        # Once the pidfd is open the number cannot pass on unnoticed.
        found = read_process(pid)
        if found is None or found.started != started:
            raise ProcessLookupError(pid)
        signal.pidfd_send_signal(fd, number)
    finally:
        os.close(fd)


def _wait_until_it_stands(process: Process) -> None:
    deadline = time.monotonic() + PARENT_PATIENCE
    while time.monotonic() < deadline:
        found = read_process(process.pid)
        if found is None or found.mark != process.mark:
            return
        if found.is_dead or found.is_stopped or found.state in (TRACED, _WAITING):
            return
        time.sleep(STEP / 10)


def _is_still(process: Process) -> bool:
    return process.is_dead or process.is_stopped


class _Sweep:
    """Repeated walks over one tree, until nothing of it runs."""

    def __init__(
        self, tree: Tree, by: str, cgroup: SessionCgroup | None, keep: Keep
    ) -> None:
        self._belonging = Belonging(tree)
        self._by = by
        self._cgroup = None if cgroup is None else str(cgroup.folder)
        self._keep = keep
        self._seen: set[Mark] = set()
        self._stopped: dict[Mark, None] = {}
        self._groups: set[int] = set()
        self._whole: set[int] = set()
        self._refused: dict[Mark, str] = {}

    def run(self, inside: set[int]) -> Frozen:
        members: list[Process] = []
        running: list[Process] = []
        still: list[Process] = []
        was_calm = False
        for _ in range(MAX_PASSES):
            # What is said in the end is what the kernel says of each of them now.
            table = read_table(() if was_calm else still)
            everyone = self._belonging.find(table)
            members = [one for one in everyone if one.pid not in inside]
            has_new = self._claim(members)
            running = [one for one in members if self._runs(one)]
            if running:
                self._stop(running, everyone, table)
            elif was_calm and not has_new:
                break
            # One more walk after a calm one: a fork under way when its parent was
            # signalled is finished first, perhaps after the pids were listed.
            was_calm = not running
            moving = {one.pid for one in running}
            still = [one for one in everyone if not (one.is_dead or one.pid in moving)]
        return self._record(members, running, len(inside))

    def _runs(self, process: Process) -> bool:
        if process.is_dead or process.mark in self._refused:
            return False
        if process.state == TRACED or process.is_stopped:
            return False
        # It waits for the kernel with our signal pending, and will not come back
        # to its own code before a thaw.
        return not (process.state == _WAITING and process.mark in self._stopped)

    def _claim(self, members: list[Process]) -> bool:
        """Take for ours what was born into a group as we stopped it.

        Tell whether there is anything that no walk has seen before.
        """
        fresh = [one for one in members if one.mark not in self._seen]
        for one in fresh:
            self._seen.add(one.mark)
            if one.state == STOPPED and one.group in self._groups:
                self._stopped[one.mark] = None
        return bool(fresh)

    def _stop(
        self, running: list[Process], everyone: list[Process], table: Table
    ) -> None:
        ours = {one.pid for one in everyone}
        foreign = {one.group for one in table.values() if one.pid not in ours}
        fresh = {one.mark for one in running} - self._stopped.keys()
        # A group's signal also reaches members of it that a cgroup holds already, and
        # stops them when that lets them go.
        groups = {one.group for one in running}
        touched = (
            one for one in everyone if one.group in groups and not _is_still(one)
        )
        self._stopped.update(dict.fromkeys(one.mark for one in touched))
        self._keep(self._record([], [], 0))
        signalled: set[int] = set()
        parents = {one.pid: one for one in running}
        for one in running:
            if one.group in signalled:
                continue
            parent = parents.pop(one.parent, None)
            if parent is not None and parent.group != one.group:
                # A shell that waits is told of a job's stop even with a signal of
                # its own pending; it must stand before its job does.
                _wait_until_it_stands(parent)
            if one.mark in fresh and one.group not in foreign:
                self._stop_group(one, everyone)
                signalled.add(one.group)
            else:
                self._stop_one(one)
        if not fresh:
            time.sleep(STEP)

    def _stop_group(self, member: Process, everyone: list[Process]) -> None:
        found = read_process(member.pid)
        if found is None or found.mark != member.mark or found.group != member.group:
            return  # It is gone or elsewhere; the next walk tells.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(member.group, signal.SIGSTOP)
            if member.group not in self._groups and not any(
                one.group == member.group and one.is_stopped for one in everyone
            ):
                self._whole.add(member.group)
            self._groups.add(member.group)

    def _stop_one(self, process: Process) -> None:
        try:
            signal_exactly(process.pid, process.started, signal.SIGSTOP)
        except ProcessLookupError:
            self._stopped.pop(process.mark, None)
        except PermissionError:
            self._stopped.pop(process.mark, None)
            self._refused[process.mark] = "it runs as another user"

    def _record(
        self, members: list[Process], running: list[Process], inside: int
    ) -> Frozen:
        missed = {one.pid: self._why(one) for one in running}
        for one in members:
            if one.mark in self._refused:
                missed[one.pid] = self._refused[one.mark]
            elif one.state == TRACED:
                missed[one.pid] = f"process {tracer_of(one.pid)} traces it"
        standing = [one for one in members if not one.is_dead and one.pid not in missed]
        return Frozen(
            self._by,
            len(standing) + inside,
            tuple(Missed(pid, why) for pid, why in missed.items()),
            tuple(self._stopped),
            self._cgroup,
            tuple(self._whole),
        )

    def _why(self, process: Process) -> str:
        tracer = tracer_of(process.pid)
        return f"process {tracer} traces it" if tracer else "it went on running"
