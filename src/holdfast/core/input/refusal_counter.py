"""Which refusals are recorded when a flood of them comes.

Theory of operation
-------------------
An input that was judged and refused has an entry of its own. What is turned away
before that has none: an observer's input, one that does not fit into the line,
a seize without the right to it. Nothing has happened, but the attempt counts, so
the book has to say it; and a client that tries ten thousand times a second must
not fill the disk with it.

So the first refusal of a kind is told at once, and those of the same actor, for
the same request, by the same code are counted until WINDOW has passed since, and
then told together. `count` says how many an entry speaks for.

    nothing ──turned away──▶ told, counting ──WINDOW──▶ told again if any came
                                                         and nothing if none did

Invariants, checked by tests/core/input/test_refusal_counter.py:

I1  The counts of all entries add up to the refusals, once `flush` was called.
I2  Of one actor, request and code there are at most two entries in a WINDOW.
I3  What is remembered is bounded, whatever codes and actors there are.
"""

from dataclasses import dataclass

from holdfast.model.ids import ActorId

WINDOW = 1.0
"""Seconds in which refusals of a kind are one entry: short beside a person's
patience, long beside what a client can send meanwhile."""

MAX_OPEN = 256
"""Kinds of refusal counted at a time; with more, the oldest is told early."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Put on record that `count` requests of a kind were turned away."""

    actor: ActorId
    request: str
    code: str
    count: int


_Kind = tuple[ActorId, str, str]


class RefusalCounter:
    """The account of what was refused in one session."""

    def __init__(self) -> None:
        self._open: dict[_Kind, tuple[float, int]] = {}

    def decline(
        self, actor: ActorId, request: str, code: str, now: float
    ) -> list[Tell]:
        """Note that a request was turned away."""
        kind = (actor, request, code)
        told = self.tick(now)
        if kind in self._open:
            until, count = self._open[kind]
            self._open[kind] = (until, count + 1)
            return told
        if len(self._open) >= MAX_OPEN:
            told += self._close(next(iter(self._open)))
        self._open[kind] = (now + WINDOW, 0)
        return [*told, Tell(*kind, 1)]

    def tick(self, now: float) -> list[Tell]:
        """Tell what has been counted for long enough."""
        over = [kind for kind, (until, _) in self._open.items() if now >= until]
        return [tell for kind in over for tell in self._close(kind)]

    def flush(self) -> list[Tell]:
        """Tell everything that was counted: nothing comes any more."""
        return [tell for kind in list(self._open) for tell in self._close(kind)]

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to tell."""
        counted = (until for until, count in self._open.values() if count)
        return min(counted, default=None)

    def _close(self, kind: _Kind) -> list[Tell]:
        _, count = self._open.pop(kind)
        return [Tell(*kind, count)] if count else []
