"""What a logbook file still contains after faults of its disk.

A file belongs to a machine. Lines written survive the death of the process; only
lines that were synced survive the death of the machine, and of the others a
random beginning, perhaps torn in the middle of a line.

Synced lines are also kept where another host can read them, so that a session
can be re-homed. That store checks the incarnation: once a later life has begun,
an earlier one can add nothing.
"""

import random
from dataclasses import dataclass, field

from holdfast.model.ids import Incarnation
from holdfast.testing.world import demand


class Refused(Exception):
    """The disk did not do it."""


@dataclass(slots=True)
class Replica:
    """The durable logbook of a session, wherever it lives."""

    lines: list[bytes] = field(default_factory=list)
    incarnation: Incarnation = Incarnation(0)  # noqa: RUF009  # an int

    def begin(self, incarnation: Incarnation) -> None:
        """Let a new life write here, and no earlier one."""
        self.incarnation = max(self.incarnation, incarnation)

    def extend(self, lines: list[bytes], incarnation: Incarnation) -> None:
        """Make `lines` the durable logbook.

        Raises:
            Refused: A later life has begun.

        """
        if incarnation != self.incarnation:
            raise Refused("fenced")
        kept = len(self.lines)
        demand(lines[:kept] == self.lines, "I7", "durable entries were rewritten")
        self.lines = lines


class LogFile:
    """One logbook file on one machine."""

    def __init__(self, replica: Replica, incarnation: Incarnation) -> None:
        self.replica = replica
        self.incarnation = incarnation
        self.raw = b"".join(line + b"\n" for line in replica.lines)
        self.is_full = False
        self.is_failing = False
        self._synced = len(self.raw)

    def append(self, line: bytes) -> None:
        """Write one line, whole or not at all.

        Raises:
            Refused: The disk is full.

        """
        if self.is_full:
            raise Refused("no space left on device")
        self.raw += line + b"\n"

    def sync(self) -> None:
        """Make everything written durable.

        Raises:
            Refused: The disk failed, and what was lost is not known.

        """
        if self.is_failing:
            raise Refused("input/output error")
        lines = self.raw.split(b"\n")[:-1]
        self.replica.extend(lines, self.incarnation)
        self._synced = len(self.raw)

    def tear(self, rng: random.Random) -> int:
        """Lose power: keep what was synced and a random part of the rest."""
        kept = rng.randint(self._synced, len(self.raw))
        lost = len(self.raw) - kept
        self.raw = self.raw[:kept]
        return lost

    def truncate(self, size: int) -> None:
        """Cut a torn tail off."""
        self.raw = self.raw[:size]
