from tests.core.painting_world import CAPACITY, World

from holdfast.core.session.paint_requests import (
    MAX_PAUSE,
    MAX_WISHES,
    PATIENCE,
    REST,
    START_PATIENCE,
    Connect,
    Decline,
    Depict,
    Disconnect,
    Feed,
    Reset,
    Want,
)

HALF = CAPACITY // 2


def test_i2_a_wish_without_an_answer_is_declined_at_its_deadline() -> None:
    world = World()
    world.print(10)
    ticket = world.wish()
    world.step()
    world.machine.next(world.view, world.now)
    world.now += PATIENCE
    world.settle()
    assert world.declined == [ticket]
    world.now += START_PATIENCE - PATIENCE
    world.settle()

    assert Disconnect() in world.done


def test_a_painter_that_is_slow_to_start_gives_a_screen_but_no_keyframe() -> None:
    world = World()
    world.print(10)
    screen, keyframe = world.wish(Want.SCREEN), world.wish(Want.KEYFRAME)
    begun = world.ask(Reset)
    world.now += PATIENCE
    assert world.machine.is_due(*world.bounds)
    assert world.machine.next(world.view, world.now) == [Decline(keyframe)]
    deadline = world.machine.next_deadline()
    assert deadline == world.now + START_PATIENCE - PATIENCE
    world.answer(begun)
    world.settle()

    assert list(world.granted) == [screen]


def test_a_wish_that_waited_behind_another_takes_no_painter_from_it() -> None:
    world = World()
    world.wish()
    world.settle()
    world.print(10)
    screen = world.wish(Want.SCREEN)
    keyframe = world.wish(Want.KEYFRAME)
    world.now += PATIENCE - 1
    fed = world.ask(Feed)
    world.now += 1
    assert world.machine.next(world.view, world.now) == [Decline(keyframe)]
    world.answer(fed)
    world.settle()

    assert screen in world.granted


def test_a_painter_that_never_said_a_word_is_not_waited_for_again_soon() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.step()
    world.machine.next(world.view, world.now)
    world.now += START_PATIENCE
    world.settle()
    hasty = world.wish()
    world.settle()

    assert hasty in world.declined
    world.now += 1.0
    late = world.wish()
    world.settle()
    assert late in world.granted


def test_a_painter_that_once_answered_is_asked_again_at_once() -> None:
    world = World()
    world.wish()
    world.settle()
    world.print(10)
    world.wish()
    world.machine.next(world.view, world.now)
    world.now += PATIENCE
    world.settle()
    ticket = world.wish()
    world.settle()

    assert ticket in world.granted


def test_a_painter_that_only_ever_refused_is_asked_again_at_once_as_well() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.ask(Reset)
    world.machine.refused()
    world.ask(Reset)
    world.now += PATIENCE
    world.settle()
    ticket = world.wish()
    world.settle()

    assert ticket in world.granted


def test_a_feed_that_a_wish_overtook_ends_with_a_keyframe_for_nobody() -> None:
    world = World()
    world.print(HALF + 1)
    while not world.asked(Feed):
        world.step()
    ticket = world.wish()
    world.settle()

    assert list(world.granted) == [ticket]
    assert world.done[-1] == Depict(Want.KEYFRAME)


def test_a_feed_that_nobody_wished_for_has_a_deadline_too() -> None:
    world = World()
    world.print(HALF + 1)
    world.step()
    world.step()
    world.machine.next(world.view, world.now)
    world.now += START_PATIENCE

    assert world.machine.is_due(*world.bounds)
    assert world.machine.next(world.view, world.now) == [Disconnect()]


def test_where_no_painter_is_nobody_waits_for_one() -> None:
    world = World(is_there=False)
    tickets = [world.wish(), world.wish()]
    world.settle()

    assert world.declined == tickets
    pauses = []
    for _ in range(10):
        refused_at = world.now
        while world.wish() and world.step() != [Connect()]:
            world.settle()
            world.now += 0.25
        world.settle()
        pauses.append(world.now - refused_at)
    assert pauses == sorted(pauses)
    assert pauses[-1] <= MAX_PAUSE + 0.5


def test_deaths_in_a_row_are_followed_by_growing_pauses() -> None:
    world = World()
    world.print(10)
    world.wish()
    pauses = []
    for _ in range(5):
        while world.machine.next(world.view, world.now) != [Connect()]:
            world.now += 0.01
        world.machine.connected()
        died_at = world.now
        world.machine.died(world.now, of_ours=False)
        pauses.append(world.machine.next_deadline())
        assert pauses[-1] is not None
        pauses[-1] = round(pauses[-1] - died_at, 3)

    assert pauses == [0.0, 0.05, 0.1, 0.15, 0.2]


def test_an_unused_link_is_closed_so_that_the_painter_can_rest() -> None:
    world = World()
    world.wish()
    world.settle()
    world.now += REST / 2
    world.settle()
    assert Disconnect() not in world.done
    world.wait()

    assert world.done[-1] == Disconnect()
    assert world.machine.next_deadline() is None
    ticket = world.wish(Want.SCREEN)
    world.settle()
    assert ticket in world.granted
    assert len(world.asked(Reset)) == 1


def test_i6_more_wishes_than_can_wait_are_declined() -> None:
    world = World()
    tickets = [world.wish() for _ in range(MAX_WISHES + 1)]
    world.settle()

    assert world.declined == tickets[-1:]
    assert sorted(world.granted) == tickets[:-1]
