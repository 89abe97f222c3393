from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.doze import LINGER, LONGEST, DozeTimer, Glimpse, Nap

FIRST = 30.0
QUIET = Glimpse(100, 7)


def woken(slept: float, patience: float = FIRST) -> DozeTimer:
    nap = Nap(1000.0, patience, QUIET.offset, QUIET.entries, 900.0)
    return DozeTimer(FIRST, 1000.0 + slept, nap)


def test_a_new_session_is_looked_at_after_the_patience() -> None:
    assert DozeTimer(FIRST, 5.0).next_deadline() == 35.0


def test_two_equal_glimpses_let_it_doze() -> None:
    machine = DozeTimer(FIRST, 0.0)

    assert not machine.look(QUIET, 30.0)
    assert machine.next_deadline() == 60.0
    assert machine.look(QUIET, 60.0)


def test_any_change_in_between_keeps_it_awake() -> None:
    machine = DozeTimer(FIRST, 0.0)
    machine.look(QUIET, 30.0)

    assert not machine.look(QUIET._replace(offset=101), 60.0)
    assert not machine.look(QUIET._replace(offset=101, entries=8), 90.0)
    assert machine.look(QUIET._replace(offset=101, entries=8), 120.0)


def test_what_is_not_free_never_dozes() -> None:
    """I1."""
    machine = DozeTimer(FIRST, 0.0)
    busy = QUIET._replace(is_free=False)

    assert not any(machine.look(busy, 30.0 * number) for number in range(1, 9))


def test_what_becomes_free_waits_for_a_whole_patience() -> None:
    """I2."""
    machine = DozeTimer(FIRST, 0.0)
    machine.look(QUIET._replace(is_free=False), 30.0)

    assert not machine.look(QUIET, 60.0)
    assert machine.look(QUIET, 90.0)


def test_whoever_was_refused_asks_again_after_a_patience() -> None:
    machine = DozeTimer(FIRST, 0.0)
    machine.look(QUIET, 30.0)
    machine.look(QUIET, 60.0)

    assert machine.next_deadline() == 90.0
    assert machine.look(QUIET, 90.0)


def test_the_nap_says_since_when_nothing_has_changed() -> None:
    machine = DozeTimer(FIRST, 0.0)
    machine.look(QUIET, 30.0)
    machine.look(QUIET, 60.0)

    assert machine.nap(60.5) == Nap(60.5, FIRST, 100, 7, 30.0)


def test_a_nap_that_nobody_looked_at_before_says_nothing_of_the_session() -> None:
    assert DozeTimer(FIRST, 3.0).nap(4.0) == Nap(4.0, FIRST, 0, 0, 3.0)


def test_who_was_woken_for_nothing_dozes_again_after_a_moment() -> None:
    machine = woken(slept=3600.0)

    assert machine.next_deadline() == 4600.0 + FIRST * LINGER
    assert machine.look(QUIET, machine.next_deadline())
    assert machine.nap(4605.0).since == 900.0


def test_who_was_woken_for_something_waits_for_a_whole_patience() -> None:
    machine = woken(slept=3600.0)
    printed = QUIET._replace(offset=101)

    assert not machine.look(printed, 4605.0)
    assert machine.next_deadline() == 4605.0 + FIRST
    assert machine.look(printed, 4635.0)


def test_a_short_sleep_makes_it_wait_twice_as_long() -> None:
    assert woken(slept=29.0).patience == 60.0
    assert woken(slept=59.0, patience=60.0).patience == 120.0


def test_a_long_sleep_makes_it_wait_as_at_first() -> None:
    assert woken(slept=30.0).patience == FIRST
    assert woken(slept=500.0, patience=480.0).patience == FIRST


def test_the_patience_has_a_bound() -> None:
    """I3."""
    assert woken(slept=0.0, patience=FIRST * LONGEST).patience == FIRST * LONGEST
    assert woken(slept=0.0, patience=1e9).patience == FIRST * LONGEST
    assert woken(slept=0.0, patience=0.0).patience == 2 * FIRST


@given(st.floats(min_value=0.01, max_value=5000.0))
def test_a_steady_pace_ends_the_dozing_or_is_worth_it(pause: float) -> None:
    """I4: whoever prints every so often wakes seldom, or is not let sleep."""
    now, wakes, machine, changed = 0.0, 0, DozeTimer(FIRST, 0.0), 0
    slept: list[float] = []
    next_print = pause
    for _ in range(2000):
        now = machine.next_deadline()
        while next_print <= now:
            changed += 1
            next_print += pause
        if not machine.look(Glimpse(changed, 0), now):
            continue
        nap = machine.nap(now)
        wakes += 1
        slept.append(next_print - now)
        waited = machine.patience
        now, changed, next_print = next_print, changed + 1, next_print + pause
        machine = DozeTimer(FIRST, now, nap)
        assert FIRST <= machine.patience <= FIRST * LONGEST
        assert machine.patience > waited or slept[-1] >= waited or waited == 960.0
    short = [one for one in slept if one < FIRST]
    assert wakes < 2000
    assert len(short) <= max(20, wakes // 2)
