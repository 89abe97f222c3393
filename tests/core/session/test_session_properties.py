from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core.session.session import (
    GRACE,
    KILL,
    Attached,
    Detached,
    Effect,
    EndAsked,
    Event,
    ExitStatus,
    Fenced,
    Freeze,
    FreezeAsked,
    FrozenBy,
    How,
    KillAll,
    LeaderExited,
    LeftoversSwept,
    Lost,
    Recovered,
    Refuse,
    SessionLife,
    Signal,
    Started,
    State,
    Sweep,
    Thaw,
    ThawAsked,
    Unfenced,
)
from holdfast.model.ids import ActorId, ClientId, Incarnation

ANN = ActorId("a_ann")
CLIENTS = st.sampled_from([ClientId("c_1"), ClientId("c_2")])
BACK = st.sampled_from((0, 0, 0, 1))
ALIVE = (State.STARTING, State.RUNNING, State.ENDING)


class LifeOfASession(RuleBasedStateMachine):
    """The machine beside a world of processes that does what it is told."""

    @initialize()
    def begin(self) -> None:
        self.now = 0.0
        self.life = SessionLife()
        self.running: set[Incarnation] = set()
        self.is_frozen = False
        self.fenced: Incarnation | None = None
        self.is_held_still = False
        self.must_die_by: float | None = None
        self.status: ExitStatus | None = None
        self.attached: set[ClientId] = set()
        self.unswept = False

    @rule(seconds=st.sampled_from((1.0, GRACE)))
    def time_passes_and_the_clock_is_asked(self, seconds: float) -> None:
        self.now += seconds
        self.perform(self.life.tick(self.now))

    @precondition(lambda self: self.life.pid is None)
    @rule()
    def leader_starts(self) -> None:
        if self.life.state in ALIVE:
            self.running.add(self.life.incarnation)
        self.tell(Started(70))

    @rule(client=CLIENTS, is_coming=st.booleans())
    def somebody_comes_or_goes(self, client: ClientId, *, is_coming: bool) -> None:
        before = self.life.state
        if is_coming:
            self.tell(Attached(ANN, client))
            self.attached |= {client} - ({client} if before is State.LOST else set())
        else:
            self.tell(Detached(client, "left"))
            self.attached.discard(client)
        assert self.life.state is before, "somebody's departure changed the state"

    @rule(is_freeze=st.booleans())
    def operator_freezes_or_thaws(self, *, is_freeze: bool) -> None:
        effects = self.tell(FreezeAsked(ANN) if is_freeze else ThawAsked(ANN))
        if not any(isinstance(effect, Refuse) for effect in effects):
            self.is_held_still = is_freeze

    @rule(ahead=st.sampled_from((0, 0, 0, 1, -1)))
    def lease_runs_out(self, ahead: int) -> None:
        number = Incarnation(self.life.incarnation + ahead)
        if ahead >= 0:
            self.fenced = number
        self.tell(Fenced(number))

    @rule(back=BACK)
    def lease_is_granted_again(self, back: int) -> None:
        number = Incarnation(self.life.incarnation - back)
        if self.fenced == number:
            self.fenced = None
        self.tell(Unfenced(number))

    @rule(signal=st.sampled_from((1, 15, KILL)))
    def end_is_asked_for(self, signal: int) -> None:
        if self.life.state in ALIVE and self.must_die_by is None:
            self.must_die_by = self.now + GRACE
        self.tell(EndAsked(ANN, signal))

    @rule(code=st.integers(0, 3), back=BACK)
    def leader_exits(self, code: int, back: int) -> None:
        number = Incarnation(self.life.incarnation - back)
        if self.life.state in ALIVE and not back:
            self.status = ExitStatus(code=code)
            self.close()
        self.tell(LeaderExited(number, ExitStatus(code=code)))

    @rule(back=BACK, is_swept=st.booleans())
    def holder_is_lost(self, back: int, *, is_swept: bool) -> None:
        number = Incarnation(self.life.incarnation - back)
        if self.life.state in ALIVE and not back:
            self.attached.clear()
            self.close()
        self.tell(Lost(number, "killed"))
        if self.unswept and is_swept:
            self.sweep_is_confirmed(back=0)

    @precondition(lambda self: self.unswept)
    @rule(back=BACK)
    def sweep_is_confirmed(self, back: int) -> None:
        if not back:
            self.unswept = False
            self.running.discard(self.life.incarnation)
        number = Incarnation(self.life.incarnation - back)
        self.tell(LeftoversSwept(number, 1))

    @precondition(lambda self: self.life.state in ALIVE)
    @rule(how=st.sampled_from(How))
    def it_is_lost_swept_and_recovered(self, how: How) -> None:
        self.holder_is_lost(back=0, is_swept=True)
        self.somebody_recovers_it(ahead=1, how=how)

    @rule(ahead=st.sampled_from((-1, 0, 1, 1, 1, 2)), how=st.sampled_from(How))
    def somebody_recovers_it(self, ahead: int, how: How) -> None:
        before, state = self.life.incarnation, self.life.state
        number = Incarnation(before + ahead)
        may = self.life.state is State.LOST and not self.unswept and ahead > 0
        if may:
            self.is_frozen = False
            self.is_held_still &= how is How.CHECKPOINT
            self.running.add(number)
        self.tell(Recovered(number, 90, how, "memory"))
        assert self.life.incarnation == (number if may else before), "I1"
        assert self.life.state is (State.RUNNING if may else state), "I1"

    @invariant()
    def there_are_never_two_lives(self) -> None:
        assert len(self.running) <= 1, "I1"

    @invariant()
    def processes_run_if_and_only_if_nothing_freezes_them(self) -> None:
        reasons = set()
        if self.is_held_still:
            reasons.add(FrozenBy.BY_OPERATOR)
        if self.fenced == self.life.incarnation:
            reasons.add(FrozenBy.BY_FENCE)
        assert self.life.frozen_by == reasons, "I2"
        if self.life.state in ALIVE and self.life.pid is not None:
            assert self.is_frozen == bool(reasons), "I2"

    @invariant()
    def what_must_happen_has_its_time(self) -> None:
        deadline = self.life.next_deadline()
        if self.must_die_by is not None:
            assert deadline is not None, "I4"
            assert deadline <= self.must_die_by, "I4"
        assert not self.unswept or deadline is not None, "I6"

    @invariant()
    def what_is_known_stays_known(self) -> None:
        assert self.life.exit_status == self.status, "I5"
        assert self.life.attached == len(self.attached)
        assert self.life.attached == len(self.attached)

    def close(self) -> None:
        self.must_die_by = None
        self.unswept = True

    def tell(self, event: Event) -> list[Effect]:
        return self.perform(self.life.handle(event, self.now))

    def perform(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            match effect:
                case Freeze():
                    assert not self.is_frozen, "I2"
                    self.is_frozen = True
                case Thaw():
                    assert self.fenced != self.life.incarnation, "I3"
                    self.is_held_still = self.is_frozen = False
                case Signal(signal):
                    assert signal != KILL, "I4"
                    assert self.fenced != self.life.incarnation, "I3"
                case KillAll():
                    assert self.must_die_by is not None, "killed unasked"
                    if self.now >= self.must_die_by:
                        self.must_die_by = self.now + GRACE
                case Sweep(incarnation):
                    assert self.unswept, "I6"
                    assert incarnation == self.life.incarnation, "I7"
                case _:
                    pass
        return effects


LifeOfASession.TestCase.settings = settings(stateful_step_count=40)
test_i1_to_i7_hold_whatever_happens = LifeOfASession.TestCase
