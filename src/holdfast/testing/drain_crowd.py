"""Checks that a host that is drained lets go of what it can, in order and in time.

Sessions of different ages on one host, drained again and again at moments that nobody
chose: some cannot leave, some fail on the way, some take long. The crowd knows by true
time what was begun when, and has chance of its own.
"""

import random

from holdfast.core.session.drain_order import AT_ONCE, Drain, Leaving, Way
from holdfast.model.ids import SessionId
from holdfast.testing.world import Machine, demand

SESSIONS = 8
DEADLINE = 4.0
LOOK = 0.1
PAUSE = 6.0
_STAYS, _FAILS = 0.2, 0.15


class DrainCrowd:
    """The drains of one host."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._world = machine.world
        self._rng = random.Random(f"drain {self._world.seed} {machine.name}")
        self._drain: Drain | None = None
        self._begun: list[Leaving] = []
        self._boot = machine.boot
        self._again()

    def close(self) -> None:
        """Check that the last drain came to its end (M15)."""
        if self._machine.boot == self._boot and self._drain is not None:
            self._check_end(self._drain)

    def _again(self) -> None:
        rng = self._rng
        sessions = [
            Leaving(
                SessionId(f"drained{number}"),
                rng.randrange(1000),
                Way.STAYS if rng.random() < _STAYS else Way.DISK,
                "it cannot",
            )
            for number in range(SESSIONS)
        ]
        self._drain = Drain(sessions, self._machine.clock().now + DEADLINE)
        self._begun = []
        self._look(self._drain)

    def _look(self, drain: Drain) -> None:
        now = self._machine.clock().now
        for one in drain.begin(now):
            demand(now < drain.deadline, "M15", f"{one.session} leaves too late")
            demand(one.way is not Way.STAYS, "M15", f"{one.session} cannot leave")
            earlier = all(one.created_ms >= other.created_ms for other in self._begun)
            demand(earlier, "M15", f"{one.session} leaves before its elders")
            self._begun.append(one)
            takes = self._rng.expovariate(1.0)
            self._machine.after(takes, self._arrive, drain, one.session)
        crowd = len(drain.on_their_way)
        demand(crowd <= AT_ONCE, "M15", f"{crowd} leave at once")
        if drain.is_over:
            self._check_end(drain)
            self._machine.after(self._rng.uniform(0, PAUSE), self._again)
        else:
            self._machine.after(LOOK, self._look, drain)

    def _arrive(self, drain: Drain, session: SessionId) -> None:
        now = self._machine.clock().now
        if self._rng.random() < _FAILS:
            self._world.reached["drain: refused"] += 1
            drain.refused(session, "it failed", now)
        else:
            self._world.reached["drain: left"] += 1
            drain.gone(session, "image", now)

    def _check_end(self, drain: Drain) -> None:
        if not drain.is_over:
            return
        self._world.reached["drain: over"] += 1
        known = {one.session for one in drain.sessions}
        told = drain.left.keys() | drain.stayed.keys()
        demand(told == known, "M15", f"nobody says what became of {known - told}")
        demand(all(drain.stayed.values()), "M15", "nobody says why one stays")
