from holdfast.model.moments import Moment


def test_a_moment_is_told_by_both_clocks() -> None:
    moment = Moment(now=5.0, wall=1_800_000_000.0)

    assert (moment.now, moment.wall) == tuple(moment)
