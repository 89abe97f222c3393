"""A seed is a schedule, and a schedule has everything in it."""

import pytest
from tests.chaos.schedule import INSTANT, KINDS, LONGEST, PACE, VICTIMS, schedule


def test_the_same_seed_repeats_the_same_schedule() -> None:
    assert schedule(7, 60.0) == schedule(7, 60.0)


def test_another_seed_is_another_schedule() -> None:
    assert schedule(7, 60.0) != schedule(8, 60.0)


def test_a_longer_run_begins_as_a_shorter_one_does() -> None:
    short, long = schedule(7, 30.0), schedule(7, 90.0)

    assert [one.at for one in long[: len(short)]] == [one.at for one in short]
    assert [one.kind for one in long[: len(short)]] == [one.kind for one in short]


@pytest.mark.parametrize("seed", range(20))
def test_the_first_faults_are_one_of_each_kind(seed: int) -> None:
    first = schedule(seed, 60.0)[: len(KINDS)]

    assert {one.kind for one in first} == set(KINDS)


def test_three_minutes_meet_every_victim() -> None:
    faults = schedule(0, 180.0)

    for kind in ("kill", "stop"):
        assert {one.victim for one in faults if one.kind == kind} == set(VICTIMS)
    assert 180 / PACE / 2 < len(faults) < 180 / PACE * 2


@pytest.mark.parametrize("seed", range(20))
def test_every_fault_is_over_soon(seed: int) -> None:
    for fault in schedule(seed, 20.0):
        assert 0 <= fault.at < 20.0
        assert fault.seconds <= LONGEST
        assert (fault.seconds == 0) == (fault.kind in INSTANT)


def test_a_fault_is_named_in_a_few_words() -> None:
    texts = {str(one) for one in schedule(0, 180.0)}

    assert "kill keeper" in texts
    assert any(one.startswith("stop relay for ") for one in texts)
