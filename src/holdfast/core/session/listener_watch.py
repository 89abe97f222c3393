"""Which of a session's listeners are gone, and when to look again.

Theory of operation
-------------------
A server that was started in a session may die silently: its launcher has
returned long ago, and nothing is printed. So the process that holds the session looks
which of its processes listen where, and tells of those that do no longer.

Looking costs a read of the process table. So it is done a moment after something was
printed, then twice more (LATER), because servers open their ports some time after
their first line; and at once when a process ends that was seen listening. A session
in which nothing happens is not looked at.

Invariants, checked by tests/core/session/test_listener_watch.py:

L1  What is told to be gone was seen to listen before, and is told once.
L2  Two looks are at least SPACING apart, unless a listener's process has ended.
L3  Without output and without an end there are at most three looks, and then none.
"""

from collections.abc import Iterable
from dataclasses import dataclass

SOON = 1.0
"""Seconds after output: most servers listen by then."""

LATER = (6.0, 30.0)
"""Seconds after output for those that take longer."""

SPACING = 5.0
"""Seconds between looks in a session that prints all the time."""

MAX_KNOWN = 64
"""Listeners remembered; a session with more is told of these."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A place where a process of the session listens."""

    protocol: str
    address: str
    port: int
    pid: int
    command: str

    @property
    def place(self) -> tuple[str, str, int]:
        """Where, whichever process it is."""
        return (self.protocol, self.address, self.port)


class ListenerWatch:
    """What is known to listen in one session."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], Listener] = {}
        self._printed_at: float | None = None
        self._looked_at: float | None = None
        self._is_urgent = False
        self.look_at: float | None = None
        """When to look; None if nothing has happened that could matter."""

    @property
    def pids(self) -> frozenset[int]:
        """Whose end is worth a look."""
        return frozenset(one.pid for one in self._known.values())

    def printed(self, now: float) -> None:
        """Note that the session printed something."""
        self._printed_at = now
        self.look_at = self._next_look()

    def ended(self) -> None:
        """Note that a process ended that was seen listening."""
        self._is_urgent = True
        self.look_at = self._next_look()

    def rest(self) -> None:
        """Note that nobody will be there to look: what is known stays known."""
        self._printed_at = None
        self.look_at = self._next_look()

    def _next_look(self) -> float | None:
        if self._is_urgent:
            return 0.0
        if self._printed_at is None:
            return None
        looked = self._looked_at
        for wait in (SOON, *LATER):
            at = self._printed_at + wait
            if looked is None:
                return at
            if looked < at:
                return max(at, looked + SPACING)
        return None

    def saw(self, found: Iterable[Listener], now: float) -> list[Listener]:
        """Take what listens now; return what does no longer."""
        self._is_urgent = False
        self._looked_at = now
        seen: dict[tuple[str, str, int], Listener] = {}
        for one in found:
            if len(seen) < MAX_KNOWN:
                seen.setdefault(one.place, one)
        gone = [one for place, one in self._known.items() if place not in seen]
        self._known = seen
        self.look_at = self._next_look()
        return gone
