from tests.core.painting_world import CAPACITY, SIZE, World

from holdfast.core.session.paint_requests import (
    MAX_FEED,
    MAX_SIZES,
    RATE,
    Connect,
    Depict,
    Drop,
    Feed,
    Grant,
    Reset,
    Resize,
    Skip,
    Want,
)
from holdfast.model.geometry import Size

HALF = CAPACITY // 2


def test_nothing_is_asked_while_nobody_wishes_anything() -> None:
    world = World()
    world.print(1000)
    world.settle()

    assert world.done == []
    assert world.machine.next_deadline() is None


def test_a_wish_is_granted_with_the_picture_of_all_that_was_printed() -> None:
    world = World()
    world.print(3 * MAX_FEED // 2)
    ticket = world.wish()
    world.settle()

    picture = world.granted[ticket]
    assert (picture.offset, picture.size, picture.data) == (world.end, SIZE, b"K")
    assert picture.exact
    assert world.asked(Feed) == [
        Feed(0, MAX_FEED),
        Feed(MAX_FEED, 3 * MAX_FEED // 2),
    ]


def test_only_what_is_new_is_fed_for_the_next_wish() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.settle()
    world.print(5)
    world.wish(Want.SCREEN)
    world.settle()

    assert world.asked(Feed, Reset) == [Reset(SIZE, 0, b""), Feed(0, 10), Feed(10, 15)]


def test_a_picture_that_is_kept_needs_no_painter() -> None:
    world = World()
    world.print(10)
    first = world.wish()
    world.settle()
    world.die(of_ours=False)
    asked = len(world.done)
    second = world.wish()
    world.settle()

    assert world.granted[second] == world.granted[first]
    assert world.done[asked:] == [Grant(second, world.granted[first])]


def test_what_was_printed_since_is_in_the_next_picture() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.settle()
    world.print(1)
    ticket = world.wish()
    world.settle()

    assert world.granted[ticket].offset == 11


def test_a_picture_of_another_size_is_made_anew() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.settle()
    world.machine.resized(10, Size(40, 12))
    ticket = world.wish()
    world.settle()

    assert world.granted[ticket].size == Size(40, 12)
    assert len(world.asked(Depict)) == 2


def test_a_wish_for_an_earlier_place_is_painted_only_up_to_there() -> None:
    world = World()
    world.print(100)
    ticket = world.wish(Want.CURSOR, upto=40)
    world.settle()

    assert world.granted[ticket].offset == 40


def test_i1_no_second_request_is_made_while_one_is_open() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.machine.next(world.view, world.now)
    world.machine.connected()
    first = world.machine.next(world.view, world.now)

    assert first == [Reset(SIZE, 0, b"")]
    assert world.machine.next(world.view, world.now) == []


def test_a_stream_that_never_pauses_does_not_keep_a_wish_waiting() -> None:
    world = World()
    world.print(10)
    ticket = world.wish()
    for _ in range(20):
        world.step()
        world.print(MAX_FEED)

    assert ticket in world.granted


# ── what is gone ──────────────────────────────────────────────────────────────


def test_i3_what_rolled_off_is_skipped_and_the_picture_not_called_exact() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.settle()
    world.print(2 * CAPACITY)
    ticket = world.wish()
    world.settle()

    assert world.asked(Skip) == [Skip(world.start)]
    assert not world.granted[ticket].exact


def test_a_stream_found_in_the_middle_is_painted_from_its_window() -> None:
    world = World(is_new=False, start=500, end=900)
    ticket = world.wish()
    world.settle()

    assert world.asked(Reset) == [Reset(SIZE, 500, b"")]
    assert not world.granted[ticket].exact


# ── sizes ─────────────────────────────────────────────────────────────────────


def test_what_was_printed_before_a_resize_is_painted_in_the_former_size() -> None:
    world = World()
    other = Size(40, 10)
    world.print(100)
    world.machine.resized(100, other)
    world.print(50)
    ticket = world.wish()
    world.settle()

    assert world.done[2:5] == [Feed(0, 100), Resize(other), Feed(100, 150)]
    assert world.granted[ticket].size == other


def test_i6_sizes_without_end_are_not_remembered_without_end() -> None:
    world = World()
    for number in range(2 * MAX_SIZES):
        world.print(1)
        world.machine.resized(world.end, Size(10 + number, 10))
    ticket = world.wish()
    world.settle()

    assert len(world.asked(Resize)) < MAX_SIZES
    assert world.granted[ticket].size == Size(9 + 2 * MAX_SIZES, 10)
    assert not world.granted[ticket].exact


# ── unasked ───────────────────────────────────────────────────────────────────


def test_half_a_window_unpainted_is_fed_unasked_and_a_keyframe_kept() -> None:
    world = World()
    world.print(HALF)
    assert not world.machine.is_due(*world.bounds)
    world.print(1)

    assert world.machine.is_due(*world.bounds)
    world.settle()
    assert world.at == world.end
    assert world.asked(Depict) == [Depict(Want.KEYFRAME)]
    assert not world.machine.is_due(*world.bounds)


def test_i4_unasked_the_painter_is_fed_no_faster_than_the_rate() -> None:
    world = World()
    began = world.now
    for _ in range(200):
        world.print(HALF // 8 + 1)
        world.settle()
        world.now += 0.01

    fed = sum(one.end - one.start for one in world.asked(Feed) if isinstance(one, Feed))
    assert fed <= RATE * (world.now - began) + HALF + MAX_FEED


def test_a_flood_that_rolled_over_the_picture_is_left_alone() -> None:
    world = World()
    world.print(3 * CAPACITY)
    world.settle()

    assert world.done == []
    assert not world.machine.is_due(*world.bounds)


def test_a_wish_while_a_keyframe_is_made_unasked_gets_its_own_picture() -> None:
    world = World()
    world.print(HALF + 1)
    world.ask(Depict)
    ticket = world.wish(Want.SCREEN)
    assert world.machine.answered(world.end, SIZE, b"K")
    world.settle()

    assert world.granted[ticket].data == b"S"


# ── the end ───────────────────────────────────────────────────────────────────


def test_the_picture_of_a_session_that_is_over_is_put_away() -> None:
    world = World()
    world.print(10)
    world.wish()
    world.settle()
    world.machine.ended()
    world.settle()

    assert world.asked(Drop) == [Drop()]
    assert world.at is None
    ticket = world.wish(Want.SCREEN)
    world.settle()
    assert world.granted[ticket].offset == 10


def test_a_picture_that_nobody_has_used_for_long_is_not_fetched_to_be_dropped() -> None:
    world = World()
    world.wish()
    world.settle()
    world.wait()
    world.machine.ended()
    world.settle()

    assert world.asked(Drop) == []


def test_no_painter_is_started_to_drop_what_died_with_the_last() -> None:
    world = World()
    world.wish()
    world.settle()
    world.machine.died(world.now, of_ours=False)
    world.machine.ended()
    world.settle()

    assert len(world.asked(Connect)) == 1


def test_a_session_that_is_over_is_not_fed_unasked() -> None:
    world = World()
    world.print(HALF + 1)
    world.machine.ended()

    assert not world.machine.is_due(*world.bounds)
    assert world.machine.next(world.view, world.now) == []
