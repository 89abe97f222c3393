"""In which order do sessions leave a host that goes down, and which are left?

Theory of operation
-------------------
A host that goes down has until a deadline. What can leave goes, the longest-lived
first: what has been built up for longest is missed most. How a session leaves is said
for each beforehand, by `way_for`; here it is decided when. Several go at a time.
Nothing is begun that would not be done in time, by how long the slowest has taken so
far: a session that runs on until the machine stops loses less than one that stands
still until then.

Invariants, checked by tests/core/session/test_drain_order.py:

I1  Nothing is begun after the deadline, nor what would probably not be done by then.
I2  Of two that can leave, the longer-lived is begun first.
I3  At most AT_ONCE are on their way.
I4  At the end each session has left, or it is said why it has not.
"""

import enum
from dataclasses import dataclass, field

from holdfast.model.ids import SessionId
from holdfast.model.session_record import CAPSULE

AT_ONCE = 2
"""Sessions on their way at a time: each takes a processor, and the disk is shared."""

NO_TIME = "there was no time left"


class Way(enum.StrEnum):
    """How a session leaves."""

    MOVE = "move"
    """To another host; to disk if that one does not take it, unless it has to move."""

    DISK = "disk"
    STAYS = "stays"


@dataclass(frozen=True, slots=True)
class Leaving:
    """A session, and how it can leave."""

    session: SessionId
    created_ms: int
    way: Way
    why: str = ""
    """Why it stays, if it does."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Where sessions are to go."""

    host: str = ""
    """The host that takes what can move; empty if there is none."""

    only_moves: bool = False
    """Whether what cannot move stays, instead of going to disk."""


@dataclass(frozen=True, slots=True)
class Able:
    """What is known of a session that is to leave."""

    runtime: str
    state: str
    movable: bool = False
    in_the_way: str = ""
    """What keeps it from being put to disk, and so from moving, too."""


def way_for(able: Able, wish: Wish) -> tuple[Way, str]:
    """Return how a session leaves; if it does not, why."""
    if able.runtime != CAPSULE:
        return Way.STAYS, "it is not in a capsule"
    if able.state != "running":
        return Way.STAYS, f"it is {able.state}"
    if able.in_the_way:
        return Way.STAYS, able.in_the_way
    if wish.host and able.movable:
        return Way.MOVE, ""
    if wish.only_moves:
        return Way.STAYS, "it was not started with --movable"
    return Way.DISK, ""


@dataclass(slots=True)
class Drain:
    """One drain: `deadline` by the clock that `now` is read from."""

    sessions: list[Leaving]
    deadline: float
    left: dict[SessionId, str] = field(default_factory=dict)
    """Those that have left, and where each is."""

    stayed: dict[SessionId, str] = field(default_factory=dict)
    """Those that have not, and why."""

    _waiting: list[Leaving] = field(init=False)
    _begun: dict[SessionId, float] = field(default_factory=dict)
    _slowest: float = 0.0

    def __post_init__(self) -> None:
        """Tell those apart that can leave."""
        able = [one for one in self.sessions if one.way is not Way.STAYS]
        self._waiting = sorted(able, key=lambda one: (one.created_ms, one.session))
        for one in self.sessions:
            if one.way is Way.STAYS:
                self.stayed[one.session] = one.why

    @property
    def is_over(self) -> bool:
        """Whether nothing is on its way, and nothing waits."""
        return not self._waiting and not self._begun

    @property
    def on_their_way(self) -> list[SessionId]:
        """Those that have begun to leave."""
        return [*self._begun]

    def begin(self, now: float) -> list[Leaving]:
        """Return the sessions that leave now."""
        if now + self._slowest >= self.deadline:
            for one in self._waiting:
                self.stayed[one.session] = NO_TIME
            self._waiting = []
        room = AT_ONCE - len(self._begun)
        chosen, self._waiting = self._waiting[:room], self._waiting[room:]
        self._begun |= {one.session: now for one in chosen}
        return chosen

    def gone(self, session: SessionId, where: str, now: float) -> None:
        """Take that a session has left."""
        self._done(session, now)
        self.left[session] = where

    def refused(self, session: SessionId, why: str, now: float) -> None:
        """Take that a session could not leave, and goes on."""
        self._done(session, now)
        self.stayed[session] = why

    def _done(self, session: SessionId, now: float) -> None:
        begun = self._begun.pop(session)
        self._slowest = max(self._slowest, now - begun)
