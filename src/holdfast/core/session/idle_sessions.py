"""Which idle sessions are reclaimed, and when.

Theory of operation
-------------------
An observer looks at every session now and then and tells what it counted. A
session is quiet as long as nothing is counted and nothing is live: nobody
attached, no output, no input, no CPU, no foreground job, and nothing that spares
it, such as a `keep` mark. Quiet through the policy's window, or the longest quiet
of a population or of a memory use over its cap, it is warned by the clock, given
the warning time, and reaped by the first look that finds it quiet still. Reaping
is committed elsewhere, where an attach can still beat it; the answer comes back as
an event.

    QUIET ──warn time──▶ WARNED ──warning over──▶ REAPING ──Reaped──▶ (gone)
      ▲                    │                         │
      └──any activity──────┴──────ReapRefused────────┘

Invariants, checked by tests/core/session/test_idle_sessions_properties.py:

I1  Nothing is reaped that was live or active at any observation within the
    idle time that its Reap names.
I2  Nothing is reaped without a warning that stood for the whole warning time.
I3  Reap is said once; not again before it was refused and the time began anew.
I4  Time in which nobody looked is not idle time, and nothing is decided in it.
I5  For a cap the longest quiet go first, and no more of them than it takes.

Time is that of a monotonic clock, so a step of the wall clock is no idleness
(F47); a gap between two looks longer than the policy's means that the observer
or the machine slept, and is taken out of the account.
"""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.ids import SessionId

PACE = 10.0
"""Seconds between two looks, unless the policy says otherwise."""

MISSED = 3
"""Paces without a look that we vouch for: one missed look costs nothing."""


IDLE_LEADER = frozenset({"waiting-for-input", "idle"})
"""What a leader that is no shell does while it does nothing."""


def has_job(word: str, *, is_leader: bool) -> bool:
    """Tell whether a live job has the terminal, by the state's word.

    `is_leader` says whether the session's leader itself is in the foreground.
    """
    if word == "at-prompt":
        return False
    return not (is_leader and word in IDLE_LEADER)


class Action(enum.StrEnum):
    """What reaping does to a session."""

    END = "end"
    CHECKPOINT = "checkpoint"


class Reason(enum.StrEnum):
    """Why a session is reaped."""

    IDLE_WINDOW = "idle-window"
    POPULATION_CAP = "population-cap"
    MEMORY_CAP = "memory-cap"


@dataclass(frozen=True, slots=True)
class Policy:
    """How long idle is too long, in seconds, and how many sessions may stay.

    A window of `math.inf` leaves it to the caps.
    """

    window: float
    warning: float
    action: Action
    max_resident: int | None = None
    max_memory: int | None = None
    """Bytes that all of them together may have in memory."""

    pace: float = PACE
    """Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What was counted of one session; counters are compared, never added up."""

    attached: int = 0
    output_bytes: int = 0
    inputs: int = 0
    cpu_ticks: int = 0
    foreground_job: bool = False
    spared: str = ""
    """Why it is not to be reaped, whatever it does; empty if it may be."""

    @property
    def is_live(self) -> bool:
        """Whether this alone shows that the session is in use or to be kept."""
        return bool(self.why_live)

    @property
    def why_live(self) -> str:
        """Why this alone shows that, in a few words; empty if it does not."""
        if self.spared:
            return self.spared
        if self.attached:
            return "somebody is attached"
        return "a job runs in the foreground" if self.foreground_job else ""


@dataclass(frozen=True, slots=True)
class Observed:
    """The observer looked at a resident session just now."""

    session: SessionId
    activity: Activity
    memory: int = 0
    """Bytes that it has in memory."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """The reap was committed; the session is resident no more."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class ReapRefused:
    """The session was used before the commit, or it could not be done."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Departed:
    """The session ended or moved by itself."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Warn:
    """Warn the operators that the session goes in `reap_in` seconds."""

    session: SessionId
    reap_in: float
    reason: Reason = Reason.IDLE_WINDOW


@dataclass(frozen=True, slots=True)
class Unwarn:
    """Take the warning back."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Reap:
    """Commit `action`, unless the session has stirred since the last look.

    `idle` ends with that look. The answer is Reaped or ReapRefused.
    """

    session: SessionId
    action: Action
    idle: float
    reason: Reason


Event = Observed | Reaped | ReapRefused | Departed
Effect = Warn | Unwarn | Reap


@dataclass(frozen=True, slots=True)
class Standing:
    """How a session stands: for how long it is idle, and what follows from that."""

    session: SessionId
    idle: float
    why_not: str
    """Why it is not reaped, for people; empty if it is going to be."""

    reason: Reason | None
    """Why it is going to be."""

    reap_in: float | None
    """Seconds until it may be, by what is known now; None if it is not going to be."""


@dataclass(slots=True)
class _Watch:
    """What is known of one session."""

    session: SessionId
    activity: Activity
    observed_at: float
    quiet_since: float
    memory: int = 0
    warned_at: float | None = None
    crowding: Reason | None = None
    is_reaping: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether at least two looks in a row saw nothing."""
        return not self.activity.is_live and self.observed_at > self.quiet_since


class Reaper:
    """Decides about every resident session of one host.

    As large as the population that is observed; the observer must report
    each session's end (`Reaped` or `Departed`) and not observe it afterwards.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._watches: dict[SessionId, _Watch] = {}
        self._look_at: float | None = None
        self._ticked_at = float("-inf")

    def idle(self, session: SessionId, now: float) -> float | None:
        """Return for how long `session` is known to be idle; None: not watched."""
        watch = self._watches.get(session)
        if watch is None:
            return None
        return self._idle(watch, now)

    def standings(self, now: float) -> list[Standing]:
        """Return how every session stands, the longest idle first."""
        found = [self._standing(watch, now) for watch in self._watches.values()]
        return sorted(found, key=lambda one: (-one.idle, one.session))

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what the observer saw or the commit said."""
        self._look_at = now
        match event:
            case Observed():
                return self._observe(event, now)
            case ReapRefused():
                self._begin_anew(event.session, now)
            case Reaped() | Departed():  # pragma: no branch
                self._watches.pop(event.session, None)
        return []

    def tick(self, now: float) -> list[Effect]:
        """Warn and reap what is due. Call it at or after `next_deadline()`."""
        self._look_at = None
        self._ticked_at = now
        watches = [
            watch
            for watch in self._watches.values()
            if self._is_seen(watch, now) and not watch.is_reaping
        ]
        self._mark_crowd(watches)
        return [effect for watch in watches for effect in self._judge(watch, now)]

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when only a new look can tell."""
        if self._look_at is not None:
            return self._look_at
        warned_at = (
            self._warn_at(watch)
            for watch in self._watches.values()
            if self._is_due_to_be_warned(watch)
        )
        return min(warned_at, default=None)

    def _is_seen(self, watch: _Watch, now: float) -> bool:
        """Tell whether the last look is recent enough to decide by."""
        return now <= watch.observed_at + MISSED * self._policy.pace

    def _idle(self, watch: _Watch, now: float) -> float:
        seen = now if self._is_seen(watch, now) else watch.observed_at
        return 0.0 if watch.activity.is_live else seen - watch.quiet_since

    def _standing(self, watch: _Watch, now: float) -> Standing:
        idle, activity = self._idle(watch, now), watch.activity
        if activity.is_live:
            return Standing(watch.session, idle, activity.why_live, None, None)
        reason = watch.crowding
        if watch.crowding is None and self._policy.window < math.inf:
            reason = Reason.IDLE_WINDOW
        if reason is None:
            return Standing(watch.session, idle, "there is room for it", None, None)
        warned_at = watch.warned_at
        if warned_at is None:
            warned_at = max(now, self._warn_at(watch)) if not watch.crowding else now
        left = max(self._reap_at(watch, warned_at) - now, 0.0)
        return Standing(watch.session, idle, "", reason, left)

    def _observe(self, seen: Observed, now: float) -> list[Effect]:
        session, activity = seen.session, seen.activity
        watch = self._watches.get(session)
        if watch is None:
            self._watches[session] = _Watch(session, activity, now, now, seen.memory)
            return []
        is_active = activity.is_live or activity != watch.activity
        slept = 0.0 if self._is_seen(watch, now) else now - watch.observed_at
        watch.activity, watch.memory = activity, seen.memory
        watch.observed_at = now
        if is_active:
            watch.quiet_since = now
            return _unwarned(watch)
        watch.quiet_since = min(watch.quiet_since + slept, now)
        if watch.warned_at is not None:
            watch.warned_at = min(watch.warned_at + slept, now)
        return []

    def _begin_anew(self, session: SessionId, now: float) -> None:
        watch = self._watches.get(session)
        if watch is not None:
            watch.is_reaping = False
            watch.warned_at = None
            # What was quiet until now is in use, or could not be reaped.
            watch.quiet_since = max(now, watch.quiet_since)

    def _mark_crowd(self, residents: Sequence[_Watch]) -> None:
        policy = self._policy
        over, excess = 0, 0
        if policy.max_resident is not None:
            over = len(residents) - policy.max_resident
        if policy.max_memory is not None:
            excess = sum(watch.memory for watch in residents) - policy.max_memory
        for watch in residents:
            watch.crowding = None
        quiet = [watch for watch in residents if watch.is_quiet]
        quiet.sort(key=lambda watch: (watch.quiet_since, watch.session))
        for watch in quiet:
            if over > 0:
                watch.crowding = Reason.POPULATION_CAP
            elif excess > 0 and watch.memory:
                watch.crowding = Reason.MEMORY_CAP
            else:
                continue
            over -= 1
            excess -= watch.memory

    def _judge(self, watch: _Watch, now: float) -> list[Effect]:
        if watch.crowding is None and not self._is_in_warn_time(watch, now):
            return _unwarned(watch)
        effects: list[Effect] = []
        if watch.warned_at is None:
            watch.warned_at = now
            reason = watch.crowding or Reason.IDLE_WINDOW
            left = self._reap_at(watch, now) - now
            effects.append(Warn(watch.session, left, reason))
        # By the look and not by the clock: what it did since then, nobody saw.
        if watch.observed_at >= self._reap_at(watch, watch.warned_at):
            watch.is_reaping = True
            effects.append(self._reap(watch))
        return effects

    def _reap(self, watch: _Watch) -> Reap:
        is_due = watch.observed_at >= watch.quiet_since + self._policy.window
        reason = Reason.IDLE_WINDOW
        if watch.crowding is not None and not is_due:
            reason = watch.crowding
        idle = watch.observed_at - watch.quiet_since
        return Reap(watch.session, self._policy.action, idle, reason)

    def _is_due_to_be_warned(self, watch: _Watch) -> bool:
        return (
            watch.warned_at is None
            and not watch.activity.is_live
            and self._policy.window < math.inf
            and self._is_seen(watch, max(self._warn_at(watch), self._ticked_at))
        )

    def _is_in_warn_time(self, watch: _Watch, now: float) -> bool:
        return not watch.activity.is_live and now >= self._warn_at(watch)

    def _warn_at(self, watch: _Watch) -> float:
        return watch.quiet_since + self._policy.window - self._policy.warning

    def _reap_at(self, watch: _Watch, warned_at: float) -> float:
        told_at = warned_at + self._policy.warning
        if watch.crowding is not None:
            return told_at
        return max(told_at, watch.quiet_since + self._policy.window)


def _unwarned(watch: _Watch) -> list[Effect]:
    if watch.warned_at is None or watch.is_reaping:
        return []
    watch.warned_at = None
    return [Unwarn(watch.session)]
