"""Moves running sessions to new code, and back if the new code fails.

Theory of operation
-------------------
A nursery with the new code is started beside the old one. Then the sessions are
moved one by one: the new nursery is asked for the successor, which waits for the
grip; the holder is asked to leave; the successor takes the grip, deposits, and
proves that its loop runs. So at no moment are the descriptors with the keeper
alone. When all are moved, a child with the new code shows that it can read the
keeper's state, the old nursery ends, and the keeper replaces its own code.

Sessions that doze have no holder, and their next one is of the new code by itself. One
of them is moved as the proof that it can be; all are if the new code does not know how
to take up what dozed.

    STARTING ──NurseryReady──▶ MOVING ──all moved──▶ CHECKING ──StateRead──▶ DONE
        │                        │                      │
        │                        └──a failure───────────┴──▶ RETURNING ──▶ FAILED
        └──NurseryFailed, or too late──────────────────────────────────▶ FAILED

A failure moves back all that were moved, the same way, to the old nursery, which
still has the old code loaded. There a deposit is proof enough: it is what the
sessions lived on before.

Invariants, checked by tests/keeper/test_upgrade.py:

I1  At most one holder has been asked to leave and not come back, at any moment.
    One that takes too long on the way back is left to the keeper's ordinary care.
I2  Nothing is replaced before every session is proven on the new code.
I3  After a failure, every session's next holder is forked from the old code.
I4  It ends: every wait has a deadline, and its answer leads on.
"""

import enum
from collections import deque
from dataclasses import dataclass

READY_PATIENCE = 10.0
"""Seconds for a nursery to load its code: a hundred times what it needs."""

LEAVE_PATIENCE = 5.0
"""Seconds for a holder to come to a point where it can leave. One that does not is
killed: its death is survived as any other is."""

ARRIVE_PATIENCE = 5.0
"""Seconds for a successor to deposit and answer. Clients wait as long."""

CHECK_PATIENCE = 10.0
"""Seconds for the new code to read the keeper's state."""


class Side(enum.Enum):
    """Which of the two nurseries."""

    OLD = "old"
    NEW = "new"


class Phase(enum.Enum):
    """How far the upgrade is."""

    STARTING = "starting"
    MOVING = "moving"
    CHECKING = "checking"
    RETURNING = "returning"
    DONE = "done"
    FAILED = "failed"


class _Step(enum.Enum):
    LEAVING = "leaving"
    KILLED = "killed"
    ARRIVING = "arriving"
    PROVING = "proving"


@dataclass(frozen=True, slots=True)
class NurseryReady:
    """The new nursery has loaded its code."""

    dozes: bool = True
    """Whether its holders can take up a session that dozes as it was left."""


@dataclass(frozen=True, slots=True)
class NurseryFailed:
    """The new nursery could not be started, or has died."""

    why: str


@dataclass(frozen=True, slots=True)
class Left:
    """A holder's link has ended."""

    session: str


@dataclass(frozen=True, slots=True)
class BornDead:
    """A successor died before it deposited."""

    session: str


@dataclass(frozen=True, slots=True)
class Deposited:
    """A holder has taken a session up."""

    session: str


@dataclass(frozen=True, slots=True)
class Proven:
    """A holder has answered from its loop."""

    session: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A session's record was dropped."""

    session: str


@dataclass(frozen=True, slots=True)
class StateRead:
    """The new code could read the keeper's state."""


@dataclass(frozen=True, slots=True)
class StateUnread:
    """The new code could not."""

    why: str


@dataclass(frozen=True, slots=True)
class AskToLeave:
    """Start a successor, which waits, and ask the holder to leave.

    A session without a holder has been left.
    """

    session: str


@dataclass(frozen=True, slots=True)
class KillHolder:
    """Kill the holder of a session, or one about to be."""

    session: str


@dataclass(frozen=True, slots=True)
class KillSuccessor:
    """Kill the candidate for a session, and leave its holder alone."""

    session: str


@dataclass(frozen=True, slots=True)
class AskProof:
    """Ask a session's holder to answer from its loop."""

    session: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Report progress to the requester."""

    moved: int
    total: int


@dataclass(frozen=True, slots=True)
class CheckState:
    """Let the new code read the keeper's state."""


@dataclass(frozen=True, slots=True)
class EndNursery:
    """End one of the nurseries."""

    side: Side


@dataclass(frozen=True, slots=True)
class ReplaceKeeper:
    """Replace the keeper's own code. Nothing comes after it."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell the requester that all is as before, and why."""

    session: str
    why: str


Event = (
    NurseryReady
    | NurseryFailed
    | Left
    | BornDead
    | Deposited
    | Proven
    | Forgotten
    | StateRead
    | StateUnread
)
Effect = (
    AskToLeave
    | KillHolder
    | KillSuccessor
    | AskProof
    | Tell
    | CheckState
    | EndNursery
    | ReplaceKeeper
    | Refuse
)


class Upgrade:
    """One upgrade, from its beginning to its end."""

    def __init__(
        self, sessions: list[str], now: float, asleep: list[str] | None = None
    ) -> None:
        self.phase = Phase.STARTING
        self._pending = deque(sessions)
        self._asleep = asleep or []
        self._moved: list[str] = []
        self._new: set[str] = set()
        self._current: str | None = None
        self._step = _Step.LEAVING
        self._failure = Refuse("", "")
        self._deadline: float | None = now + READY_PATIENCE

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.phase in (Phase.DONE, Phase.FAILED)

    def side_of(self, session: str) -> Side:
        """Return which nursery forks the next holder of a session."""
        # Once all are moved, who wakes has not been moved and need not be.
        is_late = self.phase is Phase.CHECKING
        return Side.NEW if session in self._new or is_late else Side.OLD

    @property
    def side_of_births(self) -> Side:
        """Which nursery makes sessions now."""
        return Side.NEW if self.phase is Phase.CHECKING else Side.OLD

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when it is over."""
        return self._deadline

    def handle(  # noqa: C901, PLR0911  # one case for each event
        self, event: Event, now: float
    ) -> list[Effect]:
        """Take what happened."""
        match event:
            case NurseryReady(dozes):
                return self._ready(now, dozes=dozes)
            case NurseryFailed(why):
                return self._nursery_failed(why, now)
            case Left(session):
                return self._left(session, now)
            case BornDead(session):
                return self._born_dead(session, now)
            case Deposited(session):
                return self._deposited(session, now)
            case Proven(session):
                is_it = session == self._current and self._step is _Step.PROVING
                return self._arrived(now) if is_it else []
            case Forgotten(session):
                return self._forgotten(session, now)
            case StateRead():
                return self._replace() if self.phase is Phase.CHECKING else []
            case StateUnread(why):
                return self._fail("", why, now) if self.phase is Phase.CHECKING else []

    def tick(self, now: float) -> list[Effect]:
        """Do what the clock demands. Call it at or after `next_deadline()`."""
        if self._deadline is None or now < self._deadline:
            return []
        if self.phase is Phase.STARTING:
            return self._nursery_failed("is not ready in time", now)
        if self.phase is Phase.CHECKING:
            return self._fail("", "cannot read the keeper's state in time", now)
        assert self._current is not None  # noqa: S101  # the other phases move one
        if self._step is _Step.LEAVING:
            self._step = _Step.KILLED
            self._deadline = now + ARRIVE_PATIENCE
            return [KillHolder(self._current)]
        return self._too_late(self._current, now)

    # ── one session ───────────────────────────────────────────────────────

    def _ready(self, now: float, *, dozes: bool) -> list[Effect]:
        if self.phase is not Phase.STARTING:
            return []
        # What dozes has no code under it. One of them shows that it will wake.
        self._pending.extend(self._asleep[:1] if dozes else self._asleep)
        return self._next(now)

    def _next(self, now: float) -> list[Effect]:
        """Move the next session, or go on to what comes after the last."""
        if self.phase is Phase.RETURNING:
            return self._return_next(now)
        if not self._pending:
            self.phase, self._current = Phase.CHECKING, None
            self._deadline = now + CHECK_PATIENCE
            return [CheckState()]
        self.phase = Phase.MOVING
        session = self._pending.popleft()
        self._new.add(session)
        return self._send_off(session, now)

    def _send_off(self, session: str, now: float) -> list[Effect]:
        self._current, self._step = session, _Step.LEAVING
        self._deadline = now + LEAVE_PATIENCE
        return [AskToLeave(session)]

    def _left(self, session: str, now: float) -> list[Effect]:
        if session != self._current:
            return []
        if self._step is _Step.PROVING:
            return self._fail(session, "its new holder died at once", now)
        if self._step is not _Step.ARRIVING:
            self._step = _Step.ARRIVING
            self._deadline = now + ARRIVE_PATIENCE
        return []

    def _born_dead(self, session: str, now: float) -> list[Effect]:
        # On the way back the keeper's ordinary care makes another.
        if session != self._current or self.phase is Phase.RETURNING:
            return []
        return self._fail(session, "its new holder died before it could start", now)

    def _deposited(self, session: str, now: float) -> list[Effect]:
        if session != self._current:
            known = session in self._new or session in self._pending
            if self.phase in (Phase.STARTING, Phase.MOVING) and not known:
                self._pending.append(session)
                self._wake(session)
            elif self.phase is Phase.CHECKING and not known:
                self._new.add(session)
                self._moved.append(session)
            return []
        if self._step is not _Step.ARRIVING:
            return []
        if self.phase is Phase.RETURNING:
            return self._return_next(now)
        self._step = _Step.PROVING
        return [AskProof(session)]

    def _arrived(self, now: float) -> list[Effect]:
        assert self._current is not None  # noqa: S101  # it is who has arrived
        self._moved.append(self._current)
        total = len(self._moved) + len(self._pending)
        return [Tell(len(self._moved), total), *self._next(now)]

    def _forgotten(self, session: str, now: float) -> list[Effect]:
        self._new.discard(session)
        if session in self._pending:
            self._pending.remove(session)
        if session in self._moved:
            self._moved.remove(session)
        self._wake(session)
        return self._next(now) if session == self._current else []

    def _wake(self, session: str) -> None:
        if session in self._asleep:
            self._asleep.remove(session)

    def _too_late(self, session: str, now: float) -> list[Effect]:
        if self.phase is Phase.RETURNING:
            return self._return_next(now)
        return self._fail(session, "its new holder did not answer in time", now)

    # ── the end, good or bad ──────────────────────────────────────────────

    def _replace(self) -> list[Effect]:
        self.phase, self._deadline = Phase.DONE, None
        return [EndNursery(Side.OLD), ReplaceKeeper()]

    def _nursery_failed(self, why: str, now: float) -> list[Effect]:
        said = f"the new nursery {why}"
        if self.phase is Phase.STARTING:
            self._failure = Refuse("", said)
            return self._give_up()
        if self.phase in (Phase.MOVING, Phase.CHECKING):
            return self._fail(self._current or "", said, now)
        return []

    def _fail(self, session: str, why: str, now: float) -> list[Effect]:
        self._failure = Refuse(session, why)
        self.phase = Phase.RETURNING
        self._pending.clear()
        current, self._current = self._current, None
        self._new = set(self._moved)
        if current is None:
            return self._return_next(now)
        self._current = current
        if self._step is _Step.LEAVING:
            # Who has it is of the old code still, and leaves in its own time.
            return [KillSuccessor(current)]
        # Its holder, now or soon, runs the new code.
        self._step = _Step.KILLED
        self._deadline = now + LEAVE_PATIENCE
        return [KillHolder(current)]

    def _return_next(self, now: float) -> list[Effect]:
        if not self._moved:
            return self._give_up()
        session = self._moved.pop()
        self._new.discard(session)
        return self._send_off(session, now)

    def _give_up(self) -> list[Effect]:
        self.phase, self._deadline, self._current = Phase.FAILED, None, None
        self._new.clear()
        return [EndNursery(Side.NEW), self._failure]
