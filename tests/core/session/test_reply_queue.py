from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.reply_queue import MAX_PLACES, MAX_WAITING, ReplyQueue


def drained(queue: ReplyQueue, piece: int = 10_000_000) -> bytes:
    read = b""
    while ready := queue.ready()[:piece]:
        read += ready
        queue.wrote(len(ready))
    return read


def test_what_is_known_is_ready_at_once() -> None:
    queue = ReplyQueue()
    queue.add(b"one")
    queue.add(b"two")

    assert drained(queue) == b"onetwo"
    assert queue.ready() == b""


def test_i2_what_follows_a_held_place_waits_for_it() -> None:
    queue = ReplyQueue()
    queue.add(b"before ")
    place = queue.hold()
    queue.add(b" after")
    assert place is not None

    assert drained(queue) == b"before "
    queue.fill(place, b"cursor")
    assert drained(queue) == b"cursor after"


def test_a_place_given_up_lets_the_others_through() -> None:
    queue = ReplyQueue()
    place = queue.hold()
    queue.add(b"after")
    assert place is not None
    queue.fill(place, b"")

    assert drained(queue) == b"after"


def test_places_may_be_filled_in_any_order() -> None:
    queue = ReplyQueue()
    one, other = queue.hold(), queue.hold()
    assert one is not None
    assert other is not None
    queue.fill(other, b"2")

    assert queue.ready() == b""
    queue.fill(one, b"1")
    assert drained(queue) == b"12"


def test_an_answer_that_was_written_in_part_is_not_begun_again() -> None:
    queue = ReplyQueue()
    queue.add(b"abc")
    queue.add(b"de")
    queue.wrote(4)

    assert queue.ready() == b"e"


def test_i3_a_program_that_does_not_read_is_not_answered_without_end() -> None:
    queue = ReplyQueue()
    for _ in range(MAX_WAITING):
        queue.add(b"12345")

    assert len(queue.ready()) <= MAX_WAITING
    drained(queue)
    queue.add(b"again")
    assert queue.ready() == b"again"


def test_i3_places_are_not_held_without_end() -> None:
    queue = ReplyQueue()
    places = [queue.hold() for _ in range(MAX_PLACES + 1)]

    assert places[-1] is None
    assert None not in places[:-1]


@given(
    held=st.lists(st.booleans(), max_size=20),
    order=st.randoms(use_true_random=False),
    piece=st.integers(1, 5),
)
def test_i1_answers_come_in_the_order_of_their_queries(
    held: list[bool], order: object, piece: int
) -> None:
    queue = ReplyQueue()
    places = []
    for number, is_held in enumerate(held):
        if is_held:
            places.append((queue.hold(), number))
        else:
            queue.add(b"%04d" % number)
    read = drained(queue, piece)
    getattr(order, "shuffle")(places)  # noqa: B009  # the strategy has no type
    for place, number in places:
        assert place is not None
        queue.fill(place, b"%04d" % number)
        read += drained(queue, piece)

    assert read == b"".join(b"%04d" % number for number in range(len(held)))
