import math

from holdfast.holder.timers import Timer, Timers


class Part:
    """A part that was called at some moments."""

    def __init__(self, timers: Timers, *, again: float | None = None) -> None:
        self.called: list[float] = []
        self._again = again
        self.timer: Timer = timers.add(self._tick)

    def _tick(self, now: float) -> None:
        self.called.append(now)
        self.timer.set(self._again)
        self._again = None


def test_without_anybody_who_waits_there_is_no_deadline() -> None:
    timers = Timers()
    part = Part(timers)
    timers.tick(1.0)

    assert timers.first == math.inf
    assert part.called == []


def test_the_earliest_deadline_is_the_first() -> None:
    timers = Timers()
    early, late = Part(timers), Part(timers)
    late.timer.set(7.0)
    early.timer.set(3.0)

    assert timers.first == 3.0
    timers.tick(3.0)
    assert (early.called, late.called) == ([3.0], [])
    assert timers.first == 7.0


def test_what_was_called_is_called_again_only_if_it_says_so() -> None:
    timers = Timers()
    once, twice = Part(timers), Part(timers, again=5.0)
    once.timer.set(3.0)
    twice.timer.set(3.0)
    for now in (3.0, 4.0, 5.0, 6.0):
        timers.tick(now)

    assert once.called == [3.0]
    assert twice.called == [3.0, 5.0]
    assert timers.first == math.inf


def test_a_deadline_that_moves_away_is_not_waited_for() -> None:
    timers = Timers()
    moved, other = Part(timers), Part(timers)
    moved.timer.set(3.0)
    other.timer.set(9.0)
    assert not timers.is_stale
    moved.timer.set(None)
    assert timers.is_stale
    timers.refresh()

    assert timers.first == 9.0
    assert not timers.is_stale
    other.timer.set(8.0)
    assert timers.first == 8.0
    assert not timers.is_stale


def test_what_waits_for_quiet_is_done_once() -> None:
    timers, done = Timers(), [0]
    timers.idle()

    def do() -> None:
        done[0] += 1

    timers.when_idle = do
    timers.idle()
    timers.idle()

    assert done == [1]
    assert timers.when_idle is None
