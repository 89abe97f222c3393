"""Ends the daemons of a session, when an operator ends the session.

A shell that exits by itself leaves detached processes alone: a daemon was detached
because it was meant to stay. Ending the *session* ends daemons too, unless the operator
says otherwise: first with a signal, then, after a grace period, for good.

    asked ──leader ended──▶ told ──GRACE──▶ killed, until none is left ──▶ said
      └──to leave them──────────────────────────────────────────────────▶ said
"""

import signal
from typing import NamedTuple

from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.daemons import Daemons, names_of
from holdfast.linux.process_table import Process
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import CapsuleRecord

GRACE = 2.0
"""Seconds a daemon has to end by itself; the shell before it had its own."""

STEP = 0.02
"""Seconds between walks over all processes."""

CALM = 5
"""Walks in a row that must find nothing: what forks and ends all the time can be
missed by one."""

PATIENCE = 8.0
"""Seconds after which what will not die is said to be left: it is of another user,
or the kernel does not let go of it."""

MAX_NAMES = 500
"""Characters of names that are told."""


class Swept(NamedTuple):
    """What became of the processes that had left the shell."""

    by: ActorId
    ended: int
    names: str
    left: int
    """Those that keep running, on request or because they would not end."""


class _Asked(NamedTuple):
    by: ActorId
    number: int
    leave: bool


class DaemonSweep:
    """What is to happen to the daemons of one session."""

    def __init__(
        self,
        session: SessionId,
        cgroup: SessionCgroup | None,
        capsule: CapsuleRecord | None = None,
    ) -> None:
        self._daemons = Daemons(session, cgroup, capsule)
        self._asked: _Asked | None = None
        self._told: dict[tuple[int, int], str] = {}
        self._begun_at: float | None = None
        self.is_on = False
        """Whether something is being ended."""

        self._look_at = 0.0
        self._calm = 0

    def ask(self, by: ActorId, number: int, *, leave: bool) -> None:
        """Note that an operator ends the session; the last request counts."""
        self._asked = _Asked(by, number, leave)

    @property
    def leaves_nothing(self) -> bool:
        """Whether an operator has ended the session, and all that runs in it."""
        return self._asked is not None and not self._asked.leave

    def find(self) -> list[Process]:
        """Return what has left the shell, and runs."""
        return self._daemons.find()

    def begin(self, now: float) -> Swept | None:
        """Note that the leader has ended; return what there is to say already."""
        asked = self._asked
        if asked is None:
            return None
        if asked.leave:
            found = self._daemons.find()
            return Swept(asked.by, 0, names_of(found)[:MAX_NAMES], len(found))
        # What a hang-up says to a program at a terminal, means "read your settings
        # again" to many daemons.
        hang_up = asked.number == signal.SIGHUP
        number = signal.SIGTERM if hang_up else asked.number
        self._daemons.tell(number, self._note)
        self._begun_at = self._look_at = now
        self.is_on = True
        self._calm = 0
        return self.tick(now)

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        return None if self._begun_at is None else self._look_at

    def tick(self, now: float) -> Swept | None:
        """Do what the clock demands, and return what there is to say, once."""
        if self._begun_at is None or self._asked is None or now < self._look_at:
            return None
        self._look_at = now + STEP
        late = now - self._begun_at
        found = (
            self._daemons.kill(self._note) if late >= GRACE else self._daemons.find()
        )
        self._note(found)
        self._calm = 0 if found else self._calm + 1
        is_calm = self._calm >= CALM or not self._told
        if not is_calm and late < PATIENCE:
            return None
        self._begun_at, self.is_on = None, False
        names = ", ".join(self._told.values())[:MAX_NAMES]
        ended = len(self._told) - len(found)
        return Swept(self._asked.by, ended, names, len(found))

    def _note(self, found: list[Process]) -> None:
        for one in found:
            if one.mark not in self._told:
                self._told[one.mark] = names_of([one])
