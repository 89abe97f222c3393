"""The life of a session: its states, and what follows from each event.

Theory of operation
-------------------
A session has one life at a time, numbered by its incarnation. Nobody's coming
or going changes the state; only its leader's exit, an end that is asked for, or
the loss of its processes does.

               Started            EndAsked              LeaderExited
    STARTING ───────────▶ RUNNING ─────────▶ ENDING ──────────────────▶ EXITED
      │ │ │                │ │ ▲               │                          ▲ ▲
      │ │ │                │ └─┼───────────────┼──LeaderExited────────────┘ │
      │ │ └─EndAsked───────┼───┼──────────────▶│                            │
      │ └─StartFailed, LeaderExited────────────┼────────────────────────────┘
      │                    │   │ Recovered     │
      └──Lost──────────────┴─▶ LOST ◀──────────┘

Beside the state, and independent of it: who is attached, and what keeps the
session frozen (an operator, the fence, or both).

Invariants, checked by tests/core/session/test_session_properties.py:

I1  Incarnations only go up, and a new one begins only when the last is LOST and
    swept: there are never two lives.
I2  The processes run if and only if no reason to freeze stands; thawing one
    reason leaves the other.
I3  No fenced process is ever let run again, not even to be told to end.
I4  Once asked for, the end comes: GRACE after the first request everything is
    killed, and again every GRACE until the leader has exited.
I5  An exit status, once known, stays what it is for as long as the record lives.
I6  A leader's exit, or a loss, sweeps what is left, again until it is confirmed.
I7  What is said of an earlier life changes nothing in this one.
"""

import enum
from dataclasses import dataclass

from holdfast.model import errors
from holdfast.model.ids import (
    FIRST_INCARNATION,
    ActorId,
    ClientId,
    Incarnation,
)

GRACE = 5.0
"""Seconds a program has to end by itself: enough to save, too short to hide in."""

KILL = 9
"""The one signal that nothing can catch; Linux numbers it so everywhere."""


class State(enum.StrEnum):
    """Where a session is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    ENDING = "ending"
    EXITED = "exited"
    LOST = "lost"


class FrozenBy(enum.StrEnum):
    """Why the processes do not run."""

    BY_FENCE = "fence"
    BY_OPERATOR = "operator"


class How(enum.StrEnum):
    """What a recovered session was made from."""

    CHECKPOINT = "checkpoint"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How the leader ended: with a code, or by a signal."""

    code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The leader runs."""

    pid: int


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The leader could not be started, and nothing of it is left."""

    why: str


@dataclass(frozen=True, slots=True)
class Attached:
    """An operator was admitted."""

    actor: ActorId
    client: ClientId


@dataclass(frozen=True, slots=True)
class Detached:
    """A client is gone."""

    client: ClientId
    reason: str


@dataclass(frozen=True, slots=True)
class FreezeAsked:
    """An operator who may wants every process stopped."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class ThawAsked:
    """An operator who may wants the processes to go on."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class Fenced:
    """The lease of `incarnation` ran out."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Unfenced:
    """The lease of `incarnation` was granted again."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class EndAsked:
    """An operator who may, the reaper included, wants the session to end."""

    actor: ActorId
    signal: int


@dataclass(frozen=True, slots=True)
class LeaderExited:
    """The leader of `incarnation` was collected."""

    incarnation: Incarnation
    status: ExitStatus


@dataclass(frozen=True, slots=True)
class LeftoversSwept:
    """Nothing of `incarnation` runs any more; `count` processes had to go."""

    incarnation: Incarnation
    count: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The holder of `incarnation` is gone, and the exit status with it."""

    incarnation: Incarnation
    why: str


@dataclass(frozen=True, slots=True)
class Recovered:
    """A new life runs. `said` is what the operators are told is gone."""

    incarnation: Incarnation
    pid: int
    how: How
    said: str


@dataclass(frozen=True, slots=True)
class Signal:
    """Send `signal` to the leader."""

    signal: int


@dataclass(frozen=True, slots=True)
class KillAll:
    """Kill every process of the session, frozen or not, without a thaw."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """Stop every process of the session."""


@dataclass(frozen=True, slots=True)
class Thaw:
    """Let every process of the session go on."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Kill what is left of `incarnation`, and say how much there was."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer the event with an error; nothing has changed."""

    error: errors.HoldfastError


Event = (
    Started
    | StartFailed
    | Attached
    | Detached
    | FreezeAsked
    | ThawAsked
    | Fenced
    | Unfenced
    | EndAsked
    | LeaderExited
    | LeftoversSwept
    | Lost
    | Recovered
)
Effect = Signal | KillAll | Freeze | Thaw | Sweep | Refuse

_ALIVE = frozenset({State.STARTING, State.RUNNING, State.ENDING})


class SessionLife:
    """The life of one session; as large as the number of its attached clients.

    A session that comes from elsewhere, or from a disk, begins LOST with
    nothing to sweep, as the incarnation it had there, and is then Recovered.
    """

    def __init__(
        self,
        incarnation: Incarnation = FIRST_INCARNATION,
        *,
        is_recovering: bool = False,
    ) -> None:
        self.incarnation = incarnation
        """Which life it is."""

        self.state = State.LOST if is_recovering else State.STARTING
        """Where the session is in its life."""

        self.pid: int | None = None
        """The leader, or the last one there was."""

        self.exit_status: ExitStatus | None = None
        """How the leader ended, from when it is known on."""

        self._attached: set[ClientId] = set()
        self._fenced: Incarnation | None = None
        self._is_held_still = False
        self._end_signal: int | None = None
        self._kill_at: float | None = None
        self._sweep_at: float | None = None

    @property
    def attached(self) -> int:
        """How many clients are attached."""
        return len(self._attached)

    @property
    def frozen_by(self) -> frozenset[FrozenBy]:
        """Every reason for which the processes do not run; empty: they run."""
        reasons: set[FrozenBy] = set()
        if self._is_held_still:
            reasons.add(FrozenBy.BY_OPERATOR)
        if self._fenced == self.incarnation:
            reasons.add(FrozenBy.BY_FENCE)
        return frozenset(reasons)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what happened to the session or was asked of it."""
        match event:
            case Attached() | Detached():
                return self._handle_operators(event)
            case FreezeAsked() | ThawAsked() | Fenced() | Unfenced():
                return self._handle_freezing(event)
            case EndAsked():
                return self._ask_end(event, now)
            case Started() | StartFailed() | Recovered():
                return self._handle_beginnings(event)
            case LeaderExited() | LeftoversSwept() | Lost():  # pragma: no branch
                return self._handle_endings(event, now)

    def tick(self, now: float) -> list[Effect]:
        """Escalate what is due. Call it at or after `next_deadline()`."""
        effects: list[Effect] = []
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = now + GRACE
            self._end_signal = KILL
            effects.append(KillAll())
        if self._sweep_at is not None and now >= self._sweep_at:
            self._sweep_at = now + GRACE
            effects.append(Sweep(self.incarnation))
        return effects

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        return self._sweep_at if self._kill_at is None else self._kill_at

    # ── who is attached ───────────────────────────────────────────────────────

    def _handle_operators(self, event: Attached | Detached) -> list[Effect]:
        match event:
            case Attached(_, client):
                if self.state is State.LOST:
                    return [Refuse(errors.SessionLost(self.incarnation))]
                self._attached.add(client)
            case Detached(client):  # pragma: no branch
                self._attached.discard(client)
        return []

    # ── what keeps it frozen ──────────────────────────────────────────────────

    def _handle_freezing(
        self, event: FreezeAsked | ThawAsked | Fenced | Unfenced
    ) -> list[Effect]:
        match event:
            case FreezeAsked():
                return self._refusal() or self._hold_still()
            case ThawAsked():
                return self._refusal() or self._let_go()
            case Fenced(incarnation):
                return self._fence(incarnation)
            case Unfenced(incarnation):  # pragma: no branch
                return self._unfence(incarnation)

    def _hold_still(self) -> list[Effect]:
        before, self._is_held_still = self.frozen_by, True
        return self._moved(before)

    def _let_go(self) -> list[Effect]:
        before, self._is_held_still = self.frozen_by, False
        if before == {FrozenBy.BY_FENCE}:
            return [Refuse(errors.LeaseLost(self.incarnation))]
        return self._moved(before)

    def _fence(self, incarnation: Incarnation) -> list[Effect]:
        # A fence may overtake the recovery it belongs to: it is kept for then.
        if incarnation < self.incarnation or incarnation == self._fenced:
            return []
        before, self._fenced = self.frozen_by, incarnation
        return self._moved(before)

    def _unfence(self, incarnation: Incarnation) -> list[Effect]:
        if incarnation != self._fenced:
            return []
        before, self._fenced = self.frozen_by, None
        return self._moved(before)

    def _moved(self, before: frozenset[FrozenBy]) -> list[Effect]:
        has_processes = self.pid is not None and self.state in _ALIVE
        if not has_processes or bool(before) == bool(self.frozen_by):
            return []
        return [Freeze()] if self.frozen_by else [Thaw()]

    # ── how it begins ─────────────────────────────────────────────────────────

    def _handle_beginnings(
        self, event: Started | StartFailed | Recovered
    ) -> list[Effect]:
        match event:
            case Started(pid):
                return self._start(pid)
            case StartFailed():
                if self.state not in _ALIVE or self.pid is not None:
                    return []
                self.state = State.EXITED
                self._kill_at = None
                return []
            case Recovered():  # pragma: no branch
                return self._recover(event)

    def _start(self, pid: int) -> list[Effect]:
        if self.state not in _ALIVE or self.pid is not None:
            return []
        self.pid = pid
        effects = self._moved(frozenset())
        if self._end_signal is not None:
            return effects + self._tell_to_end(self._end_signal)
        self.state = State.RUNNING
        return effects

    def _recover(self, event: Recovered) -> list[Effect]:
        if event.incarnation <= self.incarnation:
            error = errors.StaleIncarnation(event.incarnation, self.incarnation)
            return [Refuse(error)]
        if self.state is State.EXITED:
            return [Refuse(errors.SessionOver(self.state))]
        if self.state is not State.LOST or self._sweep_at is not None:
            return [Refuse(errors.StillAlive(self.incarnation, self.state))]
        self.incarnation = event.incarnation
        self.state = State.RUNNING
        self.pid = event.pid
        if event.how is How.COLD:
            self._is_held_still = False  # What was held still is not there any more.
        return self._moved(frozenset())

    # ── how it ends ───────────────────────────────────────────────────────────

    def _ask_end(self, event: EndAsked, now: float) -> list[Effect]:
        if refusal := self._refusal():
            return refusal
        if self._kill_at is None:
            self._kill_at = now + GRACE  # A further request never prolongs it.
        if self._end_signal != KILL:
            self._end_signal = event.signal
        self.state = State.ENDING
        return [] if self.pid is None else self._tell_to_end(self._end_signal)

    def _tell_to_end(self, signal: int) -> list[Effect]:
        before = self.frozen_by
        if signal == KILL or FrozenBy.BY_FENCE in before:
            self._end_signal = KILL
            return [KillAll()]
        if not before:
            return [Signal(signal)]
        # The signal goes first: the first thing a thawed program does is obey it.
        self._is_held_still = False
        return [Signal(signal), Thaw()]

    def _handle_endings(
        self, event: LeaderExited | LeftoversSwept | Lost, now: float
    ) -> list[Effect]:
        if event.incarnation != self.incarnation:
            return []
        match event:
            case LeftoversSwept():
                self._sweep_at = None
            case LeaderExited(_, status) if self.state in _ALIVE:
                self.exit_status = status
                return self._close(State.EXITED, now)
            case Lost() if self.state in _ALIVE:
                self._attached.clear()
                return self._close(State.LOST, now)
            case LeaderExited() | Lost():  # pragma: no branch
                pass
        return []

    def _close(self, state: State, now: float) -> list[Effect]:
        self.state = state
        self._kill_at = self._end_signal = None
        self._sweep_at = now + GRACE
        return [Sweep(self.incarnation)]

    # ── what is said ──────────────────────────────────────────────────────────

    def _refusal(self) -> list[Effect]:
        match self.state:
            case State.LOST:
                return [Refuse(errors.SessionLost(self.incarnation))]
            case State.EXITED:
                return [Refuse(errors.SessionOver(self.state))]
            case _:
                return []
