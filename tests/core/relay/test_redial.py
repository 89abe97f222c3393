from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.relay.redial import FIRST, HASTE, LONGEST, STEADY, Redial

chances = st.floats(0, 1)


@given(st.lists(chances, min_size=1, max_size=200), st.sampled_from([2.0, LONGEST]))
def test_i1_no_wait_is_too_long_or_too_short(
    drawn: list[float], longest: float
) -> None:
    redial = Redial(longest)

    for chance in drawn:
        assert FIRST / 2 <= redial.wait_after(0.0, chance) <= longest


def test_waits_grow_with_every_failure_up_to_the_longest() -> None:
    redial = Redial()

    waits = [redial.wait_after(0.0, 0.0) for _ in range(40)]

    assert waits[0] == FIRST
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST


def test_chance_takes_off_up_to_half() -> None:
    assert Redial().wait_after(0.0, 1.0) == FIRST / 2


@given(st.integers(0, 40), chances, st.floats(-10, 100))
def test_i2_no_lease_is_slept_through(
    failures: int, chance: float, left: float
) -> None:
    redial = Redial()
    for _ in range(failures):
        redial.wait_after(0.0, 0.0)

    assert redial.wait_after(0.0, chance, left) <= max(HASTE, left)


def test_i2_a_deadline_shortens_a_wait_and_never_lengthens_it() -> None:
    redial = Redial()
    for _ in range(40):
        redial.wait_after(0.0, 0.0)

    assert redial.wait_after(5.0, 0.0, deadline=7.0) == 2.0
    assert redial.wait_after(5.0, 0.0, deadline=4.0) == HASTE
    assert redial.wait_after(5.0, 0.0, deadline=5.0 + 2 * LONGEST) == LONGEST


def test_i3_a_link_that_held_makes_the_next_wait_short() -> None:
    redial = Redial()
    for _ in range(10):
        redial.wait_after(0.0, 0.0)
    redial.linked(10.0)

    assert redial.wait_after(10.0 + STEADY, 0.0) == FIRST


def test_i3_a_link_that_is_dropped_at_once_does_not() -> None:
    redial = Redial()
    redial.wait_after(0.0, 0.0)
    redial.linked(10.0)

    assert redial.wait_after(10.0 + STEADY / 2, 0.0) > FIRST
