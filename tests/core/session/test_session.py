import pytest

from holdfast.core.session.session import (
    GRACE,
    KILL,
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

TERM, HUP = 15, 1


def after(*events: Event) -> SessionLife:
    life = SessionLife()
    for event in events:
        life.handle(event, now=0)
    return life


def test_who_ends_a_session_has_its_leader_told_first() -> None:
    life = after()

    assert life.handle(EndAsked(TERM), now=0) == [Signal(TERM)]
    assert life.state is State.ENDING


def test_what_does_not_end_is_killed_until_it_has() -> None:
    life = after(EndAsked(TERM))

    assert life.tick(GRACE - 0.1) == []
    assert life.tick(GRACE) == [KillAll()]
    assert life.next_deadline() == 2 * GRACE
    assert life.tick(2 * GRACE) == [KillAll()]


def test_a_further_request_is_passed_on_and_prolongs_nothing() -> None:
    life = after(EndAsked(TERM))

    assert life.handle(EndAsked(HUP), now=3) == [Signal(HUP)]
    assert life.next_deadline() == GRACE


def test_after_a_kill_nothing_milder_is_sent() -> None:
    life = after(EndAsked(KILL))

    assert life.handle(EndAsked(TERM), now=1) == [KillAll()]


def test_a_kill_spares_nothing_and_waits_for_nothing() -> None:
    assert after().handle(EndAsked(KILL), now=0) == [KillAll()]


def test_a_fenced_session_is_killed_and_told_nothing() -> None:
    life = after(Fenced())

    assert life.handle(EndAsked(TERM), now=0) == [KillAll()]
    assert life.handle(Unfenced(), now=1) == []
    assert life.handle(EndAsked(TERM), now=1) == [KillAll()]


def test_a_session_with_its_lease_back_is_told_as_any_other() -> None:
    life = after(Fenced(), Unfenced())

    assert life.handle(EndAsked(TERM), now=0) == [Signal(TERM)]


@pytest.mark.parametrize("before", [(), (EndAsked(TERM),)], ids=["running", "ending"])
def test_an_exit_sweeps_what_is_left_until_that_is_confirmed(
    before: tuple[Event, ...],
) -> None:
    life = after(*before)

    assert life.handle(LeaderExited(), now=1) == [Sweep()]
    assert life.state is State.EXITED
    assert life.tick(GRACE) == []
    assert life.tick(1 + GRACE) == [Sweep()]
    assert life.handle(LeftoversSwept(), now=8) == []
    assert life.next_deadline() is None


@pytest.mark.parametrize("late", [EndAsked(TERM), LeaderExited()])
def test_what_comes_after_the_exit_changes_nothing(late: Event) -> None:
    life = after(LeaderExited(), LeftoversSwept())

    assert life.handle(late, now=1) == []
    assert life.state is State.EXITED
    assert life.next_deadline() is None
