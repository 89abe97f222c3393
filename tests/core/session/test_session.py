import pytest

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
    StartFailed,
    State,
    Sweep,
    Thaw,
    ThawAsked,
    Unfenced,
)
from holdfast.model.errors import (
    HoldfastError,
    LeaseLost,
    SessionLost,
    SessionOver,
    StaleIncarnation,
    StillAlive,
)
from holdfast.model.ids import ActorId, ClientId, Incarnation, SessionId

S = SessionId("s_one")
ANN = ActorId("a_ann")
BOB = ActorId("a_bob")
PHONE = ClientId("c_phone")
LAPTOP = ClientId("c_laptop")
HUP = 1
ONE, TWO, THREE = Incarnation(1), Incarnation(2), Incarnation(3)
EXIT_3 = LeaderExited(ONE, ExitStatus(code=3))


def after(*events: Event) -> SessionLife:
    life = SessionLife()
    for event in events:
        life.handle(event, 0)
    return life


def running(*events: Event) -> SessionLife:
    return after(Started(70), *events)


def refusal(effects: list[Effect]) -> type[HoldfastError]:
    (refuse,) = effects
    assert isinstance(refuse, Refuse)
    return type(refuse.error)


def recovered(number: Incarnation, how: How = How.CHECKPOINT) -> Recovered:
    return Recovered(number, 90, how, "three connections")


def test_a_session_runs_once_its_leader_does() -> None:
    life = after()

    assert life.state is State.STARTING
    assert life.handle(Started(70), 0) == []
    assert (life.state, life.pid, life.incarnation) == (State.RUNNING, 70, 1)
    assert life.handle(Started(71), 0) == []


def test_a_leader_that_could_not_be_started_leaves_a_record_and_nothing_else() -> None:
    life = after()

    assert life.handle(StartFailed("no pty"), 0) == []
    assert life.state is State.EXITED
    assert life.next_deadline() is None
    assert life.handle(StartFailed("again"), 0) == []


def test_operators_come_and_go_and_the_session_does_not_notice() -> None:
    life = running()

    assert life.handle(Attached(ANN, PHONE), 0) == []
    assert life.handle(Attached(ANN, PHONE), 0) == []
    assert life.attached == 1
    assert life.handle(Detached(PHONE, "tunnel"), 0) == []
    assert life.handle(Detached(PHONE, "tunnel"), 0) == []
    assert life.attached == 0
    assert life.state is State.RUNNING


def test_an_exited_session_can_still_be_looked_at() -> None:
    life = running(EXIT_3, Attached(ANN, PHONE))

    assert life.attached == 1


def test_freezing_and_thawing_twice_is_doing_it_once() -> None:
    life = running()

    frozen = life.handle(FreezeAsked(ANN), 0)
    assert frozen == [Freeze()]
    assert life.handle(FreezeAsked(BOB), 0) == []
    assert life.handle(ThawAsked(BOB), 0) == [Thaw()]
    assert life.handle(ThawAsked(BOB), 0) == []


def test_i2_thawing_one_reason_does_not_thaw_the_other() -> None:
    life = running(FreezeAsked(ANN))

    assert life.handle(Fenced(ONE), 0) == []
    assert life.frozen_by == {FrozenBy.BY_OPERATOR, FrozenBy.BY_FENCE}
    assert life.handle(ThawAsked(ANN), 0) == []
    assert life.handle(Unfenced(ONE), 0) == [Thaw()]
    assert life.frozen_by == frozenset()


def test_i2_the_fence_is_not_an_operators_to_lift() -> None:
    life = running(Fenced(ONE))

    assert refusal(life.handle(ThawAsked(ANN), 0)) is LeaseLost
    assert life.frozen_by == {FrozenBy.BY_FENCE}


def test_a_fence_is_put_up_once_and_taken_down_once() -> None:
    life = running()

    assert life.handle(Fenced(ONE), 0) == [Freeze()]
    assert life.handle(Fenced(ONE), 0) == []
    assert life.handle(Unfenced(ONE), 0) == [Thaw()]
    assert life.handle(Unfenced(ONE), 0) == []


def test_a_session_fenced_before_it_ran_is_frozen_as_soon_as_it_does() -> None:
    life = after(Fenced(ONE))

    assert life.handle(Started(70), 0) == [Freeze()]


def test_ending_sends_the_signal_and_kills_after_the_grace() -> None:
    life = running()

    asked = life.handle(EndAsked(ANN, HUP), 10)
    assert asked == [Signal(HUP)]
    assert life.state is State.ENDING
    assert life.next_deadline() == 10 + GRACE
    assert life.tick(10 + GRACE - 0.1) == []
    killed = life.tick(10 + GRACE)
    assert killed == [KillAll()]


def test_i4_the_kill_is_repeated_until_the_leader_is_gone() -> None:
    life = running(EndAsked(ANN, HUP))
    life.tick(GRACE)

    assert life.tick(2 * GRACE) == [KillAll()]
    life.handle(EXIT_3, 2 * GRACE)
    assert life.tick(4 * GRACE) == [Sweep(ONE)]


def test_i4_asking_again_does_not_prolong_the_grace() -> None:
    life = running(EndAsked(ANN, HUP))

    assert life.handle(EndAsked(BOB, 15), GRACE - 1) == [Signal(15)]
    assert life.next_deadline() == GRACE


def test_asking_for_the_kill_skips_the_grace_and_cannot_be_taken_back() -> None:
    life = running()

    assert life.handle(EndAsked(ANN, KILL), 0) == [KillAll()]
    assert life.handle(EndAsked(ANN, HUP), 0) == [KillAll()]


def test_a_session_frozen_by_an_operator_gets_the_signal_and_is_then_let_go() -> None:
    life = running(FreezeAsked(ANN))

    asked = life.handle(EndAsked(ANN, HUP), 0)

    assert asked == [Signal(HUP), Thaw()]
    assert life.frozen_by == frozenset()


def test_a_frozen_session_is_killed_without_a_thaw() -> None:
    life = running(FreezeAsked(ANN))

    assert life.handle(EndAsked(ANN, KILL), 0) == [KillAll()]
    assert life.frozen_by == {FrozenBy.BY_OPERATOR}


def test_i3_a_fenced_session_is_killed_rather_than_let_run_to_end() -> None:
    life = running(FreezeAsked(ANN), Fenced(ONE))

    assert life.handle(EndAsked(ANN, HUP), 0) == [KillAll()]
    assert life.frozen_by == {FrozenBy.BY_OPERATOR, FrozenBy.BY_FENCE}


def test_an_end_asked_for_too_early_is_carried_out_when_the_leader_runs() -> None:
    life = after(EndAsked(ANN, HUP))

    assert life.state is State.ENDING
    assert life.handle(Started(70), 1) == [Signal(HUP)]
    assert life.next_deadline() == GRACE


def test_i3_a_session_fenced_and_ended_before_it_ran_never_runs() -> None:
    life = after(EndAsked(ANN, HUP), Fenced(ONE))

    assert life.handle(Started(70), 1) == [Freeze(), KillAll()]


def test_a_start_that_fails_while_ending_is_an_end() -> None:
    life = after(EndAsked(ANN, HUP), StartFailed("no pty"))

    assert life.state is State.EXITED
    assert life.next_deadline() is None


@pytest.mark.parametrize(
    "status",
    [
        ExitStatus(code=0),
        ExitStatus(signal=9),
    ],
)
def test_the_leaders_exit_ends_the_session_and_sweeps_what_is_left(
    status: ExitStatus,
) -> None:
    life = running()

    effects = life.handle(LeaderExited(ONE, status), 5)

    assert effects == [Sweep(ONE)]
    assert (life.state, life.exit_status) == (State.EXITED, status)


def test_i5_the_first_exit_status_stays() -> None:
    life = running(EXIT_3)

    assert life.handle(LeaderExited(ONE, ExitStatus(code=0)), 9) == []
    assert life.handle(Lost(ONE, "keeper killed"), 9) == []
    assert life.exit_status == ExitStatus(code=3)


def test_i6_sweeping_is_repeated_until_it_is_confirmed() -> None:
    life = running(EXIT_3)

    assert life.next_deadline() == GRACE
    assert life.tick(GRACE) == [Sweep(ONE)]
    assert life.handle(LeftoversSwept(ONE, 2), GRACE) == []
    assert life.next_deadline() is None
    assert life.handle(LeftoversSwept(ONE, 2), GRACE) == []


def test_when_it_is_lost_everybody_is_detached() -> None:
    life = running(Attached(ANN, PHONE), Attached(BOB, LAPTOP))

    effects = life.handle(Lost(ONE, "keeper killed"), 0)

    assert effects == [Sweep(ONE)]
    assert life.state is State.LOST
    assert life.attached == 0


@pytest.mark.parametrize(
    "event",
    [FreezeAsked(ANN), ThawAsked(ANN), EndAsked(ANN, HUP), Attached(ANN, PHONE)],
)
def test_what_is_lost_takes_no_requests(event: Event) -> None:
    life = running(Lost(ONE, "reboot"))

    assert refusal(life.handle(event, 0)) is SessionLost


@pytest.mark.parametrize(
    "event", [FreezeAsked(ANN), ThawAsked(ANN), EndAsked(ANN, HUP), recovered(TWO)]
)
def test_what_has_exited_takes_no_requests(event: Event) -> None:
    life = running(EXIT_3)

    assert refusal(life.handle(event, 0)) is SessionOver


def test_a_lost_session_lives_on_as_the_next_incarnation() -> None:
    life = running(Lost(ONE, "reboot"), LeftoversSwept(ONE, 0))

    assert life.handle(recovered(TWO), 0) == []
    assert (life.state, life.incarnation, life.pid) == (State.RUNNING, 2, 90)


def test_i1_a_session_from_elsewhere_begins_with_a_recovery() -> None:
    life = SessionLife(TWO, is_recovering=True)

    assert refusal(life.handle(recovered(ONE), 0)) is StaleIncarnation
    assert refusal(life.handle(recovered(TWO), 0)) is StaleIncarnation
    assert life.handle(recovered(THREE), 0) == []
    assert life.state is State.RUNNING


def test_i1_nothing_is_recovered_while_an_earlier_life_may_still_run() -> None:
    life = running()

    assert refusal(life.handle(recovered(TWO), 0)) is StillAlive
    life.handle(Lost(ONE, "keeper killed"), 0)
    assert refusal(life.handle(recovered(TWO), 0)) is StillAlive
    assert life.incarnation == 1


def test_i7_what_is_said_of_an_earlier_life_changes_nothing() -> None:
    life = SessionLife(ONE, is_recovering=True)
    life.handle(recovered(TWO), 0)

    assert life.handle(EXIT_3, 0) == []
    assert life.handle(Lost(ONE, "late"), 0) == []
    assert life.handle(Fenced(ONE), 0) == []
    assert life.state is State.RUNNING
    assert life.frozen_by == frozenset()


def test_a_fence_that_overtakes_its_recovery_holds_from_the_beginning() -> None:
    life = SessionLife(ONE, is_recovering=True)

    assert life.handle(Fenced(TWO), 0) == []
    assert life.handle(recovered(TWO), 0) == [Freeze()]


def test_the_fence_of_the_lost_life_is_not_that_of_the_next() -> None:
    life = running(Fenced(ONE), Lost(ONE, "reboot"), LeftoversSwept(ONE, 0))

    assert life.handle(recovered(TWO), 0) == []
    assert life.frozen_by == frozenset()


@pytest.mark.parametrize(
    ("how", "expected"), [(How.CHECKPOINT, [Freeze()]), (How.COLD, [])]
)
def test_what_an_operator_froze_is_restored_frozen_but_a_fresh_shell_is_not(
    how: How, expected: list[Effect]
) -> None:
    life = running(FreezeAsked(ANN), Lost(ONE, "reboot"), LeftoversSwept(ONE, 0))

    assert life.handle(recovered(TWO, how), 0) == expected
