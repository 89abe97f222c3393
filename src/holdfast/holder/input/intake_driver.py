"""Performs the intake's effects, in order, and calls it at its deadlines.

Each effect has one performer, which may return further effects; these come before what
is left. The rooms of a session say themselves which effects they perform.
"""

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect, KeepNote
from holdfast.holder.moment import now
from holdfast.holder.record.note_memory import NoteMemory
from holdfast.holder.timers import Timers
from holdfast.model.moments import Moment
from holdfast.wire.lines import Value

Perform = Callable[[Any, Moment], "list[Effect] | None"]
"""Performs effects of one type; the moment is when what led to them was taken."""


class IntakeDriver:
    """The intake of one session, and the performers of its effects."""

    def __init__(self, intake: Intake, note: NoteMemory, timers: Timers) -> None:
        self.intake = intake
        self.performers: dict[type[Effect], Perform] = {}
        """Who performs which effects; a note is kept here."""

        self.before_tick: list[Callable[[], None]] = []
        """Called before the clock changes anything."""

        self.afterwards: Callable[[], None] | None = None
        """Called when everything is done, while it is set."""

        self.note = note
        """Where a successor finds how things stand."""

        self._timer = timers.add(self.tick)
        self._changes = -1

    def do(self, effects: list[Effect], at: Moment) -> None:
        """Do what the intake says."""
        work = effects[::-1]
        while work:
            effect = work.pop()
            if isinstance(effect, KeepNote):
                self.note.keep(effect.note)
            elif more := self.performers[type(effect)](effect, at):
                work += more[::-1]
        if self.afterwards is not None:
            self.afterwards()
        # For a key nothing has changed but when it is settled at the latest.
        intake = self.intake
        if intake.gate.open or intake.changes != self._changes:
            self._changes = intake.changes
            self._timer.set(intake.next_deadline())
        elif (by := intake.settlements.by) is not None and by < self._timer.due:
            self._timer.set(by)

    def record(self, kind: EntryKind, fields: Mapping[str, Value]) -> None:
        """Write an entry that no decision here depends on."""
        at = now()
        self.do(self.intake.record(kind, fields, at), at)

    def tick(self, _now: float) -> None:
        """Do what the clock demands."""
        for do in self.before_tick:
            do()
        at = now()
        self.do(self.intake.tick(at), at)
        self._timer.set(self.intake.next_deadline())
