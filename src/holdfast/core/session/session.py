"""The life of a session: how it ends, and what follows from each event.

Theory of operation
-------------------
One process holds one life of a session, whose leader runs when it begins.
Nobody's coming or going changes the state; only its leader's exit does, or an
end that is asked for.

              EndAsked           LeaderExited
    RUNNING ───────────▶ ENDING ──────────────▶ EXITED
       │                                          ▲
       └────────────────LeaderExited──────────────┘

Beside the state, and independent of it: whether the session is fenced.

Invariants, checked by tests/core/session/test_session_properties.py:

I1  No fenced process is ever let run again, not even to be told to end.
I2  Once asked for, the end comes: GRACE after the first request everything is
    killed, and again every GRACE until the leader has exited.
I3  A leader's exit sweeps what is left, again until it is confirmed.
"""

import enum
from dataclasses import dataclass

GRACE = 5.0
"""Seconds a program has to end by itself: enough to save, too short to hide in."""

KILL = 9
"""The one signal that nothing can catch; Linux numbers it so everywhere."""


class State(enum.StrEnum):
    """Where a session is in its life."""

    RUNNING = "running"
    ENDING = "ending"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class Fenced:
    """The lease ran out."""


@dataclass(frozen=True, slots=True)
class Unfenced:
    """The lease was granted again."""


@dataclass(frozen=True, slots=True)
class EndAsked:
    """An operator who may, the reaper included, wants the session to end."""

    signal: int


@dataclass(frozen=True, slots=True)
class LeaderExited:
    """The leader was collected."""


@dataclass(frozen=True, slots=True)
class LeftoversSwept:
    """Nothing of it runs any more."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Send `signal` to the leader."""

    signal: int


@dataclass(frozen=True, slots=True)
class KillAll:
    """Kill every process of the session, frozen or not, without a thaw."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Kill what is left, and say when nothing is."""


Event = Fenced | Unfenced | EndAsked | LeaderExited | LeftoversSwept
Effect = Signal | KillAll | Sweep


class SessionLife:
    """One life of one session, from when its leader runs."""

    def __init__(self) -> None:
        self.state = State.RUNNING
        """Where the session is in its life."""

        self._is_fenced = False
        self._end_signal: int | None = None
        self._kill_at: float | None = None
        self._sweep_at: float | None = None

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what happened to the session or was asked of it."""
        match event:
            case Fenced() | Unfenced():
                self._is_fenced = isinstance(event, Fenced)
            case EndAsked(signal) if self.state is not State.EXITED:
                return self._ask_end(signal, now)
            case LeaderExited() if self.state is not State.EXITED:
                self.state = State.EXITED
                self._kill_at = None
                self._sweep_at = now + GRACE
                return [Sweep()]
            case LeftoversSwept():
                self._sweep_at = None
            case EndAsked() | LeaderExited():  # pragma: no branch
                pass  # It is over.
        return []

    def tick(self, now: float) -> list[Effect]:
        """Escalate what is due. Call it at or after `next_deadline()`."""
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = now + GRACE
            self._end_signal = KILL
            return [KillAll()]
        if self._sweep_at is not None and now >= self._sweep_at:
            self._sweep_at = now + GRACE
            return [Sweep()]
        return []

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        return self._sweep_at if self._kill_at is None else self._kill_at

    def _ask_end(self, signal: int, now: float) -> list[Effect]:
        self.state = State.ENDING
        if self._kill_at is None:
            self._kill_at = now + GRACE  # A further request never prolongs it.
        if self._end_signal != KILL:
            self._end_signal = KILL if self._is_fenced else signal
        return [KillAll() if self._end_signal == KILL else Signal(self._end_signal)]
