import pytest

from holdfast.core.input import gate
from holdfast.core.policy.exec_gate import (
    MAX_NAMED,
    WINDOW,
    Answer,
    Asked,
    Consult,
    Effect,
    ExecGate,
    Gone,
    Interrupted,
    Record,
    Settle,
    Show,
    Wish,
)
from holdfast.model.errors import (
    ApprovalMismatch,
    ApprovalTimeout,
    DeniedByOperator,
    DeniedByPolicy,
    NothingPending,
    PolicyUnavailable,
    SelfApproval,
    TooManyPending,
)
from holdfast.model.ids import ActorId, Epoch
from holdfast.model.verdicts import Verdict

BOT, ANNA = ActorId("a_bot"), ActorId("a_anna")
NOTICE, TICKET = 900, 1
RULES = gate.GateRules(policy_timeout=2.0, approval_timeout=300.0)


def wish(pid: int = 10, digest: bytes = b"d") -> Wish:
    return Wish(BOT, (pid, 1), digest, "/bin/rm", "rm x")


WISH = wish()


def consulted(machine: ExecGate, ticket: int = TICKET) -> list[Effect]:
    return machine.handle(Asked(ticket, NOTICE, WISH), 0)


def held() -> ExecGate:
    machine = ExecGate(RULES)
    consulted(machine)
    machine.handle(gate.Judged(TICKET, Verdict.ASK, "rule"), 0)
    return machine


def approved(by: ActorId = ANNA, digest: bytes = b"d") -> gate.Approved:
    return gate.Approved(TICKET, by, digest, Epoch(7))


def of(kind: type[Effect], effects: list[Effect]) -> list[Effect]:
    return [effect for effect in effects if isinstance(effect, kind)]


def test_what_is_asked_is_put_to_the_policy_first() -> None:
    machine = ExecGate()

    assert consulted(machine) == [Consult(TICKET, WISH)]
    assert machine.is_consulting(TICKET)
    assert machine.notices == (NOTICE,)
    assert machine.marks == {WISH.mark}
    assert machine.is_busy


def test_i2_what_the_policy_allows_is_let_and_not_recorded() -> None:
    machine = ExecGate()
    consulted(machine)

    effects = machine.handle(gate.Judged(TICKET, Verdict.ALLOW, "rule"), 1)

    assert effects == [Answer(NOTICE, None)]
    assert not machine.knows(TICKET)


def test_i2_what_the_policy_denies_fails_and_is_recorded() -> None:
    machine = ExecGate()
    consulted(machine)

    answer, record = machine.handle(gate.Judged(TICKET, Verdict.DENY, "rule"), 1)

    assert isinstance(answer, Answer)
    assert isinstance(answer.error, DeniedByPolicy)
    assert record == Record(WISH, answer.error)


@pytest.mark.parametrize(
    "event", [gate.PolicyFailed(TICKET, "has crashed"), None], ids=["fails", "hangs"]
)
def test_i2_a_policy_without_an_answer_denies(event: gate.PolicyFailed | None) -> None:
    machine = ExecGate(RULES)
    consulted(machine)

    effects = machine.tick(2.0) if event is None else machine.handle(event, 1)

    (answer,) = of(Answer, effects)
    assert isinstance(answer, Answer)
    assert isinstance(answer.error, PolicyUnavailable)


def test_what_is_to_be_asked_is_shown_and_waits() -> None:
    machine = ExecGate()
    consulted(machine)

    effects = machine.handle(gate.Judged(TICKET, Verdict.ASK, "rule"), 1)

    assert effects == [Show(TICKET, WISH, "rule")]
    assert machine.knows(TICKET)
    assert machine.actor_of(TICKET) == BOT


def test_what_is_to_be_previewed_is_asked_about_at_once() -> None:
    machine = ExecGate()
    consulted(machine)

    effects = machine.handle(gate.Judged(TICKET, Verdict.PREVIEW, "try"), 1)

    assert effects == [Show(TICKET, WISH, "try")]


def test_i2_an_approval_lets_it_happen_whatever_the_turn_is() -> None:
    effects = held().handle(approved(), 5)

    assert effects == [
        Answer(NOTICE, None),
        Settle(TICKET, WISH, is_let=True, by=ANNA),
        Record(WISH, None, ANNA),
    ]


def test_a_denial_has_it_fail_and_names_who_denied() -> None:
    answer, settle, record = held().handle(gate.Denied(TICKET, ANNA), 5)

    assert isinstance(answer, Answer)
    assert isinstance(answer.error, DeniedByOperator)
    assert settle == Settle(TICKET, WISH, is_let=False, by=ANNA)
    assert record == Record(WISH, answer.error, ANNA)


def test_i3_whoever_asked_for_it_does_not_approve_it() -> None:
    (refused,) = held().handle(approved(BOT), 5)

    assert isinstance(refused, gate.Refuse)
    assert isinstance(refused.error, SelfApproval)


def test_i1_an_approval_of_other_words_lets_nothing_happen() -> None:
    machine = held()

    (refused,) = machine.handle(approved(digest=b"other"), 5)

    assert isinstance(refused, gate.Refuse)
    assert isinstance(refused.error, ApprovalMismatch)
    assert machine.notices == (NOTICE,)


def test_i1_a_second_answer_finds_nothing() -> None:
    machine = held()
    machine.handle(approved(), 5)

    (refused,) = machine.handle(approved(), 6)

    assert isinstance(refused, gate.Refuse)
    assert isinstance(refused.error, NothingPending)


def test_i4_what_nobody_answers_fails_in_time() -> None:
    machine = held()
    assert machine.next_deadline() == 300.0

    answer, settle, record = machine.tick(300.0)

    assert isinstance(answer, Answer)
    assert isinstance(answer.error, ApprovalTimeout)
    assert settle == Settle(TICKET, WISH, is_let=False, by=None)
    assert isinstance(record, Record)
    assert machine.next_deadline() is None


def test_i1_what_comes_back_goes_on_waiting_under_its_new_notice() -> None:
    machine = held()
    machine.handle(Interrupted(NOTICE), 5)
    assert machine.notices == ()

    assert machine.handle(Asked(2, 901, WISH), 6) == []

    assert of(Answer, machine.handle(approved(), 7)) == [Answer(901, None)]


def test_i1_what_comes_back_finds_the_answer_that_was_given_meanwhile() -> None:
    machine = held()
    machine.handle(Interrupted(NOTICE), 5)
    effects = machine.handle(approved(), 6)
    assert of(Answer, effects) == []

    assert machine.handle(Asked(2, 901, WISH), 7) == [Answer(901, None)]
    assert not machine.knows(TICKET)


def test_what_comes_back_after_its_time_is_asked_about_again() -> None:
    machine = held()
    machine.handle(Interrupted(NOTICE), 5)
    machine.tick(300.0)

    assert machine.handle(Asked(2, 901, WISH), 301) == [Consult(2, WISH)]


def test_an_interruption_of_what_is_not_known_changes_nothing() -> None:
    machine = held()

    assert machine.handle(Interrupted(5), 5) == []

    assert machine.notices == (NOTICE,)


def test_i4_another_wish_of_the_same_process_gives_up_the_first() -> None:
    machine = held()
    other = wish(digest=b"other")

    answer, settle, consult = machine.handle(Asked(2, 901, other), 5)

    assert isinstance(answer, Answer)
    assert answer.notice == NOTICE
    assert answer.error is not None
    assert settle == Settle(TICKET, WISH, is_let=False, by=None)
    assert consult == Consult(2, other)


def test_i1_another_wish_is_not_let_by_the_answer_to_the_first() -> None:
    machine = held()
    machine.handle(Interrupted(NOTICE), 5)
    machine.handle(approved(), 6)
    other = wish(digest=b"other")

    effects = machine.handle(Asked(2, 901, other), 7)

    assert of(Answer, effects) == []
    assert effects[-1] == Consult(2, other)
    assert not machine.knows(TICKET)


def test_i1_the_same_wish_of_a_process_that_still_waits_is_asked_about_anew() -> None:
    machine = held()

    answer, _, consult = machine.handle(Asked(2, 901, WISH), 5)

    assert isinstance(answer, Answer)
    assert (answer.notice, answer.error is None) == (NOTICE, False)
    assert consult == Consult(2, WISH)


def test_another_process_with_the_same_wish_waits_for_itself() -> None:
    machine = held()

    effects = machine.handle(Asked(2, 901, wish(pid=11)), 5)

    assert effects == [Consult(2, wish(pid=11))]
    assert machine.notices == (NOTICE, 901)


def test_i4_a_process_that_is_gone_waits_no_more() -> None:
    machine = held()
    machine.handle(Interrupted(NOTICE), 5)

    assert machine.handle(Gone(WISH.mark), 6) == [
        Settle(TICKET, WISH, is_let=False, by=None)
    ]
    assert machine.next_deadline() is None


def test_a_process_that_is_gone_before_anybody_was_shown_it_is_told_to_nobody() -> None:
    machine = ExecGate()
    consulted(machine)
    machine.handle(Interrupted(NOTICE), 5)

    assert machine.handle(Gone(WISH.mark), 6) == []
    assert not machine.is_consulting(TICKET)


def test_what_the_policy_lets_while_its_process_is_away_it_finds() -> None:
    machine = ExecGate()
    consulted(machine)
    machine.handle(Interrupted(NOTICE), 1)
    assert machine.handle(gate.Judged(TICKET, Verdict.ALLOW, "rule"), 1) == []

    assert machine.handle(Asked(2, 901, WISH), 1) == [Answer(901, None)]


def test_one_actor_may_have_only_so_many_waiting() -> None:
    machine = ExecGate()
    for number in range(gate.MAX_PENDING):
        machine.handle(Asked(number, number, wish(pid=number)), 0)

    answer, record = machine.handle(Asked(99, 99, wish(pid=99)), 0)

    assert isinstance(answer, Answer)
    assert isinstance(answer.error, TooManyPending)
    assert isinstance(record, Record)


def test_i5_of_a_flood_the_first_are_named_and_the_rest_counted() -> None:
    machine = ExecGate()
    error = DeniedByPolicy("rule", "")
    told = [one for _ in range(100) for one in machine.refused(WISH, error, 0.5)]
    assert len(told) == MAX_NAMED
    assert machine.next_deadline() == 0.5 + WINDOW
    assert machine.tick(1.0) == []

    told += [one for one in machine.tick(0.5 + WINDOW) if isinstance(one, Record)]

    assert sum(one.count for one in told) == 100
    assert len(told) == MAX_NAMED + 1
    assert machine.next_deadline() is None


def test_i5_a_new_window_names_again_and_tells_what_was_counted() -> None:
    machine = ExecGate()
    error = DeniedByPolicy("rule", "")
    for _ in range(MAX_NAMED + 5):
        machine.refused(WISH, error, 0.5)

    told = machine.refused(WISH, error, 0.5 + WINDOW)

    assert [one.count for one in told] == [5, 1]
    assert machine.flush() == []


def test_one_that_leaves_takes_nobody_else_along() -> None:
    machine = ExecGate(RULES)
    other = wish(pid=11)
    for ticket, one in ((1, WISH), (2, other)):
        machine.handle(Asked(ticket, NOTICE + ticket, one), 0)
        machine.handle(gate.Judged(ticket, Verdict.ASK, "rule"), 0)

    machine.handle(Gone(WISH.mark), 1)

    assert machine.marks == {other.mark}
    assert machine.notices == (NOTICE + 2,)
    given = gate.Approved(2, ANNA, other.digest, Epoch(7))
    assert of(Answer, machine.handle(given, 2)) == [Answer(NOTICE + 2, None)]
