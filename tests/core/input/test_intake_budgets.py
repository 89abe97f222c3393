from hypothesis import given
from hypothesis import strategies as st
from tests.core.desk import ANNA, AT, BOT, Desk

from holdfast.core.input import turn
from holdfast.core.input.budget import Budget
from holdfast.core.input.intake_effects import Consult
from holdfast.model.actors import ActorKind
from holdfast.model.ids import Incarnation
from holdfast.model.verdicts import Verdict

ONE = {ActorKind.AGENT: Budget(inputs_per_minute=1)}


def spent_desk() -> Desk:
    desk = Desk()
    desk.intake.budgets.adopt(ONE)
    desk.send()
    desk.judge(Verdict.DENY)
    desk.told.clear()
    return desk


def test_t31_what_is_over_the_budget_is_not_even_judged() -> None:
    desk = spent_desk()
    entries = len(desk.entries)

    desk.send(2)

    assert desk.codes() == ["budget-spent"]
    assert not [one for one in desk.told if isinstance(one, Consult)]
    assert len(desk.entries) == entries


def test_a_spent_budget_takes_no_free_turn() -> None:
    desk = spent_desk()
    desk.do(desk.intake.request(turn.Dropped(BOT), AT))

    desk.send(2)

    assert desk.intake.turn.holder is None


def test_trying_without_the_turn_is_an_input_like_any_other() -> None:
    desk = Desk()
    desk.intake.budgets.adopt(ONE)
    desk.do(desk.intake.request(turn.Seized(ANNA), AT))

    desk.send(1)
    desk.send(2)

    assert desk.codes() == ["not-your-turn", "budget-spent"]


def test_what_is_approved_after_a_while_is_paid_for_once() -> None:
    desk = Desk()
    desk.intake.budgets.adopt(ONE)
    desk.send()

    desk.judge(Verdict.ALLOW)
    desk.write()

    assert desk.codes() == []
    assert "input" in desk.kinds()


def test_an_input_of_another_life_is_not_said_to_be_undone_for_its_cost() -> None:
    desk = spent_desk()

    desk.send(2, incarnation=Incarnation(7))

    assert desk.codes() == ["stale-incarnation"]


rules = st.builds(
    turn.TurnRules,
    st.none() | st.floats(1, 100),
    st.floats(0, 100),
    st.sampled_from(turn.AskDefault),
    st.sampled_from((turn.first, turn.human_first)),
    st.dictionaries(st.sampled_from(ActorKind), st.floats(1, 100)),
)
budgets = st.dictionaries(
    st.sampled_from(ActorKind), st.builds(Budget, st.just(1), st.integers(1, 3))
)


@given(rules, budgets, st.integers(0, 5), st.booleans())
def test_t19_no_rule_and_no_budget_stands_before_a_seize(
    turn_rules: turn.TurnRules,
    spending: dict[ActorKind, Budget],
    sent: int,
    asks: bool,  # noqa: FBT001  # hypothesis hands it over by place
) -> None:
    desk = Desk()
    desk.intake.turn.adopt(turn_rules)
    desk.intake.budgets.adopt(spending)
    for sequence in range(1, sent + 1):
        desk.send(sequence)
        desk.send(sequence, actor=ANNA)
    if asks:
        desk.do(desk.intake.request(turn.AskedFor(ANNA, 5), AT))
    epoch = desk.intake.turn.epoch

    desk.do(desk.intake.seize(ANNA, AT))

    assert (desk.intake.turn.holder, desk.intake.turn.epoch) == (ANNA, epoch + 1)
