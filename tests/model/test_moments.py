import math

from holdfast.model.moments import Moment


def test_a_moment_is_told_by_all_clocks() -> None:
    moment = Moment(now=5.0, wall=1_800_000_000.0, boot=7.0)

    assert (moment.now, moment.wall, moment.boot) == tuple(moment)


def test_a_clock_that_was_not_read_is_past_every_lease() -> None:
    assert Moment(5.0, 1_800_000_000.0).boot == math.inf
