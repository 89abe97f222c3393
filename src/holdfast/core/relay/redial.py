"""When to redial a link that broke or never came up.

Theory of operation
-------------------
Soon at first and ever later, so that a relay that is back is found at once and
one that is away is not besieged; and never at the same moment as all others
whose link broke with the same relay: chance takes off up to half. A link is
taken for good only after it has held for a while, because one that is accepted
and dropped is worth no more than one that is refused.

    waiting = FIRST · GROWTH ^ (failures in a row), at most `longest`

Invariants, checked by tests/core/relay/test_redial.py:

I1  A wait is never longer than `longest`, and never shorter than half of FIRST.
I2  No wait reaches beyond the moment by which the link is needed: a lease
    is not slept through.
I3  After a link that held for STEADY the first wait is a short one again; after
    one that did not, it is not.
"""

FIRST = 0.2
"""Seconds before the first attempt after a cut: most cuts are over by then."""

GROWTH = 1.5
"""Each failure makes the wait so much longer: about half of how long it has been."""

LONGEST = 30.0
"""Seconds between attempts, however long it has been."""

STEADY = 5.0
"""Seconds that a link must hold to be taken for good."""

HASTE = 0.05
"""Seconds between attempts when a lease is about to run out."""


class Redial:
    """The waits between the attempts at one link."""

    def __init__(self, longest: float = LONGEST) -> None:
        self._longest = longest
        self._failures = 0
        self._held_since: float | None = None

    def linked(self, now: float) -> None:
        """Take note that there is a link."""
        self._held_since = now

    def wait_after(
        self, now: float, chance: float, deadline: float | None = None
    ) -> float:
        """Return how long to wait after a link broke or an attempt failed.

        `chance` is a number from 0 to 1 that nobody can foresee; `deadline` is
        by which the link is needed.
        """
        held, self._held_since = self._held_since, None
        if held is not None and now - held >= STEADY:
            self._failures = 0
        step = min(FIRST * GROWTH ** min(self._failures, 32), self._longest)
        self._failures += 1
        wait = step * (1 - chance / 2)
        if deadline is None:
            return wait
        return min(wait, max(HASTE, deadline - now))
