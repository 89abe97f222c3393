import pytest

from holdfast.core.input.turn import (
    MAX_WAITING,
    Answered,
    AskDefault,
    AskedFor,
    AskHolder,
    Dropped,
    Effect,
    Gave,
    Left,
    PassReason,
    PassTurn,
    Refuse,
    Returned,
    Revoked,
    Seized,
    Took,
    Turn,
    TurnRules,
)
from holdfast.model.errors import Forbidden, NotYourTurn, StaleEpoch
from holdfast.model.ids import ActorId, Epoch

ANNA, BOT, CARL = ActorId("anna"), ActorId("bot"), ActorId("carl")


def held_turn(
    *waiting: ActorId,
    limit: float | None = None,
    ask_default: AskDefault = AskDefault.REFUSE,
) -> Turn:
    turn = Turn(TurnRules(limit=limit, grace=30, ask_default=ask_default))
    turn.handle(Took(ANNA), now=0)
    for patience, asker in enumerate(waiting, start=10):
        turn.handle(AskedFor(asker, patience), now=0)
    return turn


def passed(
    giver: ActorId | None, taker: ActorId | None, epoch: int, reason: PassReason
) -> PassTurn:
    return PassTurn(giver, taker, Epoch(epoch), reason)


def codes(effects: list[Effect]) -> list[tuple[ActorId, str]]:
    return [
        (effect.actor, effect.error.code)
        for effect in effects
        if isinstance(effect, Refuse)
    ]


def test_a_new_turn_is_free() -> None:
    turn = Turn()

    assert (turn.holder, turn.epoch, turn.waiting) == (None, 0, ())
    assert turn.next_deadline() is None
    assert turn.tick(now=1e9) == []


def test_a_free_turn_is_taken() -> None:
    turn = Turn()

    assert turn.handle(Took(ANNA), now=0) == [passed(None, ANNA, 1, PassReason.TAKEN)]
    assert turn.holder == ANNA


def test_taking_what_one_has_changes_nothing() -> None:
    turn = held_turn()

    assert turn.handle(Took(ANNA), now=1) == []
    assert turn.handle(Gave(ANNA, ANNA), now=1) == []
    assert turn.handle(AskedFor(ANNA, 5), now=1) == []
    assert turn.epoch == 1


def test_a_held_turn_is_not_taken_and_the_refusal_names_its_holder() -> None:
    turn = held_turn()

    [refusal] = turn.handle(Took(BOT), now=1)

    assert isinstance(refusal, Refuse)
    assert (refusal.actor, refusal.error.code) == (BOT, "not-your-turn")
    assert refusal.error.facts == {"holder": "anna", "epoch": 1}


def test_asking_for_a_free_turn_takes_it() -> None:
    turn = Turn()

    assert turn.handle(AskedFor(BOT, 5), now=0) == [
        passed(None, BOT, 1, PassReason.TAKEN)
    ]


def test_the_holder_is_told_who_asks_and_until_when() -> None:
    turn = held_turn()

    assert turn.handle(AskedFor(BOT, 10), now=5) == [AskHolder(ANNA, BOT, 15)]
    assert turn.waiting == (BOT,)
    assert turn.next_deadline() == 15


def test_asking_twice_neither_moves_nor_prolongs_ones_place() -> None:
    turn = held_turn(BOT, CARL)

    assert turn.handle(AskedFor(BOT, 99), now=5) == []
    assert turn.waiting == (BOT, CARL)
    assert turn.next_deadline() == 10


def test_a_flood_of_askers_is_refused() -> None:
    turn = held_turn(*(ActorId(f"bot{number}") for number in range(MAX_WAITING)))

    assert codes(turn.handle(AskedFor(CARL, 1), now=0)) == [(CARL, "too-many-pending")]
    assert len(turn.waiting) == MAX_WAITING


def test_the_holder_grants_what_was_asked_and_others_ask_the_new_holder() -> None:
    turn = held_turn(BOT, CARL)

    assert turn.handle(Answered(ANNA, CARL, granted=True), now=1) == [
        passed(ANNA, CARL, 2, PassReason.ANSWERED),
        AskHolder(CARL, BOT, 10),
    ]
    assert turn.waiting == (BOT,)


def test_the_holder_refuses_what_was_asked() -> None:
    turn = held_turn(BOT)

    effects = turn.handle(Answered(ANNA, BOT, granted=False), now=1)

    assert codes(effects) == [(BOT, "ask-refused")]
    assert (turn.holder, turn.epoch, turn.waiting) == (ANNA, 1, ())


def test_only_the_holder_answers() -> None:
    turn = held_turn(BOT)

    answer = Answered(CARL, BOT, granted=True)

    assert codes(turn.handle(answer, now=1)) == [(CARL, "not-your-turn")]
    assert turn.holder == ANNA


def test_an_answer_to_somebody_who_does_not_wait_is_refused() -> None:
    turn = held_turn(BOT)

    answer = Answered(ANNA, CARL, granted=True)

    assert codes(turn.handle(answer, now=1)) == [(ANNA, "not-asked")]


def test_the_holder_gives_the_turn_by_name_past_the_line() -> None:
    turn = held_turn(BOT)

    assert turn.handle(Gave(ANNA, CARL), now=1) == [
        passed(ANNA, CARL, 2, PassReason.GIVEN),
        AskHolder(CARL, BOT, 10),
    ]


@pytest.mark.parametrize("event", [Gave(BOT, CARL), Gave(BOT, BOT), Dropped(BOT)])
def test_nobody_gives_or_drops_what_they_do_not_have(event: Gave | Dropped) -> None:
    assert codes(held_turn().handle(event, now=1)) == [(BOT, "not-your-turn")]
    assert codes(Turn().handle(event, now=1)) == [(BOT, "not-your-turn")]


def test_a_dropped_turn_is_free_under_a_new_epoch() -> None:
    turn = held_turn()

    assert turn.handle(Dropped(ANNA), now=1) == [
        passed(ANNA, None, 2, PassReason.DROPPED)
    ]


def test_a_dropped_turn_goes_to_the_first_in_line() -> None:
    turn = held_turn(BOT, CARL)

    assert turn.handle(Dropped(ANNA), now=1) == [
        passed(ANNA, BOT, 2, PassReason.DROPPED),
        AskHolder(BOT, CARL, 11),
    ]


def test_a_seize_asks_no_rule_no_line_and_no_holder() -> None:
    turn = held_turn(BOT, limit=100)

    assert turn.handle(Seized(CARL), now=1) == [
        passed(ANNA, CARL, 2, PassReason.SEIZED),
        AskHolder(CARL, BOT, 10),
    ]


def test_whoever_has_the_turn_may_seize_it_to_cut_what_waits() -> None:
    turn = held_turn()

    assert turn.handle(Seized(ANNA), now=1) == [
        passed(ANNA, ANNA, 2, PassReason.SEIZED)
    ]


def test_a_turn_lasts_no_longer_than_its_limit() -> None:
    turn = held_turn(limit=60)

    assert turn.next_deadline() == 60
    assert turn.tick(now=59.9) == []
    assert turn.tick(now=60) == [passed(ANNA, None, 2, PassReason.EXPIRED)]


def test_the_next_in_line_has_a_limit_of_their_own() -> None:
    turn = held_turn(limit=8)
    turn.handle(AskedFor(BOT, 20), now=0)

    assert turn.tick(now=8) == [passed(ANNA, BOT, 2, PassReason.EXPIRED)]
    assert turn.next_deadline() == 16


def test_a_holder_who_left_keeps_the_turn_for_the_grace() -> None:
    turn = held_turn()
    turn.handle(Left(ANNA), now=5)

    assert turn.next_deadline() == 35
    assert turn.tick(now=34.9) == []
    assert turn.tick(now=35) == [passed(ANNA, None, 2, PassReason.ABANDONED)]


def test_a_holder_who_returns_in_time_keeps_the_turn() -> None:
    turn = held_turn()
    turn.handle(Left(ANNA), now=5)
    turn.handle(Returned(BOT), now=6)
    turn.handle(Returned(ANNA), now=30)

    assert turn.tick(now=1000) == []
    assert turn.holder == ANNA


def test_whoever_waits_and_leaves_waits_no_more() -> None:
    turn = held_turn(BOT)

    assert turn.handle(Left(BOT), now=1) == []
    assert turn.waiting == ()
    assert turn.next_deadline() is None


def test_a_limit_and_a_grace_that_end_together_pass_the_turn_once() -> None:
    turn = held_turn(limit=35)
    turn.handle(Left(ANNA), now=5)

    assert turn.tick(now=35) == [passed(ANNA, None, 2, PassReason.ABANDONED)]


def test_a_revoked_holder_loses_the_turn() -> None:
    turn = held_turn(BOT)

    assert turn.handle(Revoked(ANNA), now=1) == [
        passed(ANNA, BOT, 2, PassReason.REVOKED)
    ]


def test_a_revoked_asker_loses_its_place() -> None:
    turn = held_turn(BOT)

    assert turn.handle(Revoked(BOT), now=1) == []
    assert turn.handle(Dropped(ANNA), now=2) == [
        passed(ANNA, None, 2, PassReason.DROPPED)
    ]


def test_silence_means_no_by_default() -> None:
    turn = held_turn(BOT)

    assert turn.tick(now=9.9) == []
    assert codes(turn.tick(now=10)) == [(BOT, "ask-refused")]
    assert turn.holder == ANNA


def test_silence_can_mean_yes() -> None:
    turn = held_turn(BOT, ask_default=AskDefault.GRANT)

    assert turn.tick(now=10) == [passed(ANNA, BOT, 2, PassReason.DEFAULTED)]


def test_two_patiences_that_end_together_do_not_take_from_one_another() -> None:
    turn = held_turn(BOT, CARL, ask_default=AskDefault.GRANT)

    effects = turn.tick(now=20)

    assert passed(ANNA, BOT, 2, PassReason.DEFAULTED) in effects
    assert codes(effects) == [(CARL, "ask-refused")]
    assert (turn.holder, turn.waiting) == (BOT, ())


def test_a_successor_takes_the_turn_up_and_the_grace_begins() -> None:
    turn = Turn(TurnRules(limit=100, grace=30))
    turn.resume(ANNA, Epoch(7), now=50)

    turn.demand(ANNA, Epoch(7))
    assert turn.next_deadline() == 80
    assert turn.tick(now=80) == [passed(ANNA, None, 8, PassReason.ABANDONED)]


def test_a_successor_takes_a_free_turn_up_without_any_clock() -> None:
    turn = Turn(TurnRules(limit=100))
    turn.resume(None, Epoch(7), now=50)

    assert turn.next_deadline() is None
    assert turn.handle(Took(BOT), now=51) == [passed(None, BOT, 8, PassReason.TAKEN)]


def test_what_was_typed_while_taking_a_free_turn_counts() -> None:
    turn = Turn(epoch=Epoch(4))
    turn.handle(Took(ANNA), now=0)

    turn.demand(ANNA, Epoch(4))
    turn.demand(ANNA, Epoch(5))
    with pytest.raises(StaleEpoch):
        turn.demand(ANNA, Epoch(3))
    with pytest.raises(NotYourTurn):
        turn.demand(BOT, Epoch(4))


def test_what_was_made_before_taking_from_somebody_does_not_count() -> None:
    turn = held_turn()
    turn.handle(Seized(BOT), now=1)

    with pytest.raises(StaleEpoch):
        turn.demand(BOT, Epoch(1))


def test_a_successor_accepts_nothing_made_before_its_epoch() -> None:
    turn = Turn()
    turn.resume(ANNA, Epoch(7), now=0)

    with pytest.raises(StaleEpoch):
        turn.demand(ANNA, Epoch(6))


@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_nobody_writes_under_a_free_turn(epoch: int) -> None:
    turn = held_turn()
    turn.handle(Dropped(ANNA), now=1)

    with pytest.raises(Forbidden):
        turn.demand(ANNA, Epoch(epoch))
