from tests.core.desk import ANNA, BOT

from holdfast.core.input.intake_effects import Judging
from holdfast.model.ids import ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.verdicts import Verdict

GIVEN = Input(
    InputId(ClientId("c"), 1), BOT, InputKind.KEYS, Incarnation(1), Epoch(1), b"x"
)


def test_an_admission_names_the_others_who_staged_it_and_the_policy() -> None:
    staged = (BOT, ANNA)
    waiting = Judging(1, GIVEN, originators=staged, verdict=Verdict.ASK, policy="d1")

    by = waiting.admission("careful", ANNA)

    assert (by.verdict, by.rule, by.approver) == (Verdict.ASK, "careful", ANNA)
    assert (by.originators, by.policy) == ([ANNA], "d1")


def test_what_was_let_through_without_a_verdict_was_allowed() -> None:
    assert Judging(1, GIVEN).admission("all", None).verdict is Verdict.ALLOW
