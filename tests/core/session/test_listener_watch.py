from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.listener_watch import (
    LATER,
    MAX_KNOWN,
    SOON,
    SPACING,
    Listener,
    ListenerWatch,
)


def listener(port: int = 3000, pid: int = 7) -> Listener:
    return Listener("tcp", "127.0.0.1", port, pid, "node server.js")


def test_l1_what_listens_no_longer_is_told_once() -> None:
    watch = ListenerWatch()
    assert watch.saw([listener(), listener(3001)], 1) == []

    assert watch.saw([listener(3001)], 2) == [listener()]
    assert watch.saw([listener(3001)], 3) == []


def test_l1_another_process_at_the_same_place_is_no_loss() -> None:
    watch = ListenerWatch()
    watch.saw([listener(pid=7)], 1)

    assert watch.saw([listener(pid=8)], 2) == []
    assert watch.pids == {8}


def test_a_crowd_of_listeners_takes_no_more_memory() -> None:
    watch = ListenerWatch()
    watch.saw([listener(port, port) for port in range(MAX_KNOWN + 9)], 1)

    assert len(watch.pids) == MAX_KNOWN
    assert len(watch.saw([], 2)) == MAX_KNOWN


def test_l3_three_looks_follow_what_was_printed_and_then_none() -> None:
    assert ListenerWatch().look_at is None
    watch = ListenerWatch()
    watch.printed(100)
    looks = []
    while (at := watch.look_at) is not None:
        looks.append(at)
        watch.saw([], at)

    assert looks == [100 + SOON, *(100 + wait for wait in LATER)]


def test_l2_a_session_that_prints_all_the_time_is_looked_at_now_and_then() -> None:
    watch = ListenerWatch()
    watch.printed(10)
    watch.saw([], 11.5)
    watch.printed(11.6)

    assert watch.look_at == 11.5 + SPACING


def test_the_end_of_a_listener_is_looked_into_at_once() -> None:
    watch = ListenerWatch()
    watch.saw([listener()], 5)
    assert watch.look_at is None

    watch.ended()

    assert watch.look_at == 0
    assert watch.saw([], 5.1) == [listener()]
    assert watch.look_at is None


@given(st.lists(st.frozensets(st.integers(1, 4), max_size=4), max_size=20))
def test_l1_only_what_was_there_can_be_gone(seen: list[frozenset[int]]) -> None:
    watch = ListenerWatch()
    before: frozenset[int] = frozenset()
    for now, ports in enumerate(seen):
        gone = watch.saw(map(listener, ports), now)

        assert {one.port for one in gone} == before - ports
        before = ports


def test_whoever_rests_looks_no_more_until_something_is_printed() -> None:
    watch = ListenerWatch()
    watch.printed(10)
    watch.saw([listener()], 11)

    watch.rest()

    assert watch.look_at is None
    assert watch.pids == {7}
    watch.printed(50)
    assert watch.look_at is not None
