"""The operator in whose name a process runs.

Theory of operation
-------------------
A shell starts a process because an operator submitted a line, and that operator is
behind the process and behind all that it starts, however long it runs. So it is
kept who had the shell's ear, and since when, in *ticks*, hundredths of a second
since the machine was started: that is how the kernel dates processes, and no clock
on the wall upsets it. Before anyone typed it was the session's creator. In the
tick in which an operator is first heard, either of the two may have started something.

Keys typed while something else runs are read by that, or by the shell later:
nobody can tell. What starts from then on may be in the name of either, until
an operator is heard by a shell that was seen to listen. Whether it listened is for the
holder to see; here it only says so.

Invariants, checked by tests/core/provenance/test_triggers.py:

I1  The operator behind a process is among those named for the moment it started.
I2  After an operator was heard alone, no other is named for what starts next.
I3  No more than MAX_KEPT moments and MAX_NAMED names for each are kept; what is
    older may be in the name of operators who are no longer kept.
"""

from bisect import bisect_right

from holdfast.model.ids import ActorId

MAX_KEPT = 1024
"""Changes of operator that are kept; repeated input of one operator counts once."""

MAX_NAMED = 16
"""Names for one moment: more than ever type into one running command."""


class Triggers:
    """Who was heard, and since when."""

    def __init__(self, creator: ActorId) -> None:
        self._since: list[int] = [0]
        self._actors: list[tuple[ActorId, ...]] = [(creator,)]

    @property
    def last(self) -> tuple[ActorId, ...]:
        """Who is behind what starts now."""
        return self._actors[-1]

    @property
    def everybody(self) -> frozenset[ActorId]:
        """All operators who may be named."""
        return frozenset(actor for some in self._actors for actor in some)

    def heard(self, actor: ActorId, tick: int, *, is_alone: bool) -> None:
        """Note that an operator typed; `is_alone` if the shell listened."""
        if self.last == (actor,) or (not is_alone and actor in self.last):
            return
        named = dict.fromkeys((actor, *self.last))
        # Two may be heard in one tick, and a log that is read again may be of a
        # clock that was set back: all of them are named from the earliest on.
        while len(self._since) > 1 and self._since[-1] > tick:
            del self._since[-1]
            named |= dict.fromkeys(self._actors.pop())
        named |= dict.fromkeys(self.last)
        self._append(tick, tuple(named))
        if is_alone:
            self._append(tick + 1, (actor,))

    def fed(self, actor: ActorId, tick: int) -> None:
        """Note that an operator may also be behind what was started since."""
        first = max(0, bisect_right(self._since, tick) - 1)
        for at in range(first, len(self._actors)):
            self._actors[at] = _named(actor, self._actors[at])

    def at(self, tick: int) -> tuple[ActorId, ...]:
        """Return who may be behind what was started in this tick."""
        found = bisect_right(self._since, tick) - 1
        return self._actors[max(0, found)]

    def _append(self, tick: int, named: tuple[ActorId, ...]) -> None:
        self._since.append(tick)
        self._actors.append(named[:MAX_NAMED])
        if len(self._since) > MAX_KEPT:
            for actor in self._actors[0]:
                self._actors[1] = _named(actor, self._actors[1])
            del self._since[0], self._actors[0]


def _named(actor: ActorId, others: tuple[ActorId, ...]) -> tuple[ActorId, ...]:
    return tuple(dict.fromkeys((actor, *others)))[:MAX_NAMED]
