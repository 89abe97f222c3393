"""How long to wait before restarting a process that keeps dying.

Theory of operation
-------------------
Deaths in a row are answered at once up to a number, then after a delay that
doubles up to a bound. A life long enough to be called calm ends the row.

Invariants, checked by tests/keeper/test_backoff.py:

I1  The delay never shrinks within a row of deaths, and never exceeds the bound.
I2  A death after a calm life counts as the first.
"""

from dataclasses import dataclass

_STEP = 0.05


@dataclass(slots=True)
class Backoff:
    """One thing that is started again whenever it dies."""

    patient: int
    """Deaths in a row that are answered at once."""

    calm: float
    """Seconds of life that end a row of deaths."""

    max_delay: float
    """The longest delay, in seconds."""

    deaths: int = 0
    _born_at: float = 0.0

    def born(self, now: float) -> None:
        """Note that it was started."""
        self._born_at = now

    def died(self, now: float) -> float:
        """Note that it died; return the moment at which to start it again."""
        self.deaths = 1 if now - self._born_at > self.calm else self.deaths + 1
        if self.deaths <= self.patient:
            return now
        doubled = _STEP * 2.0 ** min(self.deaths - self.patient, 32)
        return now + min(doubled, self.max_delay)
