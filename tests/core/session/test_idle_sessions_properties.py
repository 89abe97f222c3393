from dataclasses import dataclass, field, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core.session.idle_sessions import (
    MISSED,
    PACE,
    Action,
    Activity,
    Departed,
    Effect,
    Observed,
    Policy,
    Reap,
    Reaped,
    Reaper,
    ReapRefused,
    Reason,
    Unwarn,
    Warn,
)
from holdfast.model.ids import SessionId

WINDOW = 60.0
WARNING = 20.0
OBSERVE_GAP = MISSED * PACE
NAMES = [SessionId(f"s_{letter}") for letter in "abcd"]
SESSION = st.sampled_from(NAMES)


@dataclass
class Truth:
    """What an onlooker with a notebook knows of one session."""

    activity: Activity = field(default_factory=Activity)
    seen: Activity | None = None
    looks: list[float] = field(default_factory=list)
    quiet: float = 0.0
    warned: float | None = None
    is_reaping: bool = False

    def was_live(self) -> bool:
        return self.seen is not None and (
            self.seen.attached > 0 or bool(self.seen.spared)
        )


class CrowdOfSessions(RuleBasedStateMachine):
    @initialize(cap=st.sampled_from((None, 2)), room=st.sampled_from((None, 2, 3)))
    def begin(self, cap: int | None, room: int | None) -> None:
        self.now = 0.0
        self.cap = cap
        self.room = room
        policy = Policy(WINDOW, WARNING, Action.END, cap, room)
        self.reaper = Reaper(policy)
        self.truths = {name: Truth() for name in NAMES}

    @rule(rounds=st.integers(1, 8))
    def observer_looks_at_its_pace(self, rounds: int) -> None:
        for _ in range(rounds):
            self.now += PACE
            self.look_at_all()
            self.take(self.reaper.tick(self.now))

    @rule(rounds=st.integers(6, 9))
    def observer_looks_while_nobody_decides(self, rounds: int) -> None:
        for _ in range(rounds):
            self.now += PACE
            self.look_at_all()

    @rule(seconds=st.sampled_from((5.0, 31.0, 90.0)))
    def observer_sleeps(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def clock_alone_is_asked(self) -> None:
        deadline = self.reaper.next_deadline()
        if deadline is not None:
            self.now = max(self.now, deadline)
        self.take(self.reaper.tick(self.now))
        assert self.reaper.next_deadline() != deadline or deadline is None, "spins"

    @rule(name=SESSION)
    def somebody_works(self, name: SessionId) -> None:
        truth = self.truths[name]
        ticks = truth.activity.cpu_ticks + 1
        truth.activity = replace(truth.activity, cpu_ticks=ticks)

    @rule(name=SESSION, is_on=st.booleans())
    def somebody_attaches_or_leaves(self, name: SessionId, *, is_on: bool) -> None:
        truth = self.truths[name]
        truth.activity = replace(truth.activity, attached=int(is_on))

    @rule(name=SESSION, is_on=st.booleans())
    def somebody_marks_it(self, name: SessionId, *, is_on: bool) -> None:
        truth = self.truths[name]
        truth.activity = replace(truth.activity, spared="kept" if is_on else "")

    @precondition(lambda self: any(t.is_reaping for t in self.truths.values()))
    @rule(is_committed=st.booleans())
    def reap_is_answered(self, *, is_committed: bool) -> None:
        name = next(name for name, truth in self.truths.items() if truth.is_reaping)
        event = Reaped(name) if is_committed else ReapRefused(name)
        self.take(self.reaper.handle(event, self.now))
        truth = self.truths[name]
        truth.is_reaping, truth.warned = False, None
        truth.quiet = truth.looks[-1] - self.now  # The time begins anew only now.
        if is_committed:
            self.truths[name] = Truth()

    @rule(name=SESSION)
    def session_ends_by_itself(self, name: SessionId) -> None:
        self.take(self.reaper.handle(Departed(name), self.now))
        self.truths[name] = Truth()

    @invariant()
    def idle_time_is_what_was_seen(self) -> None:
        for name, truth in self.truths.items():
            idle = self.reaper.idle(name, self.now)
            if idle is None or truth.is_reaping:
                continue
            unseen = self.now - truth.looks[-1]
            allowed = unseen if unseen <= OBSERVE_GAP else 0.0
            assert idle <= truth.quiet + allowed, "I4"

    def look_at_all(self) -> None:
        for name, truth in self.truths.items():
            gap = self.now - truth.looks[-1] if truth.looks else 0.0
            slept = gap if gap > OBSERVE_GAP else 0.0
            is_same = truth.seen in (None, truth.activity)
            truth.seen = truth.activity
            truth.looks.append(self.now)
            is_quiet = is_same and not truth.was_live()
            truth.quiet = max(truth.quiet + gap - slept, 0.0) if is_quiet else 0.0
            if truth.warned is not None:
                truth.warned = min(truth.warned + slept, self.now)
            self.take(self.reaper.handle(Observed(name, truth.activity, 1), self.now))
            assert is_quiet or truth.warned is None or truth.is_reaping, "unwarned"

    def take(self, effects: list[Effect]) -> None:
        for effect in effects:
            truth = self.truths[effect.session]
            assert not truth.is_reaping, "I3"
            match effect:
                case Warn():
                    assert truth.warned is None
                    assert self.now - truth.looks[-1] <= OBSERVE_GAP, "I4"
                    truth.warned = self.now
                case Unwarn():
                    assert truth.warned is not None
                    truth.warned = None
                case Reap():
                    self.check_reap(effect, truth)

    def check_reap(self, reap: Reap, truth: Truth) -> None:
        assert reap.idle == truth.quiet, "I1"
        assert not truth.was_live(), "I1"
        assert truth.warned is not None, "I2"
        assert truth.looks[-1] - truth.warned >= WARNING, "I2"
        assert self.now - truth.looks[-1] <= OBSERVE_GAP, "I4"
        if reap.reason is Reason.IDLE_WINDOW:
            assert reap.idle >= WINDOW, "I1"
        else:
            is_room = reap.reason is Reason.MEMORY_CAP
            self.check_cap(truth, self.room if is_room else self.cap)
        truth.is_reaping = True

    def check_cap(self, reaped: Truth, cap: int | None) -> None:
        assert cap is not None, "I5"
        staying = [
            truth
            for name, truth in self.truths.items()
            if self.reaper.idle(name, self.now) is not None and not truth.is_reaping
        ]
        assert len(staying) > cap, "I5"
        longer = [truth for truth in staying if truth.quiet > reaped.quiet]
        assert len(longer) < len(staying) - cap, "I5"


CrowdOfSessions.TestCase.settings = settings(stateful_step_count=40)
test_i1_to_i5_hold_for_a_crowd_of_sessions = CrowdOfSessions.TestCase
