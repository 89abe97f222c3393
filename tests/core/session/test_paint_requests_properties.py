from hypothesis import given
from hypothesis import strategies as st
from tests.core.painting_world import World

from holdfast.core.session.paint_requests import (
    MAX_FEED,
    Want,
)
from holdfast.model.geometry import Size

ACTS = st.lists(
    st.tuples(
        st.sampled_from(["print", "wish", "kill", "forget", "resize", "wait", "step"]),
        st.integers(1, 3 * MAX_FEED),
    ),
    max_size=60,
)


def happen(world: World, act: str, number: int) -> None:
    match act:
        case "print":
            world.print(number)
        case "kill":
            world.die(of_ours=bool(number % 2))
        case "forget":
            world.at = None
        case "resize":
            world.machine.resized(world.end, Size(10 + number % 90, 10))
        case "wait":
            world.now += number / MAX_FEED
        case _:
            world.step()


@given(acts=ACTS, deadly=st.sets(st.integers(0, 20 * MAX_FEED), max_size=3))
def test_i2_i3_i5_hold_whatever_happens(
    acts: list[tuple[str, int]], deadly: set[int]
) -> None:
    world = World(deadly=frozenset(deadly))
    tickets = []
    for act, number in acts:
        if act == "wish":
            tickets.append(world.wish(Want.SCREEN if number % 2 else Want.KEYFRAME))
        else:
            happen(world, act, number)
    world.settle()
    while (deadline := world.machine.next_deadline()) is not None:
        world.now = max(world.now, deadline)
        world.settle()

    assert sorted([*world.granted, *world.declined]) == tickets
    for place in deadly:
        assert sum(one.start <= place < one.end for one in world.deaths) <= 2
