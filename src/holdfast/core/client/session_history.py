"""The sessions that a terminal has shown, for the keys next, previous and last.

Theory of operation
-------------------
A terminal shows one session after another. The tour knows which it shows, and which it
showed before; the sessions that there are it is told each time, oldest first.

Invariants, checked by tests/core/client/test_session_history.py:

I1  No step leads to where we are.
I2  A step forward and a step back lead to where we were, if nothing changed meanwhile.
I3  `last` is never a session that is gone.
"""

from collections.abc import Sequence

MAX_VISITED = 64
"""Sessions that are remembered: further back nobody goes by this key."""


class SessionHistory:
    """The sessions that one terminal has shown."""

    def __init__(self, first: str) -> None:
        self._visited = [first]
        """Each once, the present one last."""

    @property
    def here(self) -> str:
        """The session that is shown."""
        return self._visited[-1]

    def goes(self, session: str) -> None:
        """Note that another one is shown now."""
        kept = [one for one in self._visited if one != session]
        self._visited = [*kept[1 - MAX_VISITED :], session]

    def returns(self, session: str) -> None:
        """Note that the present one could not be shown, and `session` is again."""
        self._visited = [one for one in self._visited if one != self.here]
        self.goes(session)

    def last(self, known: Sequence[str]) -> str | None:
        """Return the one before, of those that there are."""
        before = (one for one in reversed(self._visited[:-1]) if one in known)
        return next(before, None)

    def step(self, known: Sequence[str], by: int) -> str | None:
        """Return the one `by` places on, in a circle; None if there is no other."""
        others = [one for one in known if one != self.here]
        if not others:
            return None
        if self.here not in known:
            return others[0 if by > 0 else -1]
        return known[(known.index(self.here) + by) % len(known)]
