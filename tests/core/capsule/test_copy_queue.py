from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.copy_queue import FIRST, LONGEST, CopyQueue
from holdfast.model.ids import SessionId

A, B = SessionId("s_a"), SessionId("s_b")


def test_i1_one_is_sent_at_a_time_the_longest_waiting_first() -> None:
    queue = CopyQueue()
    queue.made(B, "s_b.1", 1)
    queue.made(A, "s_a.1", 0)

    assert queue.next_image(2) == "s_a.1"
    assert queue.next_image(2) is None
    queue.sent()
    assert queue.next_image(2) == "s_b.1"
    queue.dropped()
    assert queue.next_image(2) is None


def test_i2_only_the_newest_of_a_session_waits() -> None:
    queue = CopyQueue()
    queue.made(A, "s_a.1", 0)
    queue.made(A, "s_a.2", 5)

    assert queue.next_image(5) == "s_a.2"
    queue.sent()
    assert queue.next_image(5) is None


def test_i3_a_failure_makes_it_wait_longer_each_time() -> None:
    queue = CopyQueue()
    queue.made(A, "s_a.1", 0)
    now, waits = 0.0, []
    for _ in range(9):
        image = queue.next_image(now)
        assert image == "s_a.1"
        queue.failed(image, now)
        begun = now
        while queue.next_image(now) is None:
            now += FIRST
        waits.append(now - begun)
        queue.failed("s_a.1", now - LONGEST)
        now += LONGEST

    assert waits[:2] == [FIRST, 4 * FIRST]
    assert max(waits) == LONGEST


def test_i3_a_new_image_does_not_shorten_the_wait_and_takes_the_place() -> None:
    queue = CopyQueue()
    queue.made(A, "s_a.1", 0)
    assert queue.next_image(0) == "s_a.1"
    queue.made(A, "s_a.2", 1)
    queue.failed("s_a.1", 1)
    queue.made(A, "s_a.3", 2)

    assert queue.next_image(1 + FIRST / 2) is None
    assert queue.next_image(1 + FIRST) == "s_a.3"


def test_a_success_ends_the_longer_waits() -> None:
    queue = CopyQueue()
    for _ in range(2):
        queue.made(A, "s_a.1", 0)
        assert queue.next_image(1000) == "s_a.1"
        queue.failed("s_a.1", 1000)
        assert queue.next_image(1000 + FIRST) == "s_a.1"
        queue.sent()


def test_words_about_nothing_that_is_sent_change_nothing() -> None:
    queue = CopyQueue()
    queue.sent()
    queue.failed("s_a.1", 0)

    assert queue.next_image(LONGEST) is None


@given(st.lists(st.tuples(st.sampled_from([A, B]), st.booleans()), max_size=40))
def test_i4_every_session_that_waits_has_its_turn(
    steps: list[tuple[SessionId, bool]],
) -> None:
    queue, now = CopyQueue(), 0.0
    waiting: dict[SessionId, str] = {}
    for number, (session, is_there) in enumerate(steps):
        waiting[session] = f"{session}.{number}"
        queue.made(session, waiting[session], now)
        image = queue.next_image(now)
        if image is not None:
            assert image in waiting.values()
            if is_there:
                queue.sent()
                del waiting[SessionId(image.partition(".")[0])]
            else:
                queue.failed(image, now)
        now += 1

    for _ in range(len(waiting)):
        image = queue.next_image(now + LONGEST)
        assert image is not None
        queue.sent()
        del waiting[SessionId(image.partition(".")[0])]
    assert not waiting
