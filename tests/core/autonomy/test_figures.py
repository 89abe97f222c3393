"""How acts are counted, and how sure the counts are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.autonomy.book import ANNA, BOT, SESSION

from holdfast.core.autonomy.effects import Effects
from holdfast.core.autonomy.figures import (
    UNTOLD,
    Figures,
    Proportion,
    label_of,
    scored,
)
from holdfast.core.autonomy.trace import Act

MAKE = "/usr/bin/make"


def act(**more: object) -> Act:
    made = Act(BOT, SESSION, 0, 0, actions=(MAKE,), input="command", verdict="allow")
    for name, value in more.items():
        setattr(made, name, value)
    return made


def good(**more: object) -> Act:
    told = {"effects": Effects.MATCHED, "status": 0, "has_ended": True}
    return act(**{**told, **more})


@pytest.mark.parametrize(
    ("good_ones", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (35, 35, 0.9011, 1.0)],
)
def test_an_interval_is_wilson_s(
    good_ones: int, of: int, low: float, high: float
) -> None:
    assert Proportion(good_ones, of).interval == pytest.approx((low, high), abs=1e-4)


def test_of_nothing_nothing_is_known() -> None:
    assert Proportion(0, 0).interval == (0.0, 1.0)
    assert Proportion(0, 0).rate is None


@given(st.integers(0, 500), st.integers(0, 500))
def test_no_proportion_leaves_its_interval(good_ones: int, bad: int) -> None:
    found = Proportion(good_ones, good_ones + bad)
    low, high = found.interval

    assert 0.0 <= low <= high <= 1.0
    assert found.rate is None or low <= found.rate <= high


def test_acts_are_counted_by_what_came_of_them() -> None:
    acts = [
        good(duration_ms=30),
        good(duration_ms=10, attempt=2),
        good(status=1, duration_ms=20),
        act(effects=Effects.UNINTENDED, verdict="ask", approver=ANNA),
        act(verdict="ask", code="denied-by-operator", denied_by=ANNA),
        act(verdict="deny", code="denied"),
        act(verdict="", code="stale-epoch"),
        act(was_seized=True),
    ]

    figures = scored(acts).kinds[BOT, MAKE]

    assert (figures.acts, figures.invalid, figures.ran) == (8, 1, 5)
    assert (figures.asked, figures.approved) == (2, 1)
    assert (figures.denied_by_operators, figures.denied_by_policy) == (1, 1)
    assert (figures.succeeded, figures.failed) == (2, 1)
    assert (figures.matched, figures.unintended, figures.undecided) == (3, 1, 1)
    assert (figures.clean, figures.unclean, figures.seized) == (2, 4, 1)
    assert (figures.retried, figures.median_ms) == (1, 20)
    assert figures.validity == Proportion(7, 8)
    assert figures.success == Proportion(2, 3)
    assert figures.cleanness == Proportion(2, 6)


def test_what_was_said_of_the_newest_act_is_kept() -> None:
    newer = good(at_wall_ms=9, verdict="ask", rule="default-agent")
    figures = scored([newer, good(at_wall_ms=3, rule="old")]).kinds[BOT, MAKE]

    assert (figures.verdict, figures.rule) == ("ask", "default-agent")
    assert Figures().median_ms is None


def test_a_line_of_several_kinds_earns_nothing_and_loses_for_each() -> None:
    kinds = (MAKE, "/usr/bin/rm x")
    score = scored([good(actions=kinds), good(actions=kinds, status=1)])

    for kind in kinds:
        figures = score.kinds[BOT, kind]
        assert (figures.clean, figures.succeeded, figures.acts) == (0, 0, 0)
        assert (figures.unclean, figures.failed) == (1, 1)
    assert score.total[BOT].acts == 2


def test_acts_of_one_kind_or_operator_change_no_count_of_another() -> None:
    score = scored([good(), good(actor=ANNA), good(actions=("/usr/bin/ls",))])

    assert {key: one.acts for key, one in score.kinds.items()} == {
        (BOT, MAKE): 1,
        (ANNA, MAKE): 1,
        (BOT, "/usr/bin/ls"): 1,
    }


def test_only_acts_that_count_are_counted() -> None:
    acts = [good(policy="a"), good(policy="b")]
    score = scored(acts, lambda one, _kind: one.policy == "a")

    assert score.kinds[BOT, MAKE].acts == 1
    assert score.total[BOT].acts == 2


def test_what_has_no_kind_is_listed_in_brackets() -> None:
    assert label_of(act(actions=())) == UNTOLD
    assert label_of(act(input="", code="denied")) == UNTOLD
    assert label_of(act(input="signal")) == "(signal)"
    assert label_of(act(input="", act="fork")) == "(fork)"
    assert label_of(act(input="", act="")) == "(nothing)"
