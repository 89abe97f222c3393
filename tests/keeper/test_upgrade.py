import pytest

from holdfast.keeper.upgrade import (
    ARRIVE_PATIENCE,
    CHECK_PATIENCE,
    LEAVE_PATIENCE,
    READY_PATIENCE,
    AskProof,
    AskToLeave,
    BornDead,
    CheckState,
    Deposited,
    Effect,
    EndNursery,
    Event,
    Forgotten,
    KillHolder,
    KillSuccessor,
    Left,
    NurseryFailed,
    NurseryReady,
    Phase,
    Proven,
    Refuse,
    ReplaceKeeper,
    Side,
    StateRead,
    StateUnread,
    Tell,
    Upgrade,
)


def told(upgrade: Upgrade, *events: Event, now: float = 1) -> list[Effect]:
    return [effect for event in events for effect in upgrade.handle(event, now)]


def moved(session: str) -> tuple[Event, ...]:
    return Left(session), Deposited(session), Proven(session)


def started(*sessions: str) -> Upgrade:
    upgrade = Upgrade(list(sessions), now=0)
    upgrade.handle(NurseryReady(), 0)
    return upgrade


def test_sessions_are_moved_one_after_the_other_and_the_keeper_last() -> None:
    upgrade = Upgrade(["a", "b"], now=0)

    assert told(upgrade, NurseryReady()) == [AskToLeave("a")]
    assert told(upgrade, Left("a"), Deposited("a")) == [AskProof("a")]
    assert told(upgrade, Proven("a")) == [Tell(1, 2), AskToLeave("b")]
    assert told(upgrade, *moved("b")) == [AskProof("b"), Tell(2, 2), CheckState()]
    assert told(upgrade, StateRead()) == [EndNursery(Side.OLD), ReplaceKeeper()]
    assert upgrade.is_over
    assert upgrade.next_deadline() is None


def test_without_a_session_only_the_keeper_is_replaced() -> None:
    upgrade = Upgrade([], now=0)

    assert told(upgrade, NurseryReady()) == [CheckState()]


@pytest.mark.parametrize("why", ["has died", "cannot be started"])
def test_a_nursery_that_fails_at_once_changes_nothing(why: str) -> None:
    upgrade = Upgrade(["a"], now=0)

    effects = told(upgrade, NurseryFailed(why))

    assert effects == [EndNursery(Side.NEW), Refuse("", f"the new nursery {why}")]
    assert upgrade.phase is Phase.FAILED


def test_i4_a_nursery_that_is_never_ready_is_given_up() -> None:
    upgrade = Upgrade(["a"], now=0)
    assert upgrade.next_deadline() == READY_PATIENCE
    assert upgrade.tick(READY_PATIENCE - 1) == []

    effects = upgrade.tick(READY_PATIENCE)

    assert effects[0] == EndNursery(Side.NEW)
    assert upgrade.is_over


def test_i4_a_holder_that_does_not_leave_is_killed_and_its_session_moved() -> None:
    upgrade = started("a")

    assert upgrade.tick(LEAVE_PATIENCE) == [KillHolder("a")]
    assert upgrade.side_of("a") is Side.NEW
    assert told(upgrade, *moved("a"))[-1] == CheckState()


def test_i3_a_successor_that_is_born_dead_is_replaced_from_the_old_code() -> None:
    upgrade = started("a", "b")
    told(upgrade, Left("a"))

    assert told(upgrade, BornDead("a")) == [KillHolder("a")]
    assert upgrade.side_of("a") is Side.OLD
    effects = told(upgrade, Left("a"), Deposited("a"))
    why = "its new holder died before it could start"
    assert effects == [EndNursery(Side.NEW), Refuse("a", why)]


def test_i3_a_holder_that_has_not_left_yet_is_not_killed_for_its_successor() -> None:
    upgrade = started("a")

    assert told(upgrade, BornDead("a")) == [KillSuccessor("a")]
    assert upgrade.side_of("a") is Side.OLD
    assert upgrade.next_deadline() == LEAVE_PATIENCE
    assert told(upgrade, Left("a"), Deposited("a"))[0] == EndNursery(Side.NEW)


def test_i4_a_holder_that_never_leaves_a_failed_upgrade_is_killed() -> None:
    upgrade = started("a")
    told(upgrade, NurseryFailed("has died"))

    assert upgrade.tick(LEAVE_PATIENCE) == [KillHolder("a")]
    told(upgrade, Left("a"), Deposited("a"))
    assert upgrade.phase is Phase.FAILED


def test_a_successor_that_deposits_and_hangs_is_killed() -> None:
    upgrade = started("a")
    told(upgrade, Left("a"), Deposited("a"), now=1)

    assert upgrade.tick(1 + ARRIVE_PATIENCE) == [KillHolder("a")]
    told(upgrade, Left("a"), Deposited("a"))
    assert upgrade.phase is Phase.FAILED


def test_a_successor_that_dies_while_it_proves_itself_undoes_the_upgrade() -> None:
    upgrade = started("a")

    effects = told(upgrade, Left("a"), Deposited("a"), Left("a"))

    assert effects[-1] == KillHolder("a")
    assert upgrade.phase is Phase.RETURNING


def test_i3_whoever_was_moved_is_moved_back_newest_first() -> None:
    upgrade = started("a", "b", "c")
    told(upgrade, *moved("a"), *moved("b"), Left("c"), BornDead("c"))

    assert told(upgrade, Left("c"), Deposited("c")) == [AskToLeave("b")]
    assert [upgrade.side_of(one) for one in "abc"] == [Side.NEW, Side.OLD, Side.OLD]
    assert told(upgrade, Left("b"), Deposited("b")) == [AskToLeave("a")]
    effects = told(upgrade, Left("a"), Deposited("a"))
    assert effects[0] == EndNursery(Side.NEW)
    assert isinstance(effects[1], Refuse)
    assert effects[1].session == "c"


def test_i4_a_way_back_on_which_one_does_not_come_goes_on_with_the_next() -> None:
    upgrade = started("a", "b")
    told(upgrade, *moved("a"), Left("b"), BornDead("b"))

    told(upgrade, Left("b"), BornDead("b"), now=2)
    assert upgrade.tick(2 + ARRIVE_PATIENCE) == [AskToLeave("a")]


@pytest.mark.parametrize("phase", [Phase.MOVING, Phase.CHECKING])
def test_a_new_nursery_that_dies_later_undoes_everything(phase: Phase) -> None:
    upgrade = started("a", "b")
    told(upgrade, *moved("a"))
    if phase is Phase.CHECKING:
        told(upgrade, *moved("b"))
    assert upgrade.phase is phase

    effects = told(upgrade, NurseryFailed("has died"))

    assert effects in ([KillSuccessor("b")], [AskToLeave("b")])
    assert upgrade.phase is Phase.RETURNING
    assert told(upgrade, NurseryFailed("has died")) == []


def test_i2_a_state_that_cannot_be_read_keeps_the_old_code() -> None:
    upgrade = started("a")
    told(upgrade, *moved("a"))

    assert told(upgrade, StateUnread("no")) == [AskToLeave("a")]
    assert told(upgrade, Left("a"), Deposited("a"))[-1] == Refuse("", "no")


def test_i4_a_check_that_takes_too_long_is_a_failed_one() -> None:
    upgrade = started()

    assert upgrade.tick(CHECK_PATIENCE)[0] == EndNursery(Side.NEW)


def test_a_session_made_meanwhile_is_moved_too() -> None:
    upgrade = started("a")
    assert upgrade.side_of_births is Side.OLD

    told(upgrade, Deposited("x"))

    assert told(upgrade, *moved("a"))[-1] == AskToLeave("x")


def test_a_session_made_during_the_check_is_made_of_the_new_code_and_moved_back() -> (
    None
):
    upgrade = started()
    assert upgrade.side_of_births is Side.NEW
    told(upgrade, Deposited("x"))
    assert upgrade.side_of("x") is Side.NEW

    assert told(upgrade, StateUnread("no")) == [AskToLeave("x")]


def test_a_session_forgotten_meanwhile_is_not_waited_for() -> None:
    upgrade = started("a", "b", "c")
    told(upgrade, *moved("a"))

    assert told(upgrade, Forgotten("c"), Forgotten("a")) == []
    assert told(upgrade, Forgotten("b")) == [CheckState()]


def test_what_concerns_nobody_we_wait_for_changes_nothing() -> None:
    upgrade = started("a", "b")

    stray = (Left("b"), BornDead("b"), Proven("b"), Proven("a"), Deposited("a"))
    assert told(upgrade, *stray, StateRead(), StateUnread(""), NurseryReady()) == []
    assert upgrade.next_deadline() == LEAVE_PATIENCE


def test_what_dozes_is_left_asleep_but_for_one() -> None:
    upgrade = Upgrade(["a"], now=0, asleep=["x", "y", "z"])

    assert told(upgrade, NurseryReady()) == [AskToLeave("a")]
    assert told(upgrade, *moved("a"))[1:] == [Tell(1, 2), AskToLeave("x")]
    assert told(upgrade, *moved("x"))[-1] == CheckState()


def test_all_that_doze_are_moved_if_the_new_code_cannot_take_them_up() -> None:
    upgrade = Upgrade([], now=0, asleep=["x", "y"])

    assert told(upgrade, NurseryReady(dozes=False)) == [AskToLeave("x")]
    assert told(upgrade, *moved("x"))[1:] == [Tell(1, 2), AskToLeave("y")]


def test_what_wakes_before_anybody_is_moved_is_moved_like_the_others() -> None:
    upgrade = Upgrade(["a"], now=0, asleep=["x", "y"])
    told(upgrade, Deposited("y"))

    assert told(upgrade, NurseryReady()) == [AskToLeave("a")]
    assert told(upgrade, *moved("a"))[-1] == AskToLeave("y")
    assert told(upgrade, *moved("y"))[-1] == AskToLeave("x")
    assert told(upgrade, *moved("x"))[-1] == CheckState()


def test_what_is_forgotten_asleep_is_not_looked_for() -> None:
    upgrade = Upgrade([], now=0, asleep=["x"])
    told(upgrade, Forgotten("x"))

    assert told(upgrade, NurseryReady()) == [CheckState()]


def test_what_wakes_after_all_are_moved_is_of_the_new_code() -> None:
    upgrade = Upgrade([], now=0, asleep=["x", "y"])
    assert told(upgrade, NurseryReady(), *moved("x"))[-1] == CheckState()

    assert upgrade.side_of("y") is Side.NEW
    told(upgrade, Deposited("y"), StateUnread("too old"))
    assert upgrade.phase is Phase.RETURNING
    assert upgrade.side_of("y") is Side.OLD
