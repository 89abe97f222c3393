"""The parts of a holder that wait for a time, and when the next of them is due.

A part says when it wants to be called (`next_deadline`), and then does what is due
(`tick`). Asking every part on every turn of the loop would cost more than a key does.
So they are asked after a turn in which something happened that could concern them,
and after one of them was due; until then the earliest answer holds.
"""

import math
from collections.abc import Callable

Part = tuple[Callable[[], float | None], Callable[[float], None]]
"""How a part says when it wants to be called, and how it is called."""


class Timers:
    """The parts of one holder that wait."""

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts
        self.first = 0.0
        """When the next part is due; infinity if none waits, 0 if all must be asked."""

    def stir(self) -> None:
        """Take that something happened which may concern a part."""
        self.first = 0.0

    def tick(self, now: float) -> None:
        """Call every part, and ask each when it wants to be called next."""
        for _, tick in self._parts:
            tick(now)
        asked = [deadline() for deadline, _ in self._parts]
        self.first = min((at for at in asked if at is not None), default=math.inf)
