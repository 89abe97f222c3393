from holdfast.keeper.backoff import Backoff


def deaths_in_a_row(backoff: Backoff, count: int) -> list[float]:
    delays = []
    for _ in range(count):
        backoff.born(now=1)
        backoff.died(now=1)
        assert backoff.restart_at is not None
        delays.append(backoff.restart_at - 1)
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

    backoff.died(now=106)

    assert backoff.restart_at == 106
    assert backoff.deaths == 1


def test_i3_a_death_is_answered_by_one_restart() -> None:
    backoff = Backoff(patient=0, calm=5, max_delay=2)
    backoff.born(now=10)
    backoff.died(now=10)
    due = backoff.restart_at

    assert due is not None
    assert due > 10
    assert [backoff.take_due(at) for at in (10, due, due, due + 1)] == [
        False,
        True,
        False,
        False,
    ]


def test_i3_what_runs_again_is_not_restarted() -> None:
    backoff = Backoff(patient=3, calm=5, max_delay=2)
    backoff.died(now=10)

    backoff.born(now=11)

    assert not backoff.take_due(now=100)
