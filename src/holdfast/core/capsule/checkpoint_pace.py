"""When is the next image of a session made, unasked?

Theory of operation
-------------------
An observer looks at the capsules now and then, and says what it counted of each: any
other count means that something happened. A session is due when its time has passed
since its last image and something has happened since then. One image is made at a time,
the longest due first: each takes a processor and the disk, and nothing is in a hurry.

    WAITING ──its time, changed, able──▶ DUE ──its turn──▶ MAKING ──made──▶ WAITING
                                                              └──failed──▶ WAITING

Invariants, checked by tests/core/capsule/test_checkpoint_pace.py:

I1  Between two images of a session lies at least its time, by the same clock.
I2  No image is made of a session in which nothing was counted since the last.
I3  None is made while it is not able: frozen, fenced, not begun, or in no capsule.
I4  One is made at a time.
I5  Of one that fails the next try comes later each time, up to LONGEST times as late.
"""

from dataclasses import dataclass
from typing import NamedTuple

from holdfast.model.ids import SessionId

LONGEST = 8
"""How many times its time is waited for at most, after tries that failed."""


class Counts(NamedTuple):
    """What a session has done so far."""

    printed: int
    """Bytes."""

    ticks: int
    """Processor time of its processes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was counted of a session, and whether an image of it could be made now."""

    session: SessionId
    every: float
    """Seconds between two images."""

    counts: Counts
    is_able: bool = True


@dataclass(slots=True)
class _Paced:
    every: float
    counts: Counts
    is_able: bool
    since: float
    """When its last image was made, or when it was first seen."""

    imaged: Counts | None = None
    """What was counted just after it; None if that tells nothing."""

    failures: int = 0

    @property
    def due_at(self) -> float:
        return self.since + self.every * min(1 << self.failures, LONGEST)

    @property
    def has_changed(self) -> bool:
        return self.counts != self.imaged


class CheckpointPace:
    """Decides about every capsule of one host."""

    def __init__(self) -> None:
        self._paced: dict[SessionId, _Paced] = {}
        self._making: SessionId | None = None
        self._printed = 0

    def look(self, seen: list[Seen], now: float) -> SessionId | None:
        """Take a look at all sessions; return the one to make an image of now."""
        known = {one.session for one in seen}
        self._paced = {
            session: one for session, one in self._paced.items() if session in known
        }
        for one in seen:
            paced = self._paced.get(one.session)
            if paced is None:
                self._paced[one.session] = _Paced(
                    one.every, one.counts, one.is_able, now
                )
            else:
                paced.every, paced.counts = one.every, one.counts
                paced.is_able = one.is_able
        return self._choose(now)

    def made(self, session: SessionId, after: Counts | None, now: float) -> None:
        """Take that an image was made, and what was counted just after it.

        To be put to disk costs a session processor time of its own, so the count before
        would not do. If it has printed something in between, that may be in no image.
        """
        paced = self._end(session)
        if paced is not None:
            is_all = after is not None and after.printed == self._printed
            paced.imaged = after if is_all else None
            paced.since, paced.failures = now, 0

    def failed(self, session: SessionId, now: float) -> None:
        """Take that no image could be made; the session goes on."""
        paced = self._end(session)
        if paced is not None:
            paced.since = now
            paced.failures += 1

    def _choose(self, now: float) -> SessionId | None:
        if self._making is not None:
            return None
        due = [
            (one.due_at, session)
            for session, one in self._paced.items()
            if one.is_able and one.has_changed and now >= one.due_at
        ]
        if not due:
            return None
        _, self._making = min(due)
        self._printed = self._paced[self._making].counts.printed
        return self._making

    def _end(self, session: SessionId) -> _Paced | None:
        if session == self._making:
            self._making = None
        return self._paced.get(session)
