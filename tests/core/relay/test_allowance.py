from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.relay.allowance import Allowance

RATE, BURST = 10.0, 100.0

steps = st.lists(
    st.tuples(st.sampled_from((0.0, 0.5, 3.0, 20.0)), st.integers(0, 120)), max_size=50
)


def test_a_burst_is_let_through_and_then_as_much_as_the_rate() -> None:
    allowance = Allowance(RATE, BURST, now=0)

    assert allowance.spend(100, now=0)
    assert not allowance.spend(1, now=0)
    assert allowance.spend(10, now=1)
    assert not allowance.spend(1, now=1)


def test_it_fills_up_to_its_bound_and_no_further() -> None:
    allowance = Allowance(RATE, BURST, now=0)

    assert not allowance.spend(101, now=1000)
    assert allowance.spend(100, now=1000)


def test_i2_what_was_not_let_through_takes_nothing_away() -> None:
    allowance = Allowance(RATE, BURST, now=0)

    assert not allowance.spend(101, now=0)
    assert allowance.spend(100, now=0)


@given(steps)
def test_i1_no_more_than_burst_and_rate_is_let_through(
    story: list[tuple[float, int]],
) -> None:
    allowance = Allowance(RATE, BURST, now=0)
    now = 0.0
    passed: list[tuple[float, int]] = []
    for pause, amount in story:
        now += pause
        if allowance.spend(amount, now):
            passed.append((now, amount))

    for first, (since, _) in enumerate(passed):
        for last in range(first, len(passed)):
            until = passed[last][0]
            total = sum(amount for _, amount in passed[first : last + 1])
            assert total <= BURST + RATE * (until - since)
