from hypothesis import given
from hypothesis import strategies as st
from tests.core.driven_intake import ANNA, AT, BOT, DrivenIntake

from holdfast.core.input import turn
from holdfast.core.input.budget import Budget
from holdfast.core.input.intake_effects import Consult
from holdfast.model.actors import ActorKind
from holdfast.model.ids import Incarnation
from holdfast.model.verdicts import Verdict

ONE = {ActorKind.AGENT: Budget(inputs_per_minute=1)}


def spent_desk() -> DrivenIntake:
    here = DrivenIntake()
    here.intake.budgets.adopt(ONE)
    here.send()
    here.judge(Verdict.DENY)
    here.told.clear()
    return here


def test_t31_what_is_over_the_budget_is_not_even_judged() -> None:
    here = spent_desk()
    entries = len(here.entries)

    here.send(2)

    assert here.codes() == ["budget-spent"]
    assert not [one for one in here.told if isinstance(one, Consult)]
    assert len(here.entries) == entries


def test_a_spent_budget_takes_no_free_turn() -> None:
    here = spent_desk()
    here.do(here.intake.request(turn.Dropped(BOT), AT))

    here.send(2)

    assert here.intake.turn.holder is None


def test_trying_without_the_turn_is_an_input_like_any_other() -> None:
    here = DrivenIntake()
    here.intake.budgets.adopt(ONE)
    here.do(here.intake.request(turn.Seized(ANNA), AT))

    here.send(1)
    here.send(2)

    assert here.codes() == ["not-your-turn", "budget-spent"]


def test_what_is_approved_after_a_while_is_paid_for_once() -> None:
    here = DrivenIntake()
    here.intake.budgets.adopt(ONE)
    here.send()

    here.judge(Verdict.ALLOW)
    here.write()

    assert here.codes() == []
    assert "input" in here.kinds()


def test_an_input_of_another_life_is_not_said_to_be_undone_for_its_cost() -> None:
    here = spent_desk()

    here.send(2, incarnation=Incarnation(7))

    assert here.codes() == ["stale-incarnation"]


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
    here = DrivenIntake()
    here.intake.turn.adopt(turn_rules)
    here.intake.budgets.adopt(spending)
    for sequence in range(1, sent + 1):
        here.send(sequence)
        here.send(sequence, actor=ANNA)
    if asks:
        here.do(here.intake.request(turn.AskedFor(ANNA, 5), AT))
    epoch = here.intake.turn.epoch

    here.do(here.intake.seize(ANNA, AT))

    assert (here.intake.turn.holder, here.intake.turn.epoch) == (ANNA, epoch + 1)
