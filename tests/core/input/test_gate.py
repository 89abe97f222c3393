import pytest

from holdfast.core.input.gate import (
    MAX_PENDING,
    Abandoned,
    Admit,
    Approved,
    Consult,
    CutShort,
    Denied,
    Effect,
    Event,
    Gate,
    GateRules,
    Judged,
    PolicyFailed,
    Preview,
    Previewed,
    Refuse,
    Reject,
    SeekApproval,
    Submitted,
    TicketState,
)
from holdfast.model.errors import NotAtPrompt, TurnMoved
from holdfast.model.ids import ActorId, Epoch
from holdfast.model.verdicts import Verdict

ANNA, BOT, CARL = ActorId("anna"), ActorId("bot"), ActorId("carl")
BYTES, OTHER_BYTES = b"d" * 32, b"e" * 32
EPOCH, OTHER_EPOCH = Epoch(3), Epoch(4)


def consulting_gate(*, epoch: Epoch | None = EPOCH) -> Gate:
    gate = Gate(GateRules(policy_timeout=2, approval_timeout=300))
    gate.handle(Submitted(1, BOT, epoch, BYTES), now=0)
    return gate


def asking_gate(*, epoch: Epoch | None = EPOCH) -> Gate:
    gate = consulting_gate(epoch=epoch)
    gate.handle(Judged(1, Verdict.ASK, "careful"), now=1)
    return gate


def codes(effects: list[Effect]) -> list[tuple[int | str, str]]:
    told: list[tuple[int | str, str]] = []
    for effect in effects:
        match effect:
            case Reject(ticket, error):
                told.append((ticket, error.code))
            case Refuse(actor, error):
                told.append((actor, error.code))
            case Admit() | Consult() | Preview() | SeekApproval():
                pass
    return told


def test_every_act_is_put_before_the_policy() -> None:
    gate = Gate()

    assert gate.handle(Submitted(7, BOT, EPOCH, BYTES), now=0) == [Consult(7)]
    assert gate.pending() == ()
    assert gate.next_deadline() == 2


def test_allow_admits_by_the_rule_that_said_so() -> None:
    gate = consulting_gate()

    assert gate.handle(Judged(1, Verdict.ALLOW, "all"), now=1) == [
        Admit(1, "all", None)
    ]
    assert gate.next_deadline() is None


def test_deny_rejects_and_names_the_rule() -> None:
    gate = consulting_gate()

    [rejection] = gate.handle(Judged(1, Verdict.DENY, "no-rm", "ask first"), now=1)

    assert isinstance(rejection, Reject)
    assert rejection.error.code == "denied-by-policy"
    assert rejection.error.facts == {"rule": "no-rm", "why": "ask first"}
    assert str(rejection.error) == "denied by policy rule 'no-rm': ask first"


def test_an_answer_counts_as_long_as_the_policy_is_consulted() -> None:
    gate = consulting_gate()

    assert gate.is_consulting(1)
    assert not gate.is_consulting(2)
    gate.handle(Judged(1, Verdict.ASK, "careful"), now=1)
    assert not gate.is_consulting(1)


def test_ask_shows_operators_exactly_what_waits() -> None:
    gate = consulting_gate()

    assert gate.handle(Judged(1, Verdict.ASK, "careful"), now=1) == [
        SeekApproval(1, BOT, EPOCH, BYTES, "careful")
    ]
    [ticket] = gate.pending()
    assert (ticket.number, ticket.state) == (1, TicketState.PENDING)
    assert (ticket.rule, ticket.deadline) == ("careful", 301)


def previewing_gate() -> Gate:
    gate = consulting_gate()
    assert gate.handle(Judged(1, Verdict.PREVIEW, "try"), now=1) == [Preview(1)]
    return gate


def test_what_was_tried_out_waits_with_what_was_told_of_it() -> None:
    gate = previewing_gate()

    assert gate.is_trying(1)
    assert gate.pending() == ()
    assert gate.next_deadline() == 121
    assert gate.handle(Previewed(1, "abc"), now=5) == [
        SeekApproval(1, BOT, EPOCH, BYTES, "try", "abc")
    ]
    assert not gate.is_trying(1)
    assert gate.next_deadline() == 305
    assert gate.handle(Previewed(1, "def"), now=6) == []
    assert gate.handle(Approved(1, ANNA, BYTES, EPOCH), now=7) == [
        Admit(1, "try", ANNA)
    ]


def test_a_preview_without_a_result_is_asked_about_without_it() -> None:
    gate = previewing_gate()

    assert gate.tick(120) == []
    assert gate.tick(121) == [SeekApproval(1, BOT, EPOCH, BYTES, "try")]
    assert codes(gate.tick(421)) == [(1, "approval-timeout")]


def test_nothing_that_is_tried_out_can_be_approved_yet() -> None:
    gate = previewing_gate()

    assert codes(gate.handle(Approved(1, ANNA, BYTES, EPOCH), now=2)) == [
        (ANNA, "nothing-pending")
    ]


def test_a_turn_that_moves_drops_what_is_tried_out() -> None:
    gate = previewing_gate()

    assert codes(gate.handle(CutShort(TurnMoved("anna", 4)), now=2)) == [
        (1, "turn-moved")
    ]
    assert gate.handle(Previewed(1, "abc"), now=3) == []


def test_an_approval_of_what_waits_admits_it() -> None:
    gate = asking_gate()

    assert gate.handle(Approved(1, ANNA, BYTES, EPOCH), now=2) == [
        Admit(1, "careful", ANNA)
    ]
    assert gate.pending() == ()


def test_i2_the_asker_cannot_approve() -> None:
    gate = asking_gate()

    assert codes(gate.handle(Approved(1, BOT, BYTES, EPOCH), now=2)) == [
        (BOT, "self-approval")
    ]
    assert len(gate.pending()) == 1


@pytest.mark.parametrize(
    ("digest", "epoch"),
    [
        (OTHER_BYTES, EPOCH),
        (BYTES, OTHER_EPOCH),
        (BYTES, None),
        (b"", EPOCH),
        (BYTES[:-1], EPOCH),
    ],
)
def test_i3_an_approval_of_something_else_admits_nothing(
    digest: bytes, epoch: Epoch | None
) -> None:
    gate = asking_gate()

    assert codes(gate.handle(Approved(1, ANNA, digest, epoch), now=2)) == [
        (ANNA, "approval-mismatch")
    ]
    assert len(gate.pending()) == 1


def test_i3_an_approval_for_an_earlier_gate_does_not_fit_this_one() -> None:
    Gate().handle(Submitted(1, BOT, EPOCH, OTHER_BYTES), now=0)
    restarted = asking_gate()

    late = Approved(1, ANNA, OTHER_BYTES, EPOCH)

    assert codes(restarted.handle(late, now=5)) == [(ANNA, "approval-mismatch")]


@pytest.mark.parametrize("approver", [ANNA, BOT])
def test_an_operator_denies_or_the_asker_withdraws(approver: ActorId) -> None:
    gate = asking_gate()

    assert codes(gate.handle(Denied(1, approver), now=2)) == [(1, "denied-by-operator")]


def test_i5_what_nobody_waits_for_any_more_is_rejected() -> None:
    gate = asking_gate()

    assert codes(gate.handle(Abandoned(1), now=2)) == [(1, "asker-gone")]
    assert codes(gate.handle(Approved(1, ANNA, BYTES, EPOCH), now=3)) == [
        (ANNA, "nothing-pending")
    ]


@pytest.mark.parametrize("gate", [consulting_gate(), asking_gate()])
def test_i5_what_makes_no_sense_any_more_is_rejected(gate: Gate) -> None:
    senseless = Abandoned(1, NotAtPrompt("something stands there"))

    assert codes(gate.handle(senseless, now=1)) == [(1, "not-at-prompt")]
    assert gate.handle(senseless, now=1) == []


@pytest.mark.parametrize("gate", [consulting_gate(), Gate()])
def test_only_what_waits_for_an_operator_is_abandoned(gate: Gate) -> None:
    assert gate.handle(Abandoned(1), now=1) == []


@pytest.mark.parametrize("event", [Approved(1, ANNA, BYTES, EPOCH), Denied(1, ANNA)])
def test_there_is_nothing_to_answer_before_the_policy_asks(event: Event) -> None:
    assert codes(consulting_gate().handle(event, now=1)) == [(ANNA, "nothing-pending")]
    assert codes(Gate().handle(event, now=1)) == [(ANNA, "nothing-pending")]


def test_i6_a_policy_that_fails_denies() -> None:
    gate = consulting_gate()

    assert codes(gate.handle(PolicyFailed(1, "crashed"), now=1)) == [
        (1, "policy-unavailable")
    ]


def test_i6_a_policy_that_hangs_denies() -> None:
    gate = consulting_gate()

    assert gate.tick(now=1.9) == []
    assert codes(gate.tick(now=2)) == [(1, "policy-unavailable")]


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_that_comes_too_late_changes_nothing(verdict: Verdict) -> None:
    gate = consulting_gate()
    gate.tick(now=2)

    assert gate.handle(Judged(1, verdict, "all"), now=3) == []
    assert gate.handle(PolicyFailed(1, "crashed"), now=3) == []
    assert gate.next_deadline() is None


def test_a_second_verdict_does_not_overrule_the_first() -> None:
    gate = asking_gate()

    assert gate.handle(Judged(1, Verdict.ALLOW, "all"), now=2) == []
    assert gate.handle(PolicyFailed(1, "crashed"), now=2) == []
    assert len(gate.pending()) == 1


def test_nobody_answering_means_no() -> None:
    gate = asking_gate()

    assert gate.tick(now=300.9) == []
    assert codes(gate.tick(now=301)) == [(1, "approval-timeout")]


@pytest.mark.parametrize("gate", [consulting_gate(), asking_gate()])
def test_i4_what_waits_under_a_turn_dies_with_it(gate: Gate) -> None:
    assert codes(gate.handle(CutShort(TurnMoved("anna", 4)), now=2)) == [
        (1, "turn-moved")
    ]
    assert codes(gate.handle(Approved(1, ANNA, BYTES, EPOCH), now=3)) == [
        (ANNA, "nothing-pending")
    ]


def test_what_needs_no_turn_survives_its_end() -> None:
    gate = asking_gate(epoch=None)

    assert gate.handle(CutShort(TurnMoved("anna", 4)), now=2) == []
    assert gate.handle(Approved(1, ANNA, BYTES, None), now=3) == [
        Admit(1, "careful", ANNA)
    ]


def test_one_actor_can_fill_only_its_own_share() -> None:
    gate = Gate()
    for number in range(MAX_PENDING):
        gate.handle(Submitted(number, BOT, EPOCH, BYTES), now=0)

    one_more = Submitted(99, BOT, EPOCH, BYTES)

    assert codes(gate.handle(one_more, now=0)) == [(99, "too-many-pending")]
    assert gate.handle(Submitted(100, CARL, EPOCH, BYTES), now=0) == [Consult(100)]
