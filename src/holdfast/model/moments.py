"""Two clocks, for two purposes.

`now` is seconds of a clock that only runs forward; everything is decided by it.
`wall` is what a calendar says, in seconds since 1970; it is written down for
people and decides nothing but the expiry of grants, which outlive processes.
"""

from typing import NamedTuple


class Moment(NamedTuple):
    """One instant on both clocks."""

    now: float
    wall: float
