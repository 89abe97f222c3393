"""The current time, by both clocks."""

import time

from holdfast.model.moments import Moment


def now() -> Moment:
    """Return both clocks."""
    # Asked several times for every key: this is what Moment() does, in one call less.
    return tuple.__new__(Moment, (time.monotonic(), time.time_ns() / 1e9))
