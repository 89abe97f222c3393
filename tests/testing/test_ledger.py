import pytest

from holdfast.model.errors import NotYourTurn
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.outcomes import Applied, Cut, Refused, Unknown
from holdfast.model.verdicts import Verdict
from holdfast.testing.ledger import Ledger
from holdfast.testing.world import Violation

SESSION = SessionId("s")
ANNA = ActorId("anna")
BERT = ActorId("bert")
LIFE = Incarnation(1)


def given(sequence: int = 1, epoch: int = 1, payload: bytes = b"ls\n") -> Input:
    known = InputId(ClientId("c"), sequence)
    return Input(known, ANNA, InputKind.KEYS, LIFE, Epoch(epoch), payload)


def ledger_with_annas_turn() -> Ledger:
    ledger = Ledger()
    ledger.account(SESSION).writers[ANNA] = True
    ledger.resumed(SESSION, LIFE, Epoch(0), None)
    ledger.passed(SESSION, LIFE, ANNA, Epoch(1))
    return ledger


def judged(ledger: Ledger, one: Input, verdict: Verdict = Verdict.ALLOW) -> Input:
    ledger.submitted(SESSION, one)
    ledger.judged(SESSION, one, verdict)
    return one


def test_an_input_of_the_turns_holder_may_be_written() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given())

    ledger.wrote(SESSION, LIFE, Index(3), one, 3)
    ledger.answered(SESSION, one, Applied(Index(3)), durable=4)
    ledger.heard(SESSION, ANNA, one.id, Applied(Index(3)))
    ledger.close()


def test_i1_no_input_is_applied_twice() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given())
    ledger.wrote(SESSION, LIFE, Index(3), one, 3)

    with pytest.raises(Violation, match="I1"):
        ledger.wrote(SESSION, LIFE, Index(4), one, 3)


def test_i1_nothing_is_acknowledged_before_it_is_durable() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given())
    ledger.wrote(SESSION, LIFE, Index(3), one, 3)

    with pytest.raises(Violation, match="not durable"):
        ledger.answered(SESSION, one, Applied(Index(3)), durable=3)


def test_i1_inputs_of_a_client_are_applied_in_order() -> None:
    ledger = ledger_with_annas_turn()
    ledger.wrote(SESSION, LIFE, Index(3), judged(ledger, given(2)), 3)

    with pytest.raises(Violation, match="I1"):
        ledger.wrote(SESSION, LIFE, Index(4), judged(ledger, given(1)), 3)


def test_i2_no_earlier_life_acts_after_a_later_one() -> None:
    ledger = ledger_with_annas_turn()
    ledger.lived(SESSION, Incarnation(2))

    with pytest.raises(Violation, match="I2"):
        ledger.lived(SESSION, LIFE)


def test_i3_epochs_go_up_and_a_life_is_given_once() -> None:
    ledger = ledger_with_annas_turn()
    ledger.granted(SESSION, LIFE, "h1")

    with pytest.raises(Violation, match="I3"):
        ledger.passed(SESSION, LIFE, BERT, Epoch(1))
    with pytest.raises(Violation, match="I3"):
        ledger.granted(SESSION, LIFE, "h2")


def test_i4_what_the_policy_denied_is_not_written() -> None:
    ledger = ledger_with_annas_turn()

    with pytest.raises(Violation, match="I4"):
        ledger.wrote(SESSION, LIFE, Index(3), judged(ledger, given(), Verdict.DENY), 3)


def test_i4_only_somebody_elses_approval_of_these_bytes_counts() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given(), Verdict.ASK)
    ledger.approved(SESSION, one, ANNA, one.digest(), Epoch(1))
    ledger.approved(SESSION, one, BERT, bytes(32), Epoch(1))
    ledger.approved(SESSION, one, BERT, one.digest(), Epoch(2))
    with pytest.raises(Violation, match="I4"):
        ledger.wrote(SESSION, LIFE, Index(3), one, 3)

    ledger.approved(SESSION, one, BERT, one.digest(), Epoch(1))
    ledger.wrote(SESSION, LIFE, Index(3), one, 3)


def test_i5_nobody_writes_without_the_turn_or_under_an_old_epoch() -> None:
    ledger = ledger_with_annas_turn()
    ledger.passed(SESSION, LIFE, BERT, Epoch(2))
    with pytest.raises(Violation, match="I5"):
        ledger.wrote(SESSION, LIFE, Index(3), judged(ledger, given()), 3)

    ledger.passed(SESSION, LIFE, ANNA, Epoch(3))
    with pytest.raises(Violation, match="I5"):
        ledger.wrote(SESSION, LIFE, Index(3), judged(ledger, given(epoch=1)), 3)


def test_i5_a_cut_is_told_with_the_right_count() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given())
    ledger.wrote(SESSION, LIFE, Index(3), one, 2)

    with pytest.raises(Violation, match="I5"):
        ledger.answered(SESSION, one, Cut(Index(3), 1), durable=9)


def test_i10_what_was_acknowledged_is_never_doubted_again() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given())
    ledger.wrote(SESSION, LIFE, Index(3), one, 3)
    ledger.heard(SESSION, ANNA, one.id, Applied(Index(3)))
    ledger.heard(SESSION, ANNA, one.id, Unknown(Index(3)))

    with pytest.raises(Violation, match="I10"):
        ledger.close()


def test_i1_what_was_refused_was_not_written() -> None:
    ledger = ledger_with_annas_turn()
    one = judged(ledger, given())
    ledger.wrote(SESSION, LIFE, Index(3), one, 1)
    ledger.heard(SESSION, ANNA, one.id, Refused(NotYourTurn("", 1)))

    with pytest.raises(Violation, match="I1"):
        ledger.close()
