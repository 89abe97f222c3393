"""The time of day here, as rules name it."""

import time
from functools import lru_cache

from holdfast.model.policy_questions import LocalTime

_MINUTE_NS = 60_000_000_000


def local_time() -> LocalTime:
    """Return what a clock on the wall says."""
    # Asked twice for every exec: it says the same for a minute.
    return _local_time(time.time_ns() // _MINUTE_NS, time.timezone, time.altzone)


@lru_cache(maxsize=1)
def _local_time(minute: int, *_zone: int) -> LocalTime:
    now = time.localtime(minute * 60)
    return LocalTime(now.tm_hour * 60 + now.tm_min, now.tm_wday)
