"""Which idle sessions are reclaimed, and when.

Theory of operation
-------------------
An observer looks at every session now and then and tells what it counted. A
session is quiet as long as nothing is counted and nothing is live: nobody
attached, no output, no input, no CPU, no foreground job, no `keep` mark. Quiet
through the policy's window, or the longest quiet of a population over its cap,
it is warned by the clock, given the warning time, and reaped by the first look
that finds it quiet still. Reaping is committed elsewhere, where an attach can
still beat it; the answer comes back as an event.

    QUIET ──warn time──▶ WARNED ──warning over──▶ REAPING ──Reaped──▶ (gone)
      ▲                    │                         │
      └──any activity──────┴──────ReapRefused────────┘

Invariants, checked by tests/core/session/test_idle_sessions_properties.py:

I1  Nothing is reaped that was live or active at any observation within the
    idle time that its Reap names.
I2  Nothing is reaped without a warning that stood for the whole warning time.
I3  Reap is said once; not again before it was refused and the time began anew.
I4  Time in which nobody looked is not idle time, and nothing is decided in it.
I5  For the cap the longest quiet go first, and no more of them than are over it.

Time is that of a monotonic clock, so a step of the wall clock is no idleness
(F47); a gap between two looks longer than OBSERVE_GAP means that the observer
or the machine slept, and is taken out of the account.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.model.ids import SessionId

OBSERVE_GAP = 30.0
"""Longest time between two looks that we vouch for: three times the pace at
which sessions are looked at, so that one missed look costs nothing."""


class Action(enum.StrEnum):
    """What reaping does to a session."""

    END = "end"
    CHECKPOINT = "checkpoint"


class Reason(enum.StrEnum):
    """Why a session is reaped."""

    IDLE_WINDOW = "idle-window"
    POPULATION_CAP = "population-cap"


@dataclass(frozen=True, slots=True)
class Policy:
    """How long idle is too long, in seconds, and how many sessions may stay."""

    window: float
    warning: float
    action: Action
    max_resident: int | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """What was counted of one session; counters are compared, never added up."""

    attached: int = 0
    output_bytes: int = 0
    inputs: int = 0
    cpu_ticks: int = 0
    foreground_job: bool = False
    keep: bool = False

    @property
    def is_live(self) -> bool:
        """Whether this alone shows that the session is in use or to be kept."""
        return self.attached > 0 or self.foreground_job or self.keep


@dataclass(frozen=True, slots=True)
class Observed:
    """The observer looked at a resident session just now."""

    session: SessionId
    activity: Activity


@dataclass(frozen=True, slots=True)
class Reaped:
    """The reap was committed; the session is resident no more."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class ReapRefused:
    """Somebody was faster than the commit, or it could not be done."""

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


@dataclass(slots=True)
class _Watch:
    """What is known of one session."""

    session: SessionId
    activity: Activity
    observed_at: float
    quiet_since: float
    warned_at: float | None = None
    is_crowding: bool = False
    is_reaping: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether at least two looks in a row saw nothing."""
        return not self.activity.is_live and self.observed_at > self.quiet_since

    def is_seen(self, now: float) -> bool:
        """Tell whether the last look is recent enough to decide by."""
        return now <= self.observed_at + OBSERVE_GAP


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
        return (now if watch.is_seen(now) else watch.observed_at) - watch.quiet_since

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what the observer saw or the commit said."""
        self._look_at = now
        match event:
            case Observed():
                return self._observe(event.session, event.activity, now)
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
            if watch.is_seen(now) and not watch.is_reaping
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

    def _observe(
        self, session: SessionId, activity: Activity, now: float
    ) -> list[Effect]:
        watch = self._watches.get(session)
        if watch is None:
            self._watches[session] = _Watch(session, activity, now, now)
            return []
        is_active = activity.is_live or activity != watch.activity
        slept = 0.0 if watch.is_seen(now) else now - watch.observed_at
        watch.activity = activity
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

    def _mark_crowd(self, watches: Iterable[_Watch]) -> None:
        residents = list(watches)
        over = 0
        if self._policy.max_resident is not None:
            over = max(len(residents) - self._policy.max_resident, 0)
        quiet = [watch for watch in residents if watch.is_quiet]
        quiet.sort(key=lambda watch: (watch.quiet_since, watch.session))
        crowding = {watch.session for watch in quiet[:over]}
        for watch in residents:
            watch.is_crowding = watch.session in crowding

    def _judge(self, watch: _Watch, now: float) -> list[Effect]:
        if not (watch.is_crowding or self._is_in_warn_time(watch, now)):
            return _unwarned(watch)
        effects: list[Effect] = []
        if watch.warned_at is None:
            watch.warned_at = now
            effects.append(Warn(watch.session, self._reap_at(watch, now) - now))
        # By the look and not by the clock: what it did since then, nobody saw.
        if watch.observed_at >= self._reap_at(watch, watch.warned_at):
            watch.is_reaping = True
            effects.append(self._reap(watch))
        return effects

    def _reap(self, watch: _Watch) -> Reap:
        is_due = watch.observed_at >= watch.quiet_since + self._policy.window
        reason = Reason.IDLE_WINDOW if is_due else Reason.POPULATION_CAP
        idle = watch.observed_at - watch.quiet_since
        return Reap(watch.session, self._policy.action, idle, reason)

    def _is_due_to_be_warned(self, watch: _Watch) -> bool:
        return (
            watch.warned_at is None
            and not watch.activity.is_live
            and watch.is_seen(max(self._warn_at(watch), self._ticked_at))
        )

    def _is_in_warn_time(self, watch: _Watch, now: float) -> bool:
        return not watch.activity.is_live and now >= self._warn_at(watch)

    def _warn_at(self, watch: _Watch) -> float:
        return watch.quiet_since + self._policy.window - self._policy.warning

    def _reap_at(self, watch: _Watch, warned_at: float) -> float:
        told_at = warned_at + self._policy.warning
        if watch.is_crowding:
            return told_at
        return max(told_at, watch.quiet_since + self._policy.window)


def _unwarned(watch: _Watch) -> list[Effect]:
    if watch.warned_at is None or watch.is_reaping:
        return []
    watch.warned_at = None
    return [Unwarn(watch.session)]
