from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from holdfast.core.session.session import (
    GRACE,
    KILL,
    Effect,
    EndAsked,
    Event,
    Fenced,
    KillAll,
    LeaderExited,
    LeftoversSwept,
    SessionLife,
    Signal,
    State,
    Sweep,
    Unfenced,
)


class LifeOfASession(RuleBasedStateMachine):
    """The machine beside a leader that obeys only what it cannot ignore."""

    @initialize()
    def begin(self) -> None:
        self.now = 0.0
        self.life = SessionLife()
        self.is_fenced = False
        self.must_die_by: float | None = None
        self.has_exited = self.is_swept = False

    @rule(seconds=st.sampled_from((1.0, GRACE)))
    def time_passes_and_the_clock_is_asked(self, seconds: float) -> None:
        self.now += seconds
        effects = self.perform(self.life.tick(self.now))
        if self.must_die_by is not None and self.now >= self.must_die_by:
            assert effects == [KillAll()], "I2"
            self.must_die_by = self.now + GRACE

    @rule(is_on=st.booleans())
    def lease_runs_out_or_is_granted(self, *, is_on: bool) -> None:
        self.is_fenced = is_on
        self.tell(Fenced() if is_on else Unfenced())

    @rule(signal=st.sampled_from((1, 15, KILL)))
    def end_is_asked_for(self, signal: int) -> None:
        effects = self.tell(EndAsked(signal))
        if self.has_exited:
            assert effects == []
            return
        assert effects, "an end that was asked for is not begun"
        self.must_die_by = self.must_die_by or self.now + GRACE

    @rule()
    def leader_exits(self) -> None:
        effects = self.tell(LeaderExited())
        assert effects == ([] if self.has_exited else [Sweep()]), "I3"
        self.has_exited, self.must_die_by = True, None

    @rule()
    def leftovers_are_swept(self) -> None:
        if self.has_exited:
            self.is_swept = True
            self.tell(LeftoversSwept())

    def tell(self, event: Event) -> list[Effect]:
        return self.perform(self.life.handle(event, self.now))

    def perform(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            if isinstance(effect, Signal):
                assert not self.is_fenced, "I1"
            if isinstance(effect, Sweep):
                assert self.has_exited or not self.is_swept, "I3"
        return effects

    @invariant()
    def its_deadline_is_that_of_what_is_due(self) -> None:
        deadline = self.life.next_deadline()
        assert (self.life.state is State.EXITED) == self.has_exited
        if self.has_exited:
            assert (deadline is None) == self.is_swept, "I3"
        else:
            assert deadline == self.must_die_by, "I2"


TestLifeOfASession = LifeOfASession.TestCase
TestLifeOfASession.settings = settings(stateful_step_count=40)
