from holdfast.keeper.backoff import Backoff


def deaths_in_a_row(backoff: Backoff, count: int) -> list[float]:
    delays = []
    for _ in range(count):
        backoff.born(now=1)
        delays.append(backoff.died(now=1) - 1)
    return delays


def test_i1_the_delay_grows_up_to_its_bound() -> None:
    delays = deaths_in_a_row(Backoff(patient=3, calm=5, max_delay=2), 60)

    assert delays[:3] == [0, 0, 0]
    assert delays == sorted(delays)
    assert delays[3] > 0
    assert delays[-1] == 2


def test_i2_a_death_after_a_calm_life_counts_as_the_first() -> None:
    backoff = Backoff(patient=3, calm=5, max_delay=2)
    deaths_in_a_row(backoff, 20)
    backoff.born(now=100)

    assert backoff.died(now=106) == 106
    assert backoff.deaths == 1
