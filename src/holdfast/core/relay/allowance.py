"""A limit on how much may come from one source.

Theory of operation
-------------------
An allowance fills up at a steady rate, up to a bound, and whatever comes takes
from it. So a burst is fine and a flood is not. It is a number and a moment:
nothing has to run for it to fill.

I1  Over any length of time, no more than `burst` and `rate` times that length is
    let through.
I2  What was not let through takes nothing away.
"""


class Allowance:
    """How much one peer may still send."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._at = now

    def spend(self, amount: float, now: float) -> bool:
        """Take `amount` away, and tell whether there was as much."""
        filled = self._left + (now - self._at) * self._rate
        self._left, self._at = min(filled, self._burst), now
        if amount > self._left:
            return False
        self._left -= amount
        return True
