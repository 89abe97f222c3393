"""What an operator takes over along with the turn.

An unsubmitted line of another operator, running jobs, and what others
have changed in the shell since this operator last had the turn: by pressing Return the
operator would take responsibility for all of it.

That the turn has passed is told at once. What is running takes a look at every process
of the machine, so it is told a moment later, and looked for in slices; but before
clients are told who is present, so that a client that asks has been told everything.
"""

import math
import time
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.core.book.checkpoint import MAX_HANDS, Hands
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.turn import PassTurn
from holdfast.core.provenance.lineage import ProcessStart
from holdfast.core.provenance.staged import Staged
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.policy.input_question import InputQuestions
from holdfast.holder.policy.staged_words import changed
from holdfast.holder.provenance.process_owner import ProcessOwners
from holdfast.holder.provenance.process_starters import NOBODY, ProcessStarters
from holdfast.linux.process_table import SLICE, Belonging, Process, Walk
from holdfast.linux.procfs import command_of, state_word
from holdfast.model.ids import ActorId
from holdfast.model.moments import Moment
from holdfast.model.resolutions import Thing
from holdfast.wire import graphs, presence
from holdfast.wire import messages as wire

EDITED = "edited, perhaps still there"
"""What a line is called of which nobody knows what it says."""


class _Owed(NamedTuple):
    """What the taker of the turn is still to be told, but for what is running."""

    passed: PassTurn
    taker: ActorId
    staged: Staged
    changed: tuple[wire.Staged, ...]


class HandOver:
    """What the next holder of the turn is told."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        questions: InputQuestions,
        owners: ProcessOwners | None,
    ) -> None:
        descriptors, shell = context.descriptors, context.shell
        self._descriptors = descriptors
        self._clients = context.clients
        self._shell = shell
        self._driver = driver
        self._questions = questions
        self._owners = owners
        self._starters = ProcessStarters(descriptors, shell)
        self._belonging = Belonging(descriptors.tree(descriptors.record.pid))
        self._had: dict[ActorId, int] = {}
        """The last command when each of them had the turn last."""

        self._timer = context.timers.add(self._tick)
        self._owed: _Owed | None = None
        self._walk: Walk | None = None
        driver.performers[PassTurn] = self._passed

    def take_up(self, entries: Iterable[Entry], past: Hands | None = None) -> None:
        """Find out, after a predecessor's death, who had the turn when.

        `past` is what was known before these entries.
        """
        last = 0
        if past is not None:
            last = past.command
            for actor, number in past.had:
                self._remember(actor, number)
        for entry in entries:
            if entry.kind is EntryKind.BEGAN:
                last = int(entry.fields["number"] or 0)
            elif entry.kind is EntryKind.TURN and entry.fields["from"]:
                self._remember(ActorId(str(entry.fields["from"])), last)

    def _passed(self, passed: PassTurn, _at: Moment) -> None:
        """Tell all clients that the turn has changed hands, and its taker more."""
        taker, dropped = passed.taker, self._driver.intake.dropped
        self._questions.passed(passed.reason, is_held=taker is not None)
        if self._owners is not None and taker is not None:
            self._owners.types(taker)
        self._clients.announce(
            wire.TurnPassed(
                former=passed.giver or NOBODY,
                holder=taker or NOBODY,
                epoch=passed.epoch,
                reason=passed.reason.value,
                dropped_inputs=dropped[0],
                dropped_bytes=dropped[1],
            )
        )
        # Who has lost the turn again is owed nothing.
        self._owed, self._walk = (
            self._owed_after(passed, self._shell.line.stands()),
            None,
        )
        self._timer.set(None if self._owed is None else 0.0)

    def conclude(self) -> None:
        """Tell now what is still to be told."""
        if self._owed is not None:
            self._go_on(self._owed, math.inf)

    def _tick(self, _now: float) -> None:
        if self._owed is not None:
            self._go_on(self._owed, time.monotonic() + SLICE)

    def _go_on(self, owed: _Owed, until: float) -> None:
        # An environment is read once for each process, however often the turn passes.
        self._walk = self._walk or Walk(self._belonging)
        found = self._walk.go_on(until)
        if found is None:
            self._timer.set(0.0)
            return
        self._owed = self._walk = None
        self._timer.set(None)
        takes_over = self._inherited(owed, found)
        if takes_over is not None:
            self._clients.tell(owed.taker, takes_over)

    def _owed_after(self, passed: PassTurn, staged: Staged) -> _Owed | None:
        """Return what the taker is to be told, or None if that is nothing."""
        if passed.giver is not None:
            self._remember(passed.giver, self._shell.origins.last)
        taker = passed.taker
        if taker is None:
            return None
        changed = self._changed(taker)
        is_foreign = any(one != taker for one in staged.by)
        if passed.giver is None and not is_foreign and not changed:
            return None  # A lone operator has left everything there.
        if staged.is_edited and is_foreign:
            changed = (_edited(staged), *changed)[: presence.MAX_CHANGED]
        return _Owed(passed, taker, staged, changed)

    def _inherited(
        self, owed: _Owed, found: list[Process]
    ) -> presence.Inherited | None:
        """Return what the taker takes over, or None if that is nothing."""
        staged = owed.staged
        jobs, actors = self._jobs(found)
        if staged.is_empty and not jobs and not owed.changed:
            return None
        return presence.Inherited(
            owed.passed.epoch,
            # Of what may have been entered, the end is the likeliest to stand there.
            staged.data[-wire.MAX_EXCERPT :],
            staged.by[: presence.MAX_STAGERS],
            tuple(_told(one, actors[one.pid]) for one in jobs[: presence.MAX_JOBS]),
            owed.changed,
        )

    def _jobs(self, found: list[Process]) -> tuple[list[Process], dict[int, ActorId]]:
        starts = (ProcessStart(one.pid, one.parent, one.started) for one in found)
        actors = self._starters.actors(starts)
        leader = self._descriptors.record.pid
        jobs = [one for one in found if one.pid != leader and not one.is_dead]
        return jobs, actors

    def _changed(self, taker: ActorId) -> tuple[wire.Staged, ...]:
        """Return what others have changed since `taker` had the turn last."""
        found = self._shell.origins.since(self._had.get(taker, 0))
        return changed(one for one in found if {*one.origin.actors} - {taker})

    def _remember(self, actor: ActorId, last: int) -> None:
        self._had.pop(actor, None)
        self._had[actor] = last
        if len(self._had) > MAX_HANDS:
            del self._had[next(iter(self._had))]


def _edited(staged: Staged) -> wire.Staged:
    """Return that there may be unsubmitted input, whatever it says."""
    by = staged.by[: wire.MAX_HANDS]
    return wire.Staged(Thing.LINE.value, EDITED, by, 0, sure=False)


def _told(process: Process, actor: ActorId) -> graphs.Process:
    return graphs.Process(
        pid=process.pid,
        parent=max(process.parent, 0),
        started_ticks=process.started,
        command=wire.fitting(command_of(process.pid), graphs.MAX_COMMAND),
        state=state_word(process.state),
        actor=actor,
        rss=0,
        cpu_ms=0,
        age_ms=0,
        unlisted=0,
    )
