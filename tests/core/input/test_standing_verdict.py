"""Which keys a verdict stands for, and what ends that."""

from collections.abc import Callable

import pytest
from msgspec import structs
from tests.core.driven_intake import ANNA, AT, BOT, SESSION, WRITER, DrivenIntake

from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.core.input.budget import Budget
from holdfast.core.input.standing_verdict import MAX_PRESSED, StandingVerdict
from holdfast.core.input.turn import TurnRules
from holdfast.core.relay.lease import LeaseHolder
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import ActorId, ClientId, Epoch, HostId, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.verdicts import Verdict

LATER = Moment(AT.now + 5, AT.wall + 5, AT.boot + 5)


class Typist:
    """Somebody who types into a here, and what stands for it."""

    def __init__(self, lease: LeaseHolder | None = None) -> None:
        self.here = DrivenIntake(lease=lease)
        self.kind = ActorKind.AGENT
        self.standing = StandingVerdict(self.here.intake, lambda _: self.kind)
        self.sequence = 0

    def key(self, payload: bytes = b"a", **changes: object) -> Input:
        self.sequence += 1
        made = self.here.made(self.sequence, payload=payload)
        return structs.replace(made, **changes)

    def decided(
        self,
        given: Input,
        verdict: Verdict = Verdict.ALLOW,
        *,
        echo_off: bool = False,
        originators: tuple[ActorId, ...] = (),
    ) -> None:
        """Take the full decision, and learn from it."""
        intake = self.here.intake
        self.here.do(intake.submit(given, AT))
        ticket = intake.issue_ticket() - 1
        said = gate.Judged(ticket, verdict, "rule")
        effects = intake.judged(said, AT, echo_off=echo_off, originators=originators)
        self.standing.learn(given, effects)
        self.here.do(effects)

    def settled(self, size: int = 1) -> None:
        self.here.write(size)

    def presses(self, given: Input | None = None, at: Moment = AT) -> bool:
        effects = self.standing.press(given or self.key(), at)
        self.here.do(effects)
        return bool(effects)


@pytest.fixture
def typist() -> Typist:
    made = Typist()
    made.decided(made.key())
    made.settled()
    # The first key took the turn: the next is of another epoch.
    made.decided(made.key())
    made.settled()
    return made


def test_the_next_key_needs_no_full_decision(typist: Typist) -> None:
    assert typist.presses()
    typist.settled()
    assert typist.presses(typist.key(b"\x1b[A"))

    before, last = typist.here.entries[-2:]
    assert (before.fields["sequence"], last.fields["sequence"]) == (3, 4)
    assert last.fields["data"] == "G1tB"
    assert list(before.fields) == list(typist.here.entries[-3].fields)


def test_what_was_never_decided_does_not_stand() -> None:
    assert not Typist().presses()


@pytest.mark.parametrize("payload", [b"ls\r", b"\n", b"x" * (MAX_PRESSED + 1)])
def test_a_line_or_a_paste_is_no_key(typist: Typist, payload: bytes) -> None:
    assert not typist.presses(typist.key(payload))


def test_neither_is_a_command(typist: Typist) -> None:
    assert not typist.presses(typist.key(kind=InputKind.COMMAND))


@pytest.mark.parametrize(
    "changes",
    [
        {"actor": ANNA},
        {"epoch": Epoch(7)},
        {"incarnation": Incarnation(2)},
    ],
)
def test_nobody_else_is_meant_and_no_other_turn(
    typist: Typist, changes: dict[str, object]
) -> None:
    assert not typist.presses(structs.replace(typist.key(), **changes))


def test_another_client_of_the_same_operator_is_decided_by_itself(
    typist: Typist,
) -> None:
    known = typist.key()
    other = Input(
        InputId(ClientId("other"), 1),
        known.actor,
        known.kind,
        known.incarnation,
        known.epoch,
        b"a",
    )

    assert not typist.presses(other)


def granted_less(typist: Typist) -> None:
    fewer = Envelope(frozenset({Right.TAKE}))
    typist.here.do(typist.here.intake.grant(BOT, fewer, ANNA, AT))


def revoked(typist: Typist) -> None:
    typist.here.do(typist.here.intake.revoke(BOT, ANNA, AT))


def seized(typist: Typist) -> None:
    typist.here.do(typist.here.intake.seize(ANNA, AT))


def given_away(typist: Typist) -> None:
    typist.here.do(typist.here.intake.request(turn.Gave(BOT, ANNA), AT))


def frozen(typist: Typist) -> None:
    typist.here.do(typist.here.intake.freeze(ANNA, AT))


def frozen_and_thawed(typist: Typist) -> None:
    frozen(typist)
    typist.here.do(typist.here.intake.thaw(ANNA, AT))


def fenced(typist: Typist) -> None:
    typist.here.do(typist.here.intake.fenced(AT))


def ended(typist: Typist) -> None:
    typist.here.do(typist.here.intake.exited("0", AT))


def another_policy(typist: Typist) -> None:
    typist.here.intake.adopt(TurnRules(), {})


def a_budget(typist: Typist) -> None:
    typist.here.intake.adopt(
        TurnRules(), {ActorKind.AGENT: Budget(inputs_per_minute=1)}
    )


def disk_refuses(typist: Typist) -> None:
    here = typist.here
    here.holds_lines = True
    here.do(here.intake.record(EntryKind.ATTACHED, {"actor": ANNA}, AT))
    here.do(here.intake.store_failed("no room", AT))


def sync_fails(typist: Typist) -> None:
    typist.here.do(typist.here.intake.sync_failed("no disk", AT))


def another_kind(typist: Typist) -> None:
    typist.kind = ActorKind.SERVICE


def something_is_in_the_gate(typist: Typist) -> None:
    submitted = gate.Submitted(99, BOT, None, b"")
    typist.here.intake.gate.handle(submitted, AT.now)


def somebody_comes_back(typist: Typist) -> None:
    typist.here.do(typist.here.intake.attach(BOT, "c", AT))


@pytest.mark.parametrize(
    "happens",
    [
        granted_less,
        revoked,
        seized,
        given_away,
        frozen,
        frozen_and_thawed,
        fenced,
        ended,
        another_policy,
        a_budget,
        disk_refuses,
        sync_fails,
        another_kind,
        something_is_in_the_gate,
        somebody_comes_back,
    ],
)
def test_nothing_stands_after(
    typist: Typist, happens: Callable[[Typist], None]
) -> None:
    epoch = typist.here.intake.turn.epoch
    happens(typist)

    assert not typist.presses(typist.key(epoch=epoch))


def test_an_envelope_that_runs_out_stands_no_longer() -> None:
    typist = Typist()
    brief = Envelope(WRITER, SESSION, AT.wall + 1)
    typist.here.do(typist.here.intake.grant(BOT, brief, ANNA, AT))
    for _ in range(2):
        typist.decided(typist.key())
        typist.settled()

    assert not typist.presses(typist.key(), LATER)
    typist.sequence -= 1
    assert typist.presses()


def test_neither_does_a_lease() -> None:
    life, until = Incarnation(1), AT.now + 1
    lease = LeaseHolder(HostId("h"), AT.now, incarnation=life, expires_at=until)
    typist = Typist(lease)
    for _ in range(2):
        typist.decided(typist.key())
        typist.settled()

    assert not typist.presses(typist.key(), LATER)
    typist.sequence -= 1
    assert typist.presses()


def test_a_key_waits_until_the_book_has_what_came_before(typist: Typist) -> None:
    here = typist.here
    here.holds_lines = True
    here.do(here.intake.record(EntryKind.INTENDED, {"actor": ANNA}, AT))

    assert not typist.presses()
    here.store_held()
    typist.sequence -= 1
    assert typist.presses()


@pytest.mark.parametrize("how", ["echo off", "staged", "asked", "denied"])
def test_nothing_is_learned_from(how: str) -> None:
    typist = Typist()
    typist.decided(typist.key())
    typist.settled()
    match how:
        case "echo off":
            typist.decided(typist.key(), echo_off=True)
            typist.settled()
        case "staged":
            typist.decided(typist.key(), originators=(ANNA,))
            typist.settled()
        case "asked":
            typist.decided(typist.key(), Verdict.ASK)
        case _:
            typist.decided(typist.key(), Verdict.DENY)

    assert not typist.presses()


def test_nothing_is_learned_while_there_is_a_budget() -> None:
    typist = Typist()
    typist.here.intake.adopt(TurnRules(), {ActorKind.HUMAN: Budget()})
    for _ in range(2):
        typist.decided(typist.key())
        typist.settled()

    assert not typist.presses()


def test_a_line_teaches_nothing() -> None:
    typist = Typist()
    for _ in range(2):
        typist.decided(typist.key(b"ls\r"))
        typist.settled(3)

    assert not typist.presses()


def test_somebody_without_an_envelope_is_never_learned_of(typist: Typist) -> None:
    entry = typist.here.entries[-1]
    nobody = DrivenIntake()
    other = StandingVerdict(nobody.intake, lambda _: ActorKind.AGENT)
    given = typist.here.made(2, actor=ActorId("nobody"), payload=b"a")
    said = {**entry.fields, "actor": given.actor, "sequence": 2}
    drafted = nobody.intake.book.record(EntryKind.INPUT, said, Epoch(1), AT)

    other.learn(given, [*drafted])

    assert other.press(typist.here.made(3, actor=given.actor, payload=b"a"), AT) == []


def test_a_key_waits_in_line_like_any_other(typist: Typist) -> None:
    assert typist.presses()  # It is being written.

    assert not typist.presses()


def test_a_repeat_is_not_pressed_again(typist: Typist) -> None:
    first = typist.key()
    assert typist.presses(first)
    typist.settled()

    assert not typist.presses(first)
    typist.here.do(typist.here.intake.submit(first, AT))
    assert not any(isinstance(one, Store) for one in typist.here.told[-1:])


def test_a_key_with_known_id_and_other_bytes_is_refused(typist: Typist) -> None:
    first = typist.key(b"a")
    assert typist.presses(first)
    typist.settled()

    twin = typist.here.made(first.id.sequence, payload=b"b")
    typist.here.do(typist.here.intake.submit(twin, AT))

    assert typist.here.codes()[-1] == "input-id-reused"


# ── the key that has not come yet ─────────────────────────────────────────────


def test_the_entry_of_the_next_key_is_known_but_for_key_and_time(
    typist: Typist,
) -> None:
    found = typist.standing.foresee(None)
    assert found is not None

    assert typist.presses(structs.replace(found.given, payload=b"q"), LATER)

    before, between, after = found.line
    line = b"%b%d%b%b%b" % (before, LATER.wall * 1000, between, b"cQ==", after)
    assert typist.here.entries[-1].line == line
    assert typist.here.intake.note() == found.note


def test_what_was_never_decided_is_not_foreseen() -> None:
    assert Typist().standing.foresee(None) is None


def _fill_disk(typist: Typist) -> None:
    typist.here.holds_lines = True
    said = {"actor": BOT}
    typist.here.do(typist.here.intake.record(EntryKind.INTENDED, said, AT))


@pytest.mark.parametrize(
    "happens",
    [
        lambda typist: typist.here.intake.fenced(AT),
        lambda typist: typist.here.intake.adopt(TurnRules(), {}),
        lambda typist: typist.presses(),
        lambda typist: typist.here.intake.submit(typist.key(b"\r"), AT),
        _fill_disk,
        lambda typist: setattr(typist, "kind", ActorKind.HUMAN),
    ],
)
def test_nothing_is_foreseen_once_something_has_happened(
    typist: Typist, happens: Callable[[Typist], object]
) -> None:
    assert typist.standing.foresee(None) is not None

    happens(typist)

    assert typist.standing.foresee(None) is None
