from holdfast.core.book.inheritance import inherit
from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Entry, Head, Logbook, genesis
from holdfast.core.input import gate, turn
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect, Settings
from holdfast.core.input.serializer import Answer, Apply
from holdfast.core.relay.lease import LeaseHolder
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Incarnation,
    SessionId,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Outcome, Refused
from holdfast.model.verdicts import Verdict

SESSION = SessionId("s_one")
ANNA, BOT, EVE = ActorId("anna"), ActorId("bot"), ActorId("eve")
WRITER = frozenset({Right.INPUT, Right.TAKE})
AT = Moment(10.0, 1000.0, 10.0)


class DrivenIntake:
    """An intake on a disk and a terminal that do at once what they are told."""

    def __init__(self, *, lease: LeaseHolder | None = None) -> None:
        settings = Settings(SESSION, Incarnation(1), b"key")
        self.intake = Intake(settings, Logbook(genesis(SESSION)), lease)
        self.lease = lease
        self.entries: list[Entry] = []
        self.holds_lines = False
        self.told: list[Effect] = []
        for actor, rights in ((ANNA, frozenset(Right)), (BOT, WRITER)):
            self.do(self.intake.grant(actor, Envelope(rights), ANNA, AT))
        self.do(self.intake.grant(EVE, Envelope(frozenset()), ANNA, AT))
        self.told.clear()

    def do(self, effects: list[Effect]) -> list[Effect]:
        self.told += effects
        for effect in effects:
            if isinstance(effect, Store) and not self.holds_lines:
                self.entries.append(effect.entry)
                self.do(self.intake.stored(AT))
        return effects

    def store_held(self) -> None:
        self.holds_lines = False
        held = [effect for effect in self.told if isinstance(effect, Store)][-1]
        self.entries.append(held.entry)
        self.do(self.intake.stored(AT))

    def send(
        self, sequence: int = 1, *, actor: ActorId = BOT, **changes: object
    ) -> Input:
        given = self.made(sequence, actor=actor, **changes)
        self.do(self.intake.submit(given, AT))
        return given

    def made(self, sequence: int, *, actor: ActorId = BOT, **changes: object) -> Input:
        return keys(sequence, actor, **{"epoch": self.intake.turn.epoch, **changes})

    def judge(
        self, verdict: Verdict, ticket: int = 1, *, echo_off: bool = False
    ) -> None:
        said = gate.Judged(ticket, verdict, "rule")
        self.do(self.intake.judged(said, AT, echo_off=echo_off))

    def last(self) -> Effect:
        return self.told[-1]

    def write(self, count: int = 3) -> None:
        [*_, applied] = [one for one in self.told if isinstance(one, Apply)]
        self.do(self.intake.wrote(applied.index, count, AT))

    def answers(self) -> list[tuple[int, Outcome]]:
        return [
            (one.id.sequence, one.outcome)
            for one in self.told
            if isinstance(one, Answer)
        ]

    def codes(self) -> list[str]:
        errors = [out.error for _, out in self.answers() if isinstance(out, Refused)]
        errors += [one.error for one in self.told if isinstance(one, turn.Refuse)]
        return [error.code for error in errors]

    def kinds(self) -> list[str]:
        return [entry.kind.value for entry in self.entries[3:]]

    def successor(self, *, life: int = 1, stores: bool = True) -> "DrivenIntake":
        note = self.intake.note() if life == 1 else None
        last = self.entries[-1]
        settings = Settings(SESSION, Incarnation(life), b"key")
        book = Logbook(Head(SESSION, last.index, last.hash))
        heir = DrivenIntake.__new__(DrivenIntake)
        heir.intake, heir.lease = Intake(settings, book), None
        heir.entries, heir.told, heir.holds_lines = list(self.entries), [], not stores
        inherited = inherit(self.entries, note, Incarnation(life))
        heir.do(heir.intake.resume(inherited, AT))
        return heir


def keys(sequence: int, actor: ActorId, **changes: object) -> Input:
    fields: dict[str, object] = {
        "kind": InputKind.KEYS,
        "incarnation": Incarnation(1),
        "payload": b"ls\r",
        **changes,
    }
    known = InputId(ClientId("c"), sequence)
    return Input(known, actor, **fields)  # type: ignore[arg-type]  # a builder
