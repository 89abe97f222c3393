"""Logs what was refused.

Refusals may come as a flood, so the machine that counts them decides which of them
are worth an entry, and when.
"""

import time

from holdfast.core.book.entries import declined_fields
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import serializer, turn
from holdfast.core.input.refusal_counter import RefusalCounter, Tell
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.links.notifications import Notifications
from holdfast.holder.timers import Timers
from holdfast.model.errors import BudgetSpent, HoldfastError, InputTooLarge
from holdfast.model.ids import ActorId
from holdfast.model.inputs import Input
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Refused
from holdfast.wire.frames import FrameKind


class Refusals:
    """What was turned away in one session."""

    def __init__(
        self, driver: IntakeDriver, notifications: Notifications, timers: Timers
    ) -> None:
        self._driver = driver
        self._notifications = notifications
        self._declining = RefusalCounter()
        self._timer = timers.add(self._tick)
        self.count = 0
        """How many requests about the turn were refused."""

        driver.performers[turn.Refuse] = self._refuse

    def declined(self, actor: ActorId, asked: FrameKind, error: HoldfastError) -> None:
        """Put on record that a request was turned away."""
        word, at = asked.name.lower(), time.monotonic()
        self._record(self._declining.decline(actor, word, error.code, at))

    def arrived(self, given: Input, answer: serializer.Answer) -> None:
        """Put on record that an input was refused when it came, if it was."""
        if isinstance(answer.outcome, Refused):
            # What is remembered stood in line, and has an entry of its own.
            known = self._driver.intake.inquire(given.actor, given.id)
            if known is not answer.outcome:
                error = answer.outcome.error
                self.declined(given.actor, FrameKind.SUBMIT, error)

    def answered(self, answer: serializer.Answer) -> None:
        """Put on record what a budget refused: counted, for it may be a flood."""
        match answer.outcome:
            case Refused(BudgetSpent() | InputTooLarge() as error) as outcome:
                known = self._driver.intake.inquire(answer.actor, answer.id)
                if known is outcome:
                    self.declined(answer.actor, FrameKind.SUBMIT, error)
            case _:
                pass

    def flush(self) -> None:
        """Put on record everything that was only counted."""
        self._record(self._declining.flush())

    def _refuse(self, effect: turn.Refuse, _at: Moment) -> None:
        self.count += 1
        asked = self._notifications.refuse(effect)
        self.declined(effect.actor, asked, effect.error)

    def _tick(self, now: float) -> None:
        self._record(self._declining.tick(now))

    def _record(self, declined: list[Tell]) -> None:
        self._timer.set(self._declining.next_deadline())
        for one in declined:
            self._driver.record(EntryKind.DECLINED, declined_fields(one))
