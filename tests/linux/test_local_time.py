import time
from datetime import datetime

import pytest

from holdfast.linux.local_time import local_time
from holdfast.model.policy_questions import LocalTime


@pytest.mark.parametrize("zone", ["UTC-7", "UTC-19"])  # Of two, one is not at midnight.
def test_the_clock_on_the_wall_says_minutes_of_the_day_and_which_day(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        before, found, after = datetime.now(), local_time(), datetime.now()  # noqa: DTZ005  # as people have it
    finally:
        monkeypatch.undo()
        time.tzset()

    assert found in [
        LocalTime(one.hour * 60 + one.minute, one.weekday()) for one in (before, after)
    ]
