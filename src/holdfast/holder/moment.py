"""What time is it?"""

import time

from holdfast.model.moments import Moment


def now() -> Moment:
    """Return both clocks."""
    return Moment(time.monotonic(), time.time_ns() / 1e9)
