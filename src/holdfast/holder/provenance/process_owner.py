"""The operator on whose behalf a process of the session acts.

A process belongs to the operator the shell was listening to when its line of ancestors
left the shell (core/provenance/triggers.py). The kernel says when that was: the oldest
ancestor below the leader has a start time, wherever its descendants are by now.

The shell is listening to the operator who types if the shell itself is waiting for the
terminal. That is checked only when somebody else gets the turn or begins to type,
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
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.session_descriptors import Vaulted
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

    def __init__(self, vaulted: Vaulted, company: Company) -> None:
        self._vaulted = vaulted
        self._company = company
        self._triggers = Triggers(ActorId(vaulted.held.begun_by))
        self._known: dict[ActorId, Actor] = {}
        self._fed: dict[tuple[int, int], dict[ActorId, None]] = {}
        """Who fed a process below the shell, by its number and when it was started."""

        self._fed_last: tuple[int | None, ActorId] | None = None
        self._anywhere: dict[ActorId, None] = {}
        """Who fed more processes than are kept."""

    def take_up(
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
            elif began is not None and (typist := _typist(entry)):
                self._triggers.fed(typist, began)
                feeding[typist] = None
        for actor in feeding:
            self.feeds(actor)

    def types(self, actor: ActorId) -> None:
        """Take note that somebody has the turn, or is about to be heard."""
        if (actor,) != self._triggers.last:
            self._triggers.heard(actor, _tick(), is_alone=self._listens())

    def feeds(self, actor: ActorId) -> None:
        """Take note that what has the terminal is about to read somebody's keys."""
        group = pty.foreground(self._vaulted.master)
        if (group, actor) == self._fed_last:
            return
        self._fed_last = (group, actor)
        for job in self._jobs(group):
            self._fed.setdefault((job.pid, job.started), {})[actor] = None
        if len(self._fed) > MAX_FED:
            self._forget_the_dead()

    def everybody(self) -> list[Actor]:
        """Return everybody who may be behind a process."""
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
        """Return who somebody is, also one who has not been here yet."""
        found = self._company.actor(wanted)
        if found.name or not wanted:
            return found
        if wanted not in self._known:
            enrolled = operators.by_actor(wanted)
            self._known[wanted] = found if enrolled is None else enrolled.actor
        return self._known[wanted]

    @property
    def _leader(self) -> int:
        return self._vaulted.record.pid

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
        seen = session_state.look(self._vaulted.master, self._leader, may_trace=False)
        return seen.foreground == self._leader and decide(seen).word in _LISTENING


def _named(entry: Entry, kind: EntryKind, field: str) -> ActorId:
    name = entry.fields.get(field) if entry.kind is kind else None
    return ActorId(str(name or ""))


def _typist(entry: Entry) -> ActorId:
    is_typed = entry.fields.get("input", InputKind.KEYS) in TYPED
    return _named(entry, EntryKind.INPUT, "actor") if is_typed else ActorId("")


def _tick() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * TICKS // _SECOND
