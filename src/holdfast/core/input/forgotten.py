"""The clients that once wrote something and are no longer remembered.

Theory of operation
-------------------
The serializer remembers a bounded number of clients. What a forgotten one repeats
must neither be applied again nor be called refused: it may have been applied. So a
little is kept of each that ever wrote:

    wrote under the present turn     a mark of it, and the count it goes on with
    wrote under an earlier turn      nothing but the epoch of the last such turn:
                                     whatever was made then may be a repeat

What is made now names the present epoch, which is later than all of those, so no
new input is taken for a repeat. When the turn changes hands the marks are dropped.

Invariants, checked by tests/core/input/test_forgotten.py:

I1  An input that a forgotten client wrote is known by its count, or by its epoch.
I2  What is kept is bounded; beyond the bound everything of that epoch may be known.
"""

import hashlib
from array import array
from bisect import bisect_left
from typing import Final, NamedTuple

from holdfast.model.ids import NO_EPOCH, ActorId, ClientId, Epoch

MAX_MARKS: Final = 65_536
"""Clients of one turn of which a mark is kept, 16 bytes each: each verb of a command
line is one, and this is a week of one verb every ten seconds."""


class Kept(NamedTuple):
    """What is kept of them, as it is written down."""

    epoch: Epoch
    through: int
    marks: bytes
    counts: bytes


class Forgotten:
    """What is kept of the forgotten clients of one session."""

    def __init__(self) -> None:
        self._epoch = NO_EPOCH
        self._through = -1
        self._marks = array("Q")
        self._counts = array("Q")

    def dump(self) -> "Kept":
        """Return it as it is written down."""
        marks, counts = self._marks.tobytes(), self._counts.tobytes()
        return Kept(self._epoch, self._through, marks, counts)

    @classmethod
    def load(cls, kept: "Kept") -> "Forgotten":
        """Return what was written down.

        Raises:
            ValueError: It is none.

        """
        found = cls()
        found._epoch, found._through = kept.epoch, kept.through
        found._marks.frombytes(kept.marks)
        found._counts.frombytes(kept.counts)
        return found

    @property
    def is_full(self) -> bool:
        """Whether no mark of another client finds room."""
        return len(self._marks) >= MAX_MARKS

    def begin(self, epoch: Epoch) -> None:
        """Note that a turn began; what was made before it needs no marks."""
        if epoch <= self._epoch:
            return
        if self._marks:
            self._through = max(self._through, self._epoch)
        self._epoch, self._marks, self._counts = epoch, array("Q"), array("Q")

    def add(
        self, actor: ActorId, client: ClientId, epoch: Epoch, following: int
    ) -> None:
        """Note that a client is forgotten that wrote under `epoch` last."""
        mark = _mark(actor, client)
        at = bisect_left(self._marks, mark)
        is_there = at < len(self._marks) and self._marks[at] == mark
        if is_there:
            self._counts[at] = max(following, self._counts[at])
        elif epoch < self._epoch or self.is_full:
            self._through = max(self._through, epoch)
        else:
            self._marks.insert(at, mark)
            self._counts.insert(at, following)

    def following(self, actor: ActorId, client: ClientId) -> int | None:
        """Return the count that a client goes on with, if it wrote in this turn."""
        mark = _mark(actor, client)
        at = bisect_left(self._marks, mark)
        if at < len(self._marks) and self._marks[at] == mark:
            return self._counts[at]
        return None

    def may_hold(self, epoch: Epoch) -> bool:
        """Tell whether a client without a mark may have written under `epoch`."""
        return epoch <= self._through


def _mark(actor: ActorId, client: ClientId) -> int:
    name = f"{actor} {client}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest())
