"""Three clocks, for three purposes.

`now` is seconds of a clock that only runs forward; everything is decided by it.
`wall` is what a calendar says, in seconds since 1970; it is written down for
people and decides nothing but the expiry of grants, which outlive processes.
`boot` runs forward through suspend as well (CLOCK_BOOTTIME): leases are asked by it.
"""

import math
from typing import NamedTuple


class Moment(NamedTuple):
    """One instant on all clocks."""

    now: float
    wall: float
    boot: float = math.inf
    """Not read: every lease has run out by then, so nobody speaks by mistake."""
