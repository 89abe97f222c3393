from dataclasses import replace

import msgspec
from tests.core.driven_intake import ANNA, BOT

from holdfast.core.input import gate
from holdfast.core.input.intake_effects import Judging, Settings
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ClientId, Epoch, Incarnation, SessionId
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


def test_a_life_that_was_moved_owes_an_answer_to_inputs_of_those_before() -> None:
    third = Settings(SessionId("s_x"), Incarnation(3), b"k")
    moved = replace(third, since=Incarnation(2))
    made = [msgspec.structs.replace(GIVEN, incarnation=life) for life in (1, 2, 3, 4)]

    assert [third.owes(one) for one in made] == [False, False, True, False]
    assert [moved.owes(one) for one in made] == [False, True, True, False]


def test_the_entry_of_an_input_made_before_a_move_says_for_which_life() -> None:
    here = Settings(SessionId("s_x"), Incarnation(1), b"k")
    moved = Settings(SessionId("s_x"), Incarnation(2), b"k", since=Incarnation(1))
    admitted = gate.Admit(1, "all", None)

    plain = Judging(1, GIVEN).fields(admitted, ActorKind.AGENT, here)
    later = Judging(1, GIVEN).fields(admitted, ActorKind.AGENT, moved)

    assert later == {**plain, "life": 1}
