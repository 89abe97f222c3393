import pytest
from tests.core.client.world import SESSION

from holdfast.core.client.time_limit import ENDLESS, TimeLimit, limit_of
from holdfast.model.errors import SessionUnreachable, WaitedInVain

GONE = SessionUnreachable(SESSION, "it hung up")


def limit() -> TimeLimit:
    return limit_of(5, "the turn", now=5)


def test_before_the_moment_nothing_is_raised() -> None:
    limit().demand(9.9)
    limit().cut(GONE, 9.9)


def test_at_the_moment_the_time_is_up() -> None:
    with pytest.raises(WaitedInVain) as raised:
        limit().demand(10)

    assert (raised.value.what, raised.value.waited_ms) == ("the turn", 5000)


def test_a_link_that_breaks_at_the_moment_is_the_last() -> None:
    with pytest.raises(SessionUnreachable) as raised:
        limit().cut(GONE, 10)

    assert raised.value is GONE


def test_the_moment_can_be_brought_forward() -> None:
    given_up = limit()
    given_up.until = 3

    with pytest.raises(WaitedInVain):
        given_up.demand(3)


def test_without_a_limit_there_is_always_time() -> None:
    ENDLESS.demand(1e12)
    ENDLESS.cut(GONE, 1e12)
