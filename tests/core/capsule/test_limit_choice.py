import pytest

from holdfast.core.capsule.limit_choice import LimitChoice, choose_limits
from holdfast.core.capsule.runtime_choice import Choice
from holdfast.model.errors import DeniedByPolicy, MalformedArgument
from holdfast.model.limits import NO_LIMITS, Limits

WALLS = Choice(is_capsule=True)
PLAIN = Choice(is_capsule=False)
SMALL, LARGE = Limits(64 << 20, 500, 50), Limits(1 << 30, 2000, 500)


def test_nobody_says_anything_and_nothing_is_limited() -> None:
    chosen = choose_limits(WALLS, NO_LIMITS, NO_LIMITS, NO_LIMITS)

    assert chosen == LimitChoice(NO_LIMITS, is_required=False)


def test_what_is_asked_for_is_required() -> None:
    chosen = choose_limits(WALLS, SMALL, NO_LIMITS, LARGE)

    assert chosen == LimitChoice(SMALL, is_required=True)


def test_what_the_settings_say_is_not_required() -> None:
    chosen = choose_limits(WALLS, NO_LIMITS, NO_LIMITS, LARGE)

    assert chosen == LimitChoice(LARGE, is_required=False)


def test_the_policy_says_the_most() -> None:
    assert choose_limits(WALLS, NO_LIMITS, SMALL, NO_LIMITS).limits == SMALL
    assert choose_limits(WALLS, NO_LIMITS, SMALL, LARGE).limits == SMALL
    assert choose_limits(WALLS, SMALL, LARGE, NO_LIMITS).limits == SMALL
    assert choose_limits(WALLS, NO_LIMITS, SMALL, NO_LIMITS).is_required


def test_each_limit_is_chosen_by_itself() -> None:
    chosen = choose_limits(
        WALLS, Limits(pids=20), Limits(memory=1 << 30), Limits(millicpus=100)
    )

    assert chosen.limits == Limits(1 << 30, 100, 20)


@pytest.mark.parametrize(
    "asked", [Limits(memory=1 << 40), Limits(millicpus=3000), Limits(pids=501)]
)
def test_more_than_the_most_is_refused(asked: Limits) -> None:
    with pytest.raises(DeniedByPolicy, match="at most 1G of memory"):
        choose_limits(WALLS, asked, LARGE, NO_LIMITS)


@pytest.mark.parametrize("asked", [Limits(memory=1), Limits(pids=-3)])
def test_a_limit_that_no_session_can_live_with_is_refused(asked: Limits) -> None:
    with pytest.raises(MalformedArgument):
        choose_limits(WALLS, asked, NO_LIMITS, NO_LIMITS)


def test_a_plain_session_has_no_limits() -> None:
    assert choose_limits(PLAIN, NO_LIMITS, NO_LIMITS, SMALL) == LimitChoice()
    with pytest.raises(MalformedArgument, match="without a capsule"):
        choose_limits(PLAIN, SMALL, NO_LIMITS, NO_LIMITS)
    with pytest.raises(DeniedByPolicy, match="without a capsule"):
        choose_limits(PLAIN, NO_LIMITS, SMALL, NO_LIMITS)
