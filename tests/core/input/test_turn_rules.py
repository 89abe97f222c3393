from collections.abc import Sequence

import pytest

from holdfast.core.input.turn import (
    NEXT_RULES,
    AskDefault,
    AskedFor,
    Dropped,
    Gave,
    Left,
    PassReason,
    PassTurn,
    Revoked,
    Seized,
    Took,
    Turn,
    TurnRules,
    Waiting,
    first,
    human_first,
)
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, Epoch

ANNA, CARL = ActorId("anna"), ActorId("carl")
BOT, AIDE = ActorId("bot"), ActorId("aide")
AGENTS_LIMIT = {ActorKind.AGENT: 20.0}


def kind_of(actor: ActorId) -> ActorKind:
    return ActorKind.AGENT if actor in (BOT, AIDE) else ActorKind.HUMAN


def waited_for(rules: TurnRules, holder: ActorId, *line: ActorId) -> Turn:
    turn = Turn(rules, kind_of=kind_of)
    turn.handle(Took(holder), now=0)
    for now, asker in enumerate(line, start=1):
        turn.handle(AskedFor(asker, 100), now=now)
    return turn


@pytest.mark.parametrize(
    ("rule", "chosen"), [("first", BOT), ("human-first", CARL)], ids=str
)
def test_the_rule_says_who_of_those_waiting_is_next(rule: str, chosen: ActorId) -> None:
    rules = TurnRules(next_rule=NEXT_RULES[rule])
    turn = waited_for(rules, ANNA, BOT, CARL, AIDE)

    turn.handle(Dropped(ANNA), now=5)

    assert turn.holder == chosen
    assert turn.waiting == tuple(who for who in (BOT, CARL, AIDE) if who != chosen)


def test_agents_among_themselves_go_by_the_line() -> None:
    turn = waited_for(TurnRules(next_rule=human_first), ANNA, BOT, AIDE)

    turn.handle(Revoked(ANNA), now=5)

    assert turn.holder == BOT


def test_the_rule_is_given_who_waits_what_they_are_and_for_how_long() -> None:
    asked: list[Sequence[Waiting]] = []

    def listening(line: Sequence[Waiting]) -> ActorId:
        asked.append(line)
        return line[1].actor

    turn = waited_for(TurnRules(next_rule=listening), ANNA, BOT, CARL)

    turn.handle(Dropped(ANNA), now=5)

    bot, carl = Waiting(BOT, ActorKind.AGENT, 4), Waiting(CARL, ActorKind.HUMAN, 3)
    assert asked == [[bot, carl]]
    assert turn.holder == CARL


def test_i6_a_rule_that_names_nobody_who_waits_is_passed_over() -> None:
    turn = waited_for(TurnRules(next_rule=lambda _: ANNA), ANNA, BOT, CARL)

    turn.handle(Dropped(ANNA), now=5)

    assert turn.holder == BOT


def test_a_rule_is_not_asked_when_nobody_waits() -> None:
    turn = waited_for(TurnRules(next_rule=broken), ANNA)

    turn.handle(Dropped(ANNA), now=5)

    assert turn.holder is None


def test_t19_a_broken_rule_is_not_even_asked_about_a_seize() -> None:
    rules = TurnRules(1.0, 0.0, AskDefault.GRANT, broken, AGENTS_LIMIT)
    turn = waited_for(rules, BOT, AIDE, ANNA)

    effects = turn.handle(Seized(CARL), now=5)

    assert effects[0] == PassTurn(BOT, CARL, Epoch(2), PassReason.SEIZED)
    assert turn.holder == CARL


def broken(_: Sequence[Waiting]) -> ActorId:
    raise AssertionError("nobody asked me")


# ── limits for kinds ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("limit", "holder", "ends_at"),
    [
        (None, BOT, 20),
        (None, ANNA, None),
        (10, BOT, 10),
        (30, BOT, 20),
        (30, ANNA, 30),
    ],
)
def test_the_shorter_limit_ends_a_turn(
    limit: float | None, holder: ActorId, ends_at: float | None
) -> None:
    turn = waited_for(TurnRules(limit, kind_limits=AGENTS_LIMIT), holder)

    assert turn.next_deadline() == ends_at


def test_whoever_is_given_a_turn_has_the_limit_of_its_own_kind() -> None:
    turn = waited_for(TurnRules(kind_limits=AGENTS_LIMIT), ANNA)

    turn.handle(Gave(ANNA, BOT), now=5)
    assert turn.next_deadline() == 25
    turn.handle(Seized(ANNA), now=6)
    assert turn.next_deadline() is None


def test_a_turn_taken_up_again_has_the_limit_of_its_holders_kind() -> None:
    turn = Turn(TurnRules(grace=50, kind_limits=AGENTS_LIMIT), kind_of=kind_of)

    turn.resume(BOT, Epoch(3), now=100)

    assert turn.next_deadline() == 120


# ── other rules ───────────────────────────────────────────────────────────────


def test_other_rules_hold_from_the_next_turn_on() -> None:
    turn = waited_for(TurnRules(limit=10), ANNA, BOT, CARL)

    turn.adopt(TurnRules(limit=50, grace=3, next_rule=human_first))

    assert turn.next_deadline() == 10
    turn.handle(Dropped(ANNA), now=5)
    assert turn.holder == BOT
    assert turn.next_deadline() == 55
    turn.handle(Left(BOT), now=6)
    assert turn.next_deadline() == 9
    turn.handle(Seized(ANNA), now=7)
    turn.handle(AskedFor(AIDE, 9), now=7)
    turn.handle(Dropped(ANNA), now=8)
    assert turn.holder == CARL


def test_other_rules_hold_at_once_for_a_free_turn() -> None:
    turn = Turn(TurnRules(limit=10), kind_of=kind_of)

    turn.adopt(TurnRules(limit=50))
    turn.handle(Took(ANNA), now=0)

    assert turn.next_deadline() == 50


def test_what_silence_means_is_what_it_meant_when_the_turn_began() -> None:
    turn = waited_for(TurnRules(), ANNA, BOT)

    turn.adopt(TurnRules(ask_default=AskDefault.GRANT))
    turn.tick(now=101)

    assert turn.holder == ANNA


def test_the_words_of_the_file_name_the_rules() -> None:
    assert list(NEXT_RULES.items()) == [("first", first), ("human-first", human_first)]
