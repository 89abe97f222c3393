"""The entry that says that an input was applied, and when it is written.

Theory of operation
-------------------
An input is acknowledged when the book says, for good, that it went in (ADR 0006).
Two entries say so: one that settles it, or the entry of the input after it, because
inputs are strictly ordered. A client that waits for the answer gets an entry of its
own at once. A typist does not wait, and the next key is on its way: so such an
input is *held* until the next one is in the book, or for PATIENCE.

    applied ──a client waits──▶ settled at once ─────▶ acknowledged
       └──nobody waits──▶ HELD ──the next is stored──▶ acknowledged
                            └──after PATIENCE, or when its sender leaves──▶ settled

What is held is durable as soon as any other input; only the answer comes later. A
process that dies meanwhile leaves a note that says that it went in.

Invariants, checked by tests/core/input/test_settlements.py:

I1  An input is acknowledged only when an entry that vouches for it is durable.
I2  Nothing is held for longer than PATIENCE.
"""

from collections import deque
from typing import Final

from holdfast.model.ids import Index

SETTLE_PATIENCE: Final = 1.0
"""Seconds that an answer nobody waits for may take: longer than most pauses between
two keys, and shorter than what a client signs at once."""


class Settlements:
    """What the book vouches for, and what it is still to vouch for."""

    def __init__(self) -> None:
        self._vouched: deque[tuple[Index, Index]] = deque()
        self._held: Index | None = None
        self.by: float | None = None
        """When what is held has waited long enough, or None."""

        self._durable = -1

    def hold(self, applied: Index, now: float) -> bool:
        """Hold an input that went in; tell whether it has to be made durable."""
        self._held, self.by = applied, now + SETTLE_PATIENCE
        return applied > self._durable

    def vouch(self, entry: Index, applied: Index) -> None:
        """Note that an entry settles an input, and all before it."""
        self._vouched.append((entry, applied))

    def followed(self, entry: Index) -> bool:
        """Take the entry of the next input; tell whether it vouches for any."""
        held = self.release()
        if held is None:
            return False
        self.vouch(entry, held)
        return True

    def due(self, now: float) -> Index | None:
        """Return what must be settled by an entry of its own now, if anything."""
        return self.release() if self.by is not None and now >= self.by else None

    def release(self) -> Index | None:
        """Hold nothing any more; return what was held."""
        held, self._held, self.by = self._held, None, None
        return held

    def durable(self, entry: Index) -> list[Index]:
        """Note how far the book is durable; return what is vouched for by that."""
        self._durable = max(self._durable, entry)
        found: list[Index] = []
        while self._vouched and self._vouched[0][0] <= entry:
            found.append(self._vouched.popleft()[1])
        return found
