import select
import time
from collections.abc import Iterator

import pytest

from holdfast.linux.boot_timer import BootTimer


@pytest.fixture
def timer() -> Iterator[BootTimer]:
    made = BootTimer()
    yield made
    made.close()


def is_ready(timer: BootTimer, patience: float = 0.0) -> bool:
    return bool(select.select([timer], [], [], patience)[0])


def test_it_waits_for_nothing_until_it_is_told(timer: BootTimer) -> None:
    assert not is_ready(timer)
    timer.clear()


def test_it_is_ready_at_its_time_by_the_clock_of_leases(timer: BootTimer) -> None:
    at = time.clock_gettime(time.CLOCK_BOOTTIME) + 0.02
    timer.set(at)

    assert is_ready(timer, 10)
    assert time.clock_gettime(time.CLOCK_BOOTTIME) >= at
    timer.clear()
    assert not is_ready(timer)


@pytest.mark.parametrize("past", [0.0, -5.0, 0.5])
def test_what_is_past_is_ready_at_once(timer: BootTimer, past: float) -> None:
    timer.set(past)

    assert is_ready(timer, 10)


def test_it_can_be_told_to_wait_for_nothing(timer: BootTimer) -> None:
    timer.set(0.0)
    timer.set(None)

    assert not is_ready(timer)
