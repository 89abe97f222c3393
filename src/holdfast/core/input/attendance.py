"""Whether anyone still waits for an input that needs approval.

Theory of operation
-------------------
An input that waits for approval holds up everything behind it. When the client that
sent it has gone for good, nobody hears of an answer any more, and what it asks for may
be long out of date: so it is given up. A client whose link broke comes back under the
same id; it has as long for that as a turn outlives the links of its holder.

    ATTENDED ──client gone──▶ ALONE ──grace over──▶ given up
        ▲                       │
        └──────client back──────┘

Invariants, each checked by tests/core/input/test_attendance.py:

I1  Nothing is given up while its client is here, or was within the last grace.
I2  What has been alone for the grace is given up, once.
I3  How long one request was alone counts for no other.
"""

import math


class Attendance:
    """Whether the client of what is held is there."""

    def __init__(self) -> None:
        self._ticket: int | None = None
        self.alone_until = math.inf
        """When to call `tick`; infinity if there is nothing to wait for."""

    def look(self, ticket: int | None, grace: float, now: float) -> None:
        """Take what is held and has no client here; None if there is no such thing."""
        if ticket != self._ticket:
            self._ticket = ticket
            self.alone_until = math.inf if ticket is None else now + grace

    def tick(self, now: float) -> int | None:
        """Return what is given up now, or None. Call it at `alone_until`."""
        if now < self.alone_until:
            return None
        self.alone_until = math.inf
        return self._ticket
