"""The operator on whose behalf a process of the session acts.

A process belongs to the operator the shell was listening to when its line of ancestors
left the shell (core/provenance/triggers.py). The kernel says when that was: the oldest
ancestor below the leader has a start time, wherever its descendants are by now.

The shell is listening to the operator who types if the shell itself is waiting for the
terminal. That is checked only when somebody else gets the turn or begins to type,
before the bytes go out.
"""

import time
from collections.abc import Iterable

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.triggers import Triggers
from holdfast.core.session.session_state import Word, decide
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import session_state
from holdfast.linux.exec_words import process_of
from holdfast.linux.procfs import TICKS, Stat, read_stat
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.ids import ActorId

MAX_GENERATIONS = 64
"""Ancestors looked at; a process with more counts as one of those that were seen."""

_LISTENING = frozenset(
    {Word.AT_PROMPT, Word.WAITING_FOR_INPUT, Word.WAITING_FOR_SECRET}
)
_INIT = 1
_SECOND = 1_000_000_000


class ProcessOwners:
    """Who is behind the processes of one session."""

    def __init__(self, vaulted: Vaulted, company: Company) -> None:
        self._vaulted = vaulted
        self._company = company
        self._triggers = Triggers(ActorId(vaulted.held.creator))
        self._known: dict[ActorId, Actor] = {}

    def take_up(self, entries: Iterable[Entry]) -> None:
        """Find out, after a predecessor's death, who had the shell's ear.

        The shell's own word for it counts, where it gives one; else who typed.
        """
        found = [*entries]
        began = [(one, _named(one, EntryKind.BEGAN, "trigger")) for one in found]
        is_told = any(actor for _, actor in began)
        if not is_told:
            began = [(one, _named(one, EntryKind.INPUT, "actor")) for one in found]
        shift = _tick() - time.time_ns() * TICKS // _SECOND
        for entry, actor in began:
            if actor:
                tick = entry.at_wall_ms * TICKS // 1000 + shift
                self._triggers.heard(actor, tick, is_alone=is_told)

    def types(self, actor: ActorId) -> None:
        """Take note that somebody has the turn, or is about to be heard."""
        if (actor,) != self._triggers.last:
            self._triggers.heard(actor, _tick(), is_alone=self._listens())

    def everybody(self) -> list[Actor]:
        """Return everybody who may be behind a process."""
        return [self.actor(one) for one in self._triggers.everybody]

    def behind(self, thread: int) -> list[Actor]:
        """Return who may be behind a process, or a thread of one."""
        if len(everybody := self._triggers.everybody) == 1:
            return [self.actor(one) for one in everybody]
        pid = process_of(thread)
        oldest = None if pid == self._leader else self._oldest(pid)
        named = self._triggers.last
        if oldest is not None:
            named = self._triggers.at(oldest.started)
        return [self.actor(one) for one in named]

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

    def _listens(self) -> bool:
        seen = session_state.look(self._vaulted.master, self._leader, may_trace=False)
        return seen.foreground == self._leader and decide(seen).word in _LISTENING


def _named(entry: Entry, kind: EntryKind, field: str) -> ActorId:
    name = entry.fields.get(field) if entry.kind is kind else None
    return ActorId(str(name or ""))


def _tick() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * TICKS // _SECOND
