"""The operator on whose behalf a process of the session acts.

A process belongs to the operator the shell was listening to when its line of ancestors
left the shell (core/provenance/triggers.py). The kernel says when that was: the oldest
ancestor below the leader has a start time, wherever its descendants are by now.

The shell is listening to the operator who types if the shell itself is waiting for the
terminal. That is checked only when another operator gets the turn or begins to type,
before the bytes go out.

What reads the terminal instead, an inner shell for example, is *fed*: it was started by
one operator, and does what another one types. So all who type while something else
than the shell has the terminal may be behind that process and all that descends from
it, whenever it was started; and behind what is stopped, which a line may continue.
"""

import time
from collections.abc import Iterable

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.triggers import Triggers
from holdfast.core.session.session_state import Word, decide
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import pty, session_state
from holdfast.linux.exec_words import process_of
from holdfast.linux.procfs import TICKS, Stat, read_stat
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.ids import ActorId
from holdfast.model.inputs import TYPED, InputKind

MAX_GENERATIONS = 64
"""Ancestors looked at; a process with more counts as one of those that were seen."""

MAX_FED = 256
"""Processes below the shell of which it is known who fed them."""

_LISTENING = frozenset(
    {Word.AT_PROMPT, Word.WAITING_FOR_INPUT, Word.WAITING_FOR_SECRET}
)
_INIT = 1
_STOPPED = "T"
_SECOND = 1_000_000_000


class ProcessOwners:
    """Who is behind the processes of one session."""

    def __init__(
        self, descriptors: SessionDescriptors, clients: AttachedClients
    ) -> None:
        self._descriptors = descriptors
        self._clients = clients
        self._triggers = Triggers(ActorId(descriptors.held.begun_by))
        self._known: dict[ActorId, Actor] = {}
        self._fed: dict[tuple[int, int], dict[ActorId, None]] = {}
        """Who fed a process below the shell, by its number and when it was started."""

        self._fed_last: tuple[int | None, ActorId] | None = None
        self._anywhere: dict[ActorId, None] = {}
        """Who fed more processes than are kept."""

    def take_up(  # noqa: C901  # one case for each kind
        self, entries: Iterable[Entry], earlier: Iterable[ActorId] = ()
    ) -> None:
        """Find out, after a predecessor's death, who had the shell's ear.

        The shell's own word for it counts, where it gives one: somebody who types while
        a command runs may be behind that. Elsewhere anybody who typed may be behind
        everything, and so may those who typed `earlier`, before these entries.
        """
        for actor in earlier:
            self._triggers.fed(actor, 0)
        found = [*entries]
        is_told = any(_named(one, EntryKind.BEGAN, "trigger") for one in found)
        shift = _tick() - time.time_ns() * TICKS // _SECOND
        began: int | None = None if is_told else 0
        feeding: dict[ActorId, None] = {}
        for entry in found:
            if entry.kind is EntryKind.BEGAN:
                began, feeding = entry.at_wall_ms * TICKS // 1000 + shift, {}
                if trigger := _named(entry, EntryKind.BEGAN, "trigger"):
                    self._triggers.heard(trigger, began, is_alone=True)
            elif entry.kind is EntryKind.FINISHED:
                began, feeding = None, {}
            elif _is_restore(entry):
                self._doubt_restored()
            elif began is not None and (typist := _typist(entry)):
                self._triggers.fed(typist, began)
                feeding[typist] = None
        for actor in feeding:
            self.feeds(actor)
        if self._descriptors.restored is not None:
            self._doubt_restored()

    def _doubt_restored(self) -> None:
        """Note that after a restore any operator may be behind any process.

        They were all started at one moment then. Who began what the shell still
        does is not known either, until an operator is heard by a shell that listens.
        """
        capsule = self._descriptors.held.capsule
        first = None if capsule is None else read_stat(capsule.init)
        tick = 0 if first is None else first.started
        for actor in sorted(self._triggers.everybody):
            self._triggers.heard(actor, tick, is_alone=False)

    def types(self, actor: ActorId) -> None:
        """Note that an operator has the turn, or is about to be heard."""
        if (actor,) != self._triggers.last:
            self._triggers.heard(actor, _tick(), is_alone=self._listens())

    def feeds(self, actor: ActorId) -> None:
        """Note that the foreground program is about to read an operator's keys."""
        group = pty.foreground(self._descriptors.master)
        if (group, actor) == self._fed_last:
            return
        self._fed_last = (group, actor)
        for job in self._jobs(group):
            self._fed.setdefault((job.pid, job.started), {})[actor] = None
        if len(self._fed) > MAX_FED:
            self._forget_the_dead()

    def everybody(self) -> list[Actor]:
        """Return all operators who may be behind a process."""
        return [self.actor(one) for one in self._triggers.everybody]

    def behind(self, thread: int) -> list[Actor]:
        """Return who may be behind a process, or a thread of one."""
        if len(everybody := self._triggers.everybody) == 1:
            return [self.actor(one) for one in everybody]
        pid = process_of(thread)
        oldest = None if pid == self._leader else self._oldest(pid)
        if oldest is None:
            return [self.actor(one) for one in self._triggers.last]
        fed = self._fed.get((oldest.pid, oldest.started), {})
        started = dict.fromkeys(self._triggers.at(oldest.started))
        return [self.actor(one) for one in started | fed | self._anywhere]

    def actor(self, wanted: ActorId) -> Actor:
        """Return an operator's record, also of one who has not been here yet."""
        found = self._clients.actor(wanted)
        if found.name or not wanted:
            return found
        if wanted not in self._known:
            enrolled = operators.by_actor(wanted)
            self._known[wanted] = found if enrolled is None else enrolled.actor
        return self._known[wanted]

    @property
    def _leader(self) -> int:
        return self._descriptors.record.pid

    def _oldest(self, pid: int) -> Stat | None:
        """Return the oldest ancestor of a process that is not the leader's elder."""
        leader = read_stat(self._leader)
        found = read_stat(pid)
        for _ in range(MAX_GENERATIONS):
            if found is None or found.parent in (self._leader, _INIT, 0):
                break
            parent = read_stat(found.parent)
            # A parent older than the session has adopted an orphan of it.
            if parent is None or leader is None or parent.started < leader.started:
                break
            found = parent
        return found

    def _jobs(self, group: int | None) -> list[Stat]:
        """Return the processes below the shell that may read what is typed now."""
        leader = self._leader
        reader = None if group in (None, leader) else self._oldest(group)
        if reader is not None:
            return [reader]
        shell = read_stat(leader)
        children = () if shell is None else session_state.children(shell)
        known = [one for one in map(read_stat, children) if one is not None]
        if group != leader:  # The first of the group has ended.
            return known
        return [one for one in known if one.group == leader or one.state == _STOPPED]

    def _forget_the_dead(self) -> None:
        for pid, started in list(self._fed):
            found = read_stat(pid)
            if found is None or found.started != started:
                del self._fed[pid, started]
        while len(self._fed) > MAX_FED:
            self._anywhere |= self._fed.pop(next(iter(self._fed)))

    def _listens(self) -> bool:
        seen = session_state.look(
            self._descriptors.master, self._leader, may_trace=False
        )
        return seen.foreground == self._leader and decide(seen).word in _LISTENING


def _is_restore(entry: Entry) -> bool:
    return entry.kind is EntryKind.RECOVERED and bool(entry.fields.get("image"))


def _named(entry: Entry, kind: EntryKind, field: str) -> ActorId:
    name = entry.fields.get(field) if entry.kind is kind else None
    return ActorId(str(name or ""))


def _typist(entry: Entry) -> ActorId:
    is_typed = entry.fields.get("input", InputKind.KEYS) in TYPED
    return _named(entry, EntryKind.INPUT, "actor") if is_typed else ActorId("")


def _tick() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * TICKS // _SECOND
