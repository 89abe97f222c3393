"""When to restart a process that died, and how long to wait if it keeps dying.

Theory of operation
-------------------
Deaths in a row are answered at once up to a number, then after a delay that
doubles up to a bound. A life long enough to be called calm ends the row.

Invariants, checked by tests/keeper/test_backoff.py:

I1  The delay never shrinks within a row of deaths, and never exceeds the bound.
I2  A death after a calm life counts as the first.
I3  A death is answered by one restart, and by none once it runs again.
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
    restart_at: float | None = None
    """When to start it again; None while it runs, or is not ours to start."""

    _born_at: float = 0.0

    def born(self, now: float) -> None:
        """Note that it was started."""
        self._born_at = now
        self.restart_at = None

    def died(self, now: float) -> None:
        """Note that it died, and when to start it again."""
        self.deaths = 1 if now - self._born_at > self.calm else self.deaths + 1
        delay = 0.0
        if self.deaths > self.patient:
            doubled = _STEP * 2.0 ** min(self.deaths - self.patient, 32)
            delay = min(doubled, self.max_delay)
        self.restart_at = now + delay

    def take_due(self, now: float) -> bool:
        """Tell whether it is time to start it again, once for each death."""
        if self.restart_at is None or now < self.restart_at:
            return False
        self.restart_at = None
        return True
