import math

from holdfast.holder.timers import Timers


class Part:
    """A part that wants to be called at some moment, and was called at others."""

    def __init__(self, at: float | None) -> None:
        self.at = at
        self.asked = 0
        self.called: list[float] = []

    def next_deadline(self) -> float | None:
        self.asked += 1
        return self.at

    def tick(self, now: float) -> None:
        self.called.append(now)
        self.at = None if self.at is not None and now >= self.at else self.at


def timers(*parts: Part) -> Timers:
    return Timers([(one.next_deadline, one.tick) for one in parts])


def test_everybody_is_asked_at_first() -> None:
    made = timers(Part(None), Part(7.0))

    assert made.first == 0.0
    made.tick(1.0)

    assert made.first == 7.0


def test_nobody_is_asked_again_before_something_happens() -> None:
    part = Part(7.0)
    made = timers(part)
    made.tick(1.0)
    asked = part.asked

    assert made.first == 7.0
    assert part.asked == asked
    part.at = 3.0
    made.stir()
    assert made.first == 0.0
    made.tick(2.0)

    assert made.first == 3.0


def test_what_was_due_is_called_and_asked_anew() -> None:
    early, late = Part(3.0), Part(7.0)
    made = timers(early, late)
    made.tick(1.0)
    made.tick(3.0)

    assert early.called == [1.0, 3.0]
    assert made.first == 7.0


def test_without_anybody_who_waits_there_is_no_deadline() -> None:
    made = timers(Part(None))
    made.tick(1.0)

    assert made.first == math.inf
