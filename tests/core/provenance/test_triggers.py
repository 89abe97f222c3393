from holdfast.core.provenance.triggers import MAX_KEPT, MAX_NAMED, Triggers
from holdfast.model.ids import ActorId

ANNA, BERT, BOT = ActorId("a_anna"), ActorId("a_bert"), ActorId("a_bot")


def test_before_anybody_typed_it_was_whoever_began_the_session() -> None:
    triggers = Triggers(ANNA)

    assert triggers.at(0) == triggers.at(5000) == triggers.last == (ANNA,)


def test_i1_what_starts_after_somebody_was_heard_is_theirs() -> None:
    triggers = Triggers(ANNA)
    triggers.heard(BOT, 100, is_alone=True)

    triggers.heard(ANNA, 200, is_alone=True)

    assert triggers.at(99) == (ANNA,)
    assert triggers.at(101) == triggers.at(199) == (BOT,)
    assert triggers.at(201) == (ANNA,)


def test_i1_in_the_tick_of_a_change_either_may_be_meant() -> None:
    triggers = Triggers(ANNA)

    triggers.heard(BOT, 100, is_alone=True)

    assert set(triggers.at(100)) == {ANNA, BOT}


def test_i1_whoever_types_while_something_runs_is_named_beside_the_other() -> None:
    triggers = Triggers(BOT)

    triggers.heard(ANNA, 100, is_alone=False)

    assert set(triggers.at(5000)) == {ANNA, BOT}
    assert triggers.at(99) == (BOT,)


def test_i2_after_somebody_was_heard_alone_nobody_else_is_named() -> None:
    triggers = Triggers(BOT)
    triggers.heard(ANNA, 100, is_alone=False)

    triggers.heard(ANNA, 200, is_alone=True)

    assert triggers.at(201) == triggers.last == (ANNA,)


def test_typing_on_and_on_is_one_change() -> None:
    triggers = Triggers(ANNA)
    triggers.heard(BOT, 100, is_alone=False)
    for tick in range(200, 300):
        triggers.heard(BOT, tick, is_alone=False)
        triggers.heard(ANNA, tick, is_alone=False)

    triggers.heard(ANNA, 300, is_alone=True)
    triggers.heard(ANNA, 400, is_alone=True)

    assert set(triggers.at(299)) == {ANNA, BOT}
    assert triggers.at(301) == (ANNA,)


def test_i1_of_two_who_are_heard_in_one_tick_both_are_named() -> None:
    triggers = Triggers(ANNA)
    triggers.heard(BOT, 100, is_alone=True)

    triggers.heard(BERT, 100, is_alone=True)

    assert set(triggers.at(100)) == {ANNA, BOT, BERT}
    assert triggers.at(101) == (BERT,)


def test_i1_a_clock_that_was_set_back_loses_nobody() -> None:
    triggers = Triggers(ANNA)
    triggers.heard(BOT, 1000, is_alone=True)

    triggers.heard(BERT, 500, is_alone=True)

    assert set(triggers.at(500)) == {ANNA, BOT, BERT}


def test_i3_what_is_kept_is_bounded() -> None:
    triggers = Triggers(ANNA)
    for tick in range(2 * MAX_KEPT):
        triggers.heard((ANNA, BOT)[tick % 2], 10 * tick, is_alone=True)
    for number in range(2 * MAX_NAMED):
        actor = ActorId(f"a_{number}")
        triggers.heard(actor, 10**6 + number, is_alone=False)

    assert len(triggers.last) == MAX_NAMED
    assert len(triggers.everybody) <= MAX_KEPT * MAX_NAMED
    assert set(triggers.at(0)) <= {ANNA, BOT}


def test_i1_what_is_older_than_all_that_is_kept_may_be_anybody_s() -> None:
    triggers = Triggers(ANNA)
    triggers.heard(BERT, 10, is_alone=True)
    for tick in range(MAX_KEPT):
        triggers.heard((ANNA, BOT)[tick % 2], 100 + 10 * tick, is_alone=True)

    assert set(triggers.at(50)) == {ANNA, BOT, BERT}
    assert triggers.last == (BOT,)


def test_i1_who_types_into_what_runs_may_be_behind_all_since_its_beginning() -> None:
    triggers = Triggers(ANNA)
    triggers.heard(BERT, 100, is_alone=True)
    triggers.heard(ANNA, 200, is_alone=True)

    triggers.fed(BOT, 200)
    triggers.fed(BOT, 200)

    assert triggers.at(199) == (BERT,)
    assert set(triggers.at(200)) == {ANNA, BERT, BOT}
    assert triggers.at(201) == triggers.last == (BOT, ANNA)
