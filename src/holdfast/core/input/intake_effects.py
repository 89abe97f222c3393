"""What the intake asks of its surroundings, and what it was given.

Effects are carried out in the order in which they are handed out: the note before
the bytes it speaks of, the line of the logbook before both.
"""

from dataclasses import dataclass, field

import msgspec

from holdfast.core.book.entries import Admission, Fields, input_fields, is_secret
from holdfast.core.book.inheritance import Note
from holdfast.core.book.log_writer import Store
from holdfast.core.input import budget, gate, serializer, turn
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, Incarnation, SessionId
from holdfast.model.inputs import Input
from holdfast.model.verdicts import Verdict


class KeepNote(msgspec.Struct, frozen=True):
    """Put the note where it outlives us, before the next effect."""

    note: Note


class Consult(msgspec.Struct, frozen=True):
    """Ask the policy about an input."""

    ticket: int
    input: Input


@dataclass(slots=True)
class Judging:
    """An input that the policy is asked about, and what is known of it by now."""

    ticket: int
    input: Input
    seen: tuple[int, float] = (0, 0.0)
    """How things stood when nothing spoke against it, and when that was."""

    echo_off: bool = False
    originators: tuple[ActorId, ...] = ()
    verdict: Verdict | None = None
    policy: str = ""
    actions: tuple[str, ...] = ()

    def admission(self, rule: str, approver: ActorId | None) -> Admission:
        """Return why it may happen, once the gate lets it."""
        own = self.input.actor
        others = self.originators and [one for one in self.originators if one != own]
        verdict = self.verdict or Verdict.ALLOW
        return Admission(verdict, rule, approver, others, self.policy, self.actions)

    def fields(
        self, admitted: gate.Admit, kind: ActorKind, settings: "Settings"
    ) -> Fields:
        """Say in the book that it was admitted."""
        by = self.admission(admitted.rule, admitted.approver)
        secret = is_secret(self.input, echo_off=self.echo_off)
        key = settings.secret_key if secret else None
        fields = input_fields(self.input, kind, by, key)
        if self.input.incarnation == settings.incarnation:
            return fields
        return {**fields, "life": self.input.incarnation}


Effect = (
    Store
    | KeepNote
    | Consult
    | serializer.Apply
    | serializer.Sync
    | serializer.Answer
    | turn.PassTurn
    | turn.AskHolder
    | turn.Refuse
    | gate.Preview
    | gate.SeekApproval
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a session was given at its birth."""

    session: SessionId
    incarnation: Incarnation
    secret_key: bytes
    """Keys the hashes of what was typed with echo off."""

    turn_rules: turn.TurnRules = field(default_factory=turn.TurnRules)
    gate_rules: gate.GateRules = field(default_factory=gate.GateRules)
    kind_of: budget.KindOf = budget.stranger
    since: Incarnation | None = None
    """The first life whose inputs are taken: nothing but moves lies between it and this
    one. None: this one's alone."""

    def owes(self, given: Input) -> bool:
        """Tell whether an input was made for this life, or for one that was moved."""
        return (self.since or self.incarnation) <= given.incarnation <= self.incarnation
