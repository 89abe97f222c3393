"""I1 to I4 of core/autonomy/steps.py, and I1 and I2 of the ladder, for any story."""

from hypothesis import given
from hypothesis import strategies as st
from tests.core.autonomy.book import ANNA, BOT
from tests.core.autonomy.test_figures import act

from holdfast.core.autonomy.effects import Effects
from holdfast.core.autonomy.figures import scored
from holdfast.core.autonomy.ladder import RUNGS, Ladder, is_kind, may_step
from holdfast.core.autonomy.steps import proposed, retreats
from holdfast.core.autonomy.trace import Act
from holdfast.model.actors import ActorKind
from holdfast.model.verdicts import Verdict

KINDS = ["/usr/bin/ls", "/usr/bin/make", "/usr/bin/rm x"]
actors = st.sampled_from([BOT, ANNA])
verdicts = st.sampled_from(RUNGS)


@st.composite
def groups(draw: st.DrawFn) -> list[Act]:
    """Draw acts that are alike."""
    kinds = draw(st.lists(st.sampled_from(KINDS), max_size=2, unique=True))
    told: dict[str, object] = {
        "actor": draw(actors),
        "actions": tuple(kinds),
        "verdict": draw(verdicts).value,
        "rule": draw(st.sampled_from(["default-agent", "autonomy", "some-rule"])),
        "effects": draw(st.sampled_from(Effects)),
        "status": draw(st.sampled_from([0, 1, None])),
        "has_ended": draw(st.booleans()),
        "was_seized": draw(st.sampled_from([False, False, True])),
    }
    return [act(**told)] * draw(st.sampled_from([1, 2, 5, 40]))


stories = st.lists(groups(), max_size=5).map(
    lambda all_: [one for g in all_ for one in g]
)
ladders = st.dictionaries(st.tuples(actors, st.sampled_from(KINDS)), verdicts).map(
    lambda rungs: Ladder(rungs, len(rungs))
)
ceilings = st.dictionaries(actors, verdicts)


@given(stories, ladders, ceilings)
def test_every_step_is_one_rung_and_none_goes_up_without_a_human(
    story: list[Act], ladder: Ladder, tops: dict[str, Verdict]
) -> None:
    score = scored(story)
    up, down = proposed(score, ladder, tops), retreats(score, ladder, tops)

    for step in (*down, *([] if up is None else [up])):
        assert abs(RUNGS.index(step.after) - RUNGS.index(step.before)) == 1
        assert is_kind(step.action)
        assert step.actor in tops
        assert may_step(step, ActorKind.HUMAN, ladder)
        assert may_step(step, None, ladder) is not step.is_up
        assert may_step(step, ActorKind.AGENT, ladder) is not step.is_up
    assert all(not step.is_up for step in down)
    if up is not None:
        assert up.is_up
        assert RUNGS.index(up.after) <= RUNGS.index(tops[up.actor])
        assert score.kinds[up.actor, up.action].rule != "some-rule"
        assert (up.actor, up.action) not in {(one.actor, one.action) for one in down}


@given(stories, ladders, ceilings, groups())
def test_acts_of_one_operator_and_kind_move_no_rung_of_another(
    story: list[Act], ladder: Ladder, tops: dict[str, Verdict], more: list[Act]
) -> None:
    before = retreats(scored(story), ladder, tops)
    after = retreats(scored([*story, *more]), ladder, tops)

    touched = {(one.actor, kind) for one in more for kind in one.actions}
    assert {one for one in before if (one.actor, one.action) not in touched} == {
        one for one in after if (one.actor, one.action) not in touched
    }
