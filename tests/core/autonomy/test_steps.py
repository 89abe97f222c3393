"""Which step the figures speak for, and which they demand."""

import pytest
from tests.core.autonomy.book import ANNA, BOT
from tests.core.autonomy.test_figures import MAKE, act, good

from holdfast.core.autonomy.effects import Effects
from holdfast.core.autonomy.figures import UNTOLD, scored
from holdfast.core.autonomy.ladder import MAX_RUNGS, Ladder, Step
from holdfast.core.autonomy.steps import (
    counting,
    proposed,
    retreats,
    since_last_step,
)
from holdfast.core.autonomy.trace import Act
from holdfast.core.policy.policy import AUTONOMY
from holdfast.model.verdicts import Verdict

CEILING = {BOT: Verdict.ALLOW}
ASKED = {"verdict": "ask", "rule": "default-agent"}
ENOUGH = 35


def many(count: int, **more: object) -> list[Act]:
    return [good(**{**ASKED, **more}) for _ in range(count)]


def at(rung: Verdict) -> Ladder:
    return Ladder({(BOT, MAKE): rung}, 1)


def test_what_is_surely_clean_is_proposed_one_rung_higher() -> None:
    step = proposed(scored(many(ENOUGH)), Ladder(), CEILING)

    assert step is not None
    assert (step.actor, step.action) == (BOT, MAKE)
    assert (step.before, step.after) == (Verdict.ASK, Verdict.PREVIEW)
    assert f"{ENOUGH} of {ENOUGH}" in step.why


def test_what_is_not_surely_clean_is_not_proposed() -> None:
    assert proposed(scored(many(ENOUGH - 1)), Ladder(), CEILING) is None


def test_acts_whose_effects_nobody_compared_earn_nothing() -> None:
    acts = many(500, effects=Effects.UNDECIDED)

    assert proposed(scored(acts), Ladder(), CEILING) is None


@pytest.mark.parametrize(
    "more", [{"effects": Effects.UNINTENDED}, {"was_seized": True}]
)
def test_one_unintended_effect_or_seizure_stands_in_the_way(
    more: dict[str, object],
) -> None:
    acts = [*many(500), *many(1, **more)]

    assert proposed(scored(acts), Ladder(), CEILING) is None


def test_what_was_denied_can_be_asked_about_after_a_few_requests() -> None:
    denied = {"verdict": "deny", "rule": "default-agent", "code": "denied"}

    assert proposed(scored([act(**denied)] * 4), Ladder(), CEILING) is None
    step = proposed(scored([act(**denied)] * 5), Ladder(), CEILING)

    assert step is not None
    assert (step.before, step.after) == (Verdict.DENY, Verdict.ASK)


def test_nothing_is_proposed_that_a_rule_decides_about() -> None:
    by_rule = many(ENOUGH, rule="no-make")

    assert proposed(scored(by_rule), Ladder(), CEILING) is None


def test_a_rung_is_climbed_from_where_the_operator_stands() -> None:
    acts = many(ENOUGH, verdict="preview", rule=AUTONOMY)

    step = proposed(scored(acts), at(Verdict.PREVIEW), CEILING)

    assert step is not None
    assert step.after is Verdict.ALLOW


def test_nothing_is_proposed_above_the_ceiling_or_for_who_has_none() -> None:
    acts = many(ENOUGH)

    assert proposed(scored(acts), Ladder(), {BOT: Verdict.ASK}) is None
    assert proposed(scored(acts), Ladder(), {ANNA: Verdict.ALLOW}) is None


def test_what_is_allowed_already_is_not_proposed() -> None:
    allowed = many(ENOUGH, verdict="allow")

    assert proposed(scored(allowed), Ladder(), CEILING) is None


def test_many_harmless_acts_earn_nothing_for_a_harmful_kind() -> None:
    harmless = many(1000, actions=("/usr/bin/ls",))
    harmful = many(3, actions=("/usr/bin/rm -r x",))

    step = proposed(scored([*harmless, *harmful]), Ladder(), CEILING)

    assert step is not None
    assert step.action == "/usr/bin/ls"


def test_a_harmful_command_behind_harmless_ones_earns_nothing() -> None:
    both = many(1000, actions=("builtin true", "/usr/bin/rm -r x"))

    assert proposed(scored(both), Ladder(), CEILING) is None


def test_what_has_no_kind_is_not_proposed() -> None:
    untold = many(ENOUGH, actions=())

    assert (BOT, UNTOLD) in scored(untold).kinds
    assert proposed(scored(untold), Ladder(), CEILING) is None


def test_a_full_ladder_takes_no_further_kind() -> None:
    full = Ladder({(BOT, f"k{n}"): Verdict.ASK for n in range(MAX_RUNGS)}, MAX_RUNGS)

    assert proposed(scored(many(ENOUGH)), full, CEILING) is None


def test_the_kind_that_most_speaks_for_is_proposed_first() -> None:
    acts = [*many(ENOUGH), *many(ENOUGH + 9, actions=("/usr/bin/ls",))]

    step = proposed(scored(acts), Ladder(), CEILING)

    assert step is not None
    assert step.action == "/usr/bin/ls"


def test_a_bad_score_takes_one_step_back() -> None:
    acts = [*many(1), *many(2, status=1)]

    found = retreats(scored(acts), at(Verdict.PREVIEW), CEILING)

    why = found[0].why
    assert found == (Step(BOT, MAKE, Verdict.PREVIEW, Verdict.ASK, why),)
    assert "1 of 3" in why


def test_a_single_failure_takes_nothing_back() -> None:
    acts = many(1, status=1)

    assert retreats(scored(acts), at(Verdict.ALLOW), CEILING) == ()


def test_one_unintended_effect_is_enough_where_nobody_is_asked() -> None:
    acts = [*many(500), *many(1, effects=Effects.UNINTENDED)]

    assert len(retreats(scored(acts), at(Verdict.ALLOW), CEILING)) == 1
    assert retreats(scored(acts), at(Verdict.PREVIEW), CEILING) == ()


def test_between_the_two_bounds_nothing_moves() -> None:
    acts = [*many(18), *many(2, status=1)]

    score, ladder = scored(acts), at(Verdict.PREVIEW)
    assert proposed(score, ladder, CEILING) is None
    assert retreats(score, ladder, CEILING) == ()


def test_what_was_never_stepped_on_is_not_taken_back() -> None:
    bad = many(9, status=1)

    assert retreats(scored(bad), Ladder(), CEILING) == ()
    assert retreats(scored(bad), at(Verdict.DENY), CEILING) == ()
    assert retreats(scored(bad), at(Verdict.ASK), {}) == ()
    assert retreats(scored([]), at(Verdict.ASK), CEILING) == ()


def test_only_policies_in_force_since_the_last_step_of_a_kind_count() -> None:
    make, ls = (BOT, MAKE), (BOT, "/usr/bin/ls")
    book = [(None, "aaaa"), (make, "bbbb"), (ls, "cccc"), (make, "dddd"), (None, "ee")]

    assert since_last_step(book, 2) == {
        make: frozenset({"dd", "ee"}),
        ls: frozenset({"cc", "dd", "ee"}),
    }


def test_acts_from_before_the_last_step_of_their_kind_do_not_count() -> None:
    counts = counting({(BOT, MAKE): frozenset({"dd"})})

    assert counts(good(policy="dd"), MAKE)
    assert not counts(good(policy="bb"), MAKE)
    assert counts(good(policy="bb"), "/usr/bin/ls")
