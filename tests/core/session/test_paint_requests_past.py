"""One process goes on where another was: the picture is the same."""

from tests.core.painting_world import CAPACITY, SIZE, World

from holdfast.core.session.paint_requests import (
    Connect,
    Depict,
    Feed,
    Painting,
    Past,
    Reset,
    View,
    Want,
)
from holdfast.model.geometry import Size

OTHER = Size(132, 50)


def next_of(world: World, size: Size = SIZE) -> Painting:
    """Return the machine of the process that takes the session up."""
    machine = Painting(world.view, size, capacity=CAPACITY, is_new=False)
    machine.go_on(world.machine.past())
    return machine


def first_request(machine: Painting, view: View) -> object:
    machine.wish(Want.SCREEN, None, 0.0)
    assert machine.next(view, 0.0) == [Connect()]
    machine.connected()
    return machine.next(view, 0.0)[0]


def test_the_last_keyframe_is_where_the_next_process_begins() -> None:
    world = World()
    world.print(1000)
    world.wish(Want.KEYFRAME)
    world.settle()
    world.print(500)

    assert first_request(next_of(world), world.view) == Reset(SIZE, 1000, b"K")


def test_a_stream_that_is_there_from_its_first_byte_is_still_painted_exactly() -> None:
    world = World()
    world.print(100)
    machine = next_of(world)
    first_request(machine, world.view)
    machine.answered(0, SIZE, b"")
    assert machine.next(world.view, 0.0) == [Feed(0, 100)]
    machine.answered(100, SIZE, b"")
    assert machine.next(world.view, 0.0) == [Depict(Want.SCREEN)]
    machine.answered(100, SIZE, b"S")

    (granted,) = machine.next(world.view, 0.0)

    assert granted.picture.exact  # type: ignore[union-attr]


def test_a_size_that_another_has_set_meanwhile_counts() -> None:
    world = World()
    world.print(100)
    world.machine.resized(50, OTHER)

    machine = next_of(world, Size(40, 10))

    sizes = machine.past().sizes
    assert sizes == ((0, SIZE), (50, OTHER), (50, Size(40, 10)))


def test_who_left_no_sizes_leaves_the_present_one() -> None:
    machine = Painting(View(0, 9), OTHER, capacity=CAPACITY, is_new=False)

    machine.go_on(Past(is_whole=True, begin=0, sizes=(), kept=None))

    assert machine.past().sizes == ((0, OTHER),)


def test_it_is_quiet_unless_somebody_waits_for_a_picture() -> None:
    world = World()
    world.print(10)
    assert world.machine.is_quiet
    world.wish(Want.SCREEN)
    assert not world.machine.is_quiet
    world.machine.next(world.view, 0.0)
    world.machine.connected()
    world.machine.next(world.view, 0.0)
    assert not world.machine.is_quiet
    world.settle()
    assert world.machine.is_quiet
