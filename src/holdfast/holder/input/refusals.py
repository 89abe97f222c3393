"""Logs the inputs that were refused.

Refusals may come as a flood, so the machine that counts them decides which of them
are worth an entry, and when.
"""

import math
import time

from holdfast.core.book.entries import declined_fields
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import serializer
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect
from holdfast.core.input.refusal_counter import Declining, Tell
from holdfast.holder.moment import now
from holdfast.model.errors import BudgetSpent, HoldfastError, InputTooLarge
from holdfast.model.ids import ActorId
from holdfast.model.inputs import Input
from holdfast.model.outcomes import Refused
from holdfast.wire.frames import FrameKind


class Refusals:
    """What was turned away in one session."""

    def __init__(self) -> None:
        self._declining = Declining()
        self.due_at = math.inf
        """When to call `tick`."""

    def declined(
        self, actor: ActorId, asked: FrameKind, error: HoldfastError, intake: Intake
    ) -> list[Effect]:
        """Put on record that a request was turned away."""
        word = asked.name.lower()
        at = time.monotonic()
        declined = self._declining.decline(actor, word, error.code, at)
        return self._told(declined, intake)

    def arrived(
        self, given: Input, effects: list[Effect], intake: Intake
    ) -> list[Effect]:
        """Put on record that an input was refused when it came, if it was."""
        match effects:
            case [serializer.Answer(outcome=Refused(error) as outcome)]:
                # What is remembered stood in line, and has an entry of its own.
                if intake.inquire(given.actor, given.id) is not outcome:
                    return self.declined(given.actor, FrameKind.SUBMIT, error, intake)
            case _:
                pass
        return []

    def answered(self, answer: serializer.Answer, intake: Intake) -> list[Effect]:
        """Put on record what a budget refused: counted, for it may be a flood."""
        match answer.outcome:
            case Refused(BudgetSpent() | InputTooLarge() as error) as outcome:
                is_judged = intake.inquire(answer.actor, answer.id) is outcome
                if is_judged:
                    return self.declined(answer.actor, FrameKind.SUBMIT, error, intake)
            case _:
                pass
        return []

    def flush(self, intake: Intake) -> list[Effect]:
        """Put on record everything that was only counted."""
        return self._told(self._declining.flush(), intake)

    def tick(self, intake: Intake) -> list[Effect]:
        """Do what the clock demands."""
        return self._told(self._declining.tick(time.monotonic()), intake)

    def _told(self, declined: list[Tell], intake: Intake) -> list[Effect]:
        deadline = self._declining.next_deadline()
        self.due_at = math.inf if deadline is None else deadline
        return [
            effect
            for one in declined
            for effect in intake.record(EntryKind.DECLINED, declined_fields(one), now())
        ]
