import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.drain_order import (
    AT_ONCE,
    NO_TIME,
    Able,
    Drain,
    Leaving,
    Way,
    Wish,
    way_for,
)
from holdfast.model.ids import SessionId


def leaving(name: str, created_ms: int = 0, way: Way = Way.DISK) -> Leaving:
    why = "it is plain" if way is Way.STAYS else ""
    return Leaving(SessionId(name), created_ms, way, why)


def names(found: list[Leaving]) -> list[str]:
    return [one.session for one in found]


DISK, MOVE, EVACUATE = Wish(), Wish("beta"), Wish("beta", only_moves=True)


@pytest.mark.parametrize(
    ("able", "wish", "way", "why"),
    [
        (Able("plain", "running"), MOVE, Way.STAYS, "it is not in a capsule"),
        (Able("capsule", "frozen"), MOVE, Way.STAYS, "it is frozen"),
        (Able("capsule", "running"), DISK, Way.DISK, ""),
        (Able("capsule", "running", movable=True), DISK, Way.DISK, ""),
        (Able("capsule", "running", movable=True), MOVE, Way.MOVE, ""),
        (Able("capsule", "running"), MOVE, Way.DISK, ""),
        (Able("capsule", "running"), EVACUATE, Way.STAYS, "--movable"),
        (Able("capsule", "running", movable=True), EVACUATE, Way.MOVE, ""),
        (
            Able("capsule", "running", in_the_way="a device"),
            MOVE,
            Way.STAYS,
            "a device",
        ),
    ],
)
def test_what_can_move_moves_and_what_cannot_goes_to_disk_or_stays(
    able: Able, wish: Wish, way: Way, why: str
) -> None:
    found = way_for(able, wish)

    assert found[0] is way
    assert why in found[1]


def test_i2_i3_the_longest_lived_go_first_and_two_at_a_time() -> None:
    drain = Drain([leaving("new", 3), leaving("old", 1), leaving("mid", 2)], 100)

    assert names(drain.begin(0)) == ["old", "mid"]
    assert drain.begin(1) == []
    drain.gone(SessionId("mid"), "mid.1", 2)
    assert names(drain.begin(2)) == ["new"]
    assert drain.on_their_way == ["old", "new"]


def test_i4_what_cannot_leave_stays_and_says_why() -> None:
    drain = Drain([leaving("plain", way=Way.STAYS), leaving("box")], 100)
    assert not drain.is_over

    drain.begin(0)
    drain.refused(SessionId("box"), "the disk is full", 3)

    assert drain.is_over
    assert drain.left == {}
    assert drain.stayed == {"plain": "it is plain", "box": "the disk is full"}


def test_i1_nothing_is_begun_that_would_not_be_done_in_time() -> None:
    drain = Drain([leaving(name) for name in "abcd"], deadline=10)
    drain.begin(0)
    drain.gone(SessionId("a"), "a.1", 4)

    assert names(drain.begin(5)) == ["c"]
    drain.gone(SessionId("b"), "b.1", 6)
    drain.gone(SessionId("c"), "c.1", 7)
    assert drain.begin(7) == []
    assert drain.is_over
    assert drain.stayed == {"d": NO_TIME}


def test_i1_nothing_is_begun_at_the_deadline() -> None:
    drain = Drain([leaving("a")], deadline=10)

    assert drain.begin(10) == []
    assert drain.stayed == {"a": NO_TIME}


@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12),
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40),
    st.integers(0, 40),
)
def test_i1_to_i4_hold_whatever_happens(
    made: list[tuple[int, bool]], steps: list[tuple[int, bool]], deadline: int
) -> None:
    sessions = [
        leaving(f"s{number}", age, Way.DISK if able else Way.STAYS)
        for number, (age, able) in enumerate(made)
    ]
    drain, now, begun = Drain(sessions, deadline), 0.0, list[Leaving]()
    for wait, succeeds in [*steps, *[(1, True)] * 100]:
        now += wait
        chosen = drain.begin(now)
        assert not chosen or now < deadline, "I1"
        begun += chosen
        assert len(drain.on_their_way) <= AT_ONCE, "I3"
        for session in drain.on_their_way[:1]:
            if succeeds:
                drain.gone(session, "image", now)
            else:
                drain.refused(session, "why", now)
    assert drain.is_over
    ages = [one.created_ms for one in begun]
    assert ages == sorted(ages), "I2"
    known = {one.session for one in sessions}
    assert drain.left.keys() | drain.stayed.keys() == known, "I4"
    assert not drain.left.keys() & drain.stayed.keys(), "I4"
