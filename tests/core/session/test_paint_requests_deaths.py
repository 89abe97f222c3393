import pytest
from tests.core.painting_world import CAPACITY, SIZE, World

from holdfast.core.session.paint_requests import (
    LAST_PART,
    MAX_DEATHS,
    MAX_FEED,
    MAX_KEPT,
    Connect,
    Depict,
    Draw,
    Feed,
    Reset,
    Skip,
    Want,
)

HALF = CAPACITY // 2


def test_a_new_painter_begins_with_the_last_keyframe() -> None:
    world = World(keyframe=b"k" * (MAX_FEED + 10))
    world.print(100)
    world.wish()
    world.settle()
    world.at = None
    world.print(20)
    ticket = world.wish(Want.SCREEN)
    world.settle()

    assert world.granted[ticket].exact
    assert world.asked(Reset)[1:] == [Reset(SIZE, 100, b"k" * MAX_FEED)]
    assert world.asked(Draw) == [Draw(b"k" * 10)]
    assert world.asked(Feed)[-1] == Feed(100, 120)


def test_i6_a_keyframe_too_long_to_keep_is_not_kept() -> None:
    world = World(keyframe=b"k" * (MAX_KEPT + 1))
    world.print(100)
    world.wish()
    world.settle()
    world.at = None
    world.wish()
    world.settle()

    assert world.asked(Reset)[1:] == [Reset(SIZE, 0, b"")]


def test_i5_what_two_painters_died_of_is_given_to_no_third() -> None:
    world = World(deadly=frozenset({MAX_FEED + 5}))
    world.print(3 * MAX_FEED)
    ticket = world.wish()
    world.settle()
    world.wait()

    assert len(world.deaths) == 2
    assert world.asked(Skip) == [Skip(2 * MAX_FEED)]
    assert not world.granted[ticket].exact


def test_bytes_that_are_bad_to_the_end_are_skipped_to_the_end() -> None:
    world = World(deadly=frozenset({5}))
    world.print(10)
    ticket = world.wish()
    world.settle()
    world.wait()

    assert world.granted[ticket].offset == 10
    assert world.asked(Skip) == [Skip(10)]


def test_a_death_for_which_another_session_was_to_blame_stains_nothing() -> None:
    world = World()
    world.print(10)
    ticket = world.wish()
    for _ in range(4):
        world.ask(Feed)
        world.die(of_ours=False)
    world.ask(Connect)
    world.machine.connected()
    world.settle()

    assert world.granted[ticket].exact


def test_output_with_many_bad_places_is_given_up_for_now() -> None:
    places = range(0, 4 * MAX_FEED, MAX_FEED)
    world = World(deadly=frozenset(places))
    world.print(5 * MAX_FEED)
    ticket = world.wish()
    world.settle()
    while ticket not in world.declined:
        world.wait()

    assert len(world.deaths) == MAX_DEATHS
    again = world.wish()
    world.wait()

    assert world.asked(Skip)[-1] == Skip(5 * MAX_FEED - LAST_PART)
    assert not world.granted[again].exact


@pytest.mark.parametrize("is_wished", [True, False])
def test_a_painter_that_forgets_at_once_is_given_up(is_wished: bool) -> None:  # noqa: FBT001
    world = World()
    world.print(HALF + 1)
    ticket = world.wish() if is_wished else 0
    for _ in range(MAX_DEATHS):
        world.ask(Feed)
        world.at = None
        world.machine.refused()
    world.step()

    assert (ticket in world.declined) == is_wished


def test_a_keyframe_that_kills_twice_is_thrown_away() -> None:
    world = World()
    world.print(100)
    world.wish()
    world.settle()
    world.die(of_ours=False)
    world.wish(Want.SCREEN)
    resets = []
    for _ in range(3):
        resets.append(world.ask(Reset))
        world.die(of_ours=True)

    assert resets[:2] == [Reset(SIZE, 100, b"K")] * 2
    assert resets[-1] == Reset(SIZE, 0, b"")


def test_a_keyframe_that_has_killed_is_not_handed_out_unseen() -> None:
    world = World()
    world.print(100)
    world.wish()
    world.settle()
    world.die(of_ours=False)
    world.wish(Want.SCREEN)
    world.ask(Reset)
    world.die(of_ours=True)
    world.wish()
    world.ask(Reset)

    assert len(world.granted) == 1


def test_a_death_while_a_picture_was_made_blames_the_last_bytes() -> None:
    world = World()
    world.print(100)
    ticket = world.wish()
    for _ in range(2):
        world.ask(Depict)
        world.die(of_ours=True)
    world.settle()
    world.wait()

    assert not world.granted[ticket].exact


def test_an_answer_to_nothing_or_of_another_place_is_none() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.step()

    assert not world.machine.answered(0, SIZE, b"")
    world.machine.next(world.view, world.now)
    assert not world.machine.answered(77, SIZE, b"")
