import itertools
import struct
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from holdfast.core.session.stream import (
    HEADER,
    Resume,
    Send,
    Skip,
    StreamWindow,
    Viewer,
    plan_resume,
)
from holdfast.model.errors import (
    NegativeOffset,
    OffsetAhead,
    OffsetGone,
    WindowDamaged,
)

if TYPE_CHECKING:
    from _typeshed import TraceFunction

WORD = 8


def window_of(capacity: int, printed: bytes = b"") -> StreamWindow:
    window = StreamWindow.create(memoryview(bytearray(HEADER + capacity)))
    for number in printed:
        window.append(bytes([number]))
    return window


@pytest.mark.parametrize(
    ("offset", "found"),
    [(0, b"defgh"), (3, b"defgh"), (5, b"fgh"), (8, b""), (99, b""), (-7, b"defgh")],
)
def test_a_copy_is_of_all_that_is_kept_across_the_ring_s_end(
    offset: int, found: bytes
) -> None:
    window = window_of(5, b"abcdefgh")

    assert window.since(offset) == found


def kept(window: StreamWindow) -> bytes:
    whole = b""
    while window.start + len(whole) < window.end:
        whole += window.read(window.start + len(whole), window.capacity)
    return whole


def snapshots(memory: bytearray, act: Callable[[], object]) -> list[bytes]:
    seen = [bytes(memory)]

    def look(frame: FrameType, _event: str, _argument: object) -> "TraceFunction":
        frame.f_trace_opcodes = True
        if memory != seen[-1]:
            seen.append(bytes(memory))
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        act()
    finally:
        sys.settrace(before)
    seen.append(bytes(memory))
    return seen


def marks(memory: bytes) -> tuple[int, int]:
    start, end = struct.unpack_from("QQ", memory, 24)
    return start, end


def test_a_new_window_is_empty() -> None:
    window = window_of(10)

    assert (window.start, window.end, window.capacity) == (0, 0, 10)
    assert kept(window) == b""


def test_keeps_the_last_bytes_and_counts_them_all() -> None:
    window = window_of(4)
    window.append(b"abc")
    window.append(b"def")

    assert (window.start, window.end) == (2, 6)
    assert kept(window) == b"cdef"


def test_an_append_larger_than_the_window_keeps_its_tail_and_counts_every_byte() -> (
    None
):
    window = window_of(4)
    window.append(b"0123456789")

    assert (window.start, window.end) == (6, 10)
    assert kept(window) == b"6789"


def test_takes_a_view_as_well_as_bytes() -> None:
    window = window_of(4)
    window.append(memoryview(b"abcdef"))

    assert kept(window) == b"cdef"


def test_a_read_never_crosses_the_end_of_the_ring() -> None:
    window = window_of(4, b"abcdef")

    assert bytes(window.read(2, 100)) == b"cd"
    assert bytes(window.read(4, 100)) == b"ef"
    assert bytes(window.read(3, 1)) == b"d"
    assert bytes(window.read(6, 100)) == b""
    assert bytes(window.read(3, -1)) == b""


def test_what_was_read_cannot_be_written_to() -> None:
    assert window_of(4, b"abc").read(0, 3).readonly


def test_reading_what_is_not_kept_is_refused() -> None:
    window = window_of(4, b"abcdef")

    with pytest.raises(OffsetGone):
        window.read(1, 1)
    with pytest.raises(OffsetAhead):
        window.read(7, 1)


def test_a_window_is_found_again_by_another_process() -> None:
    memory = memoryview(bytearray(HEADER + 4))
    StreamWindow.create(memory).append(b"abcdef")

    assert kept(StreamWindow.open(memory)) == b"cdef"


def test_a_window_made_over_an_old_one_is_empty() -> None:
    memory = memoryview(bytearray(HEADER + 4))
    StreamWindow.create(memory).append(b"abcdef")

    assert StreamWindow.create(memory).end == 0


@pytest.mark.parametrize(
    ("place", "value"),
    [
        pytest.param(0, 1, id="magic"),
        pytest.param(8, 2, id="layout"),
        pytest.param(16, 5, id="capacity"),
        pytest.param(24, 7, id="start after end"),
        pytest.param(32, 7, id="more than the ring holds"),
    ],
)
def test_a_damaged_header_is_refused(place: int, value: int) -> None:
    memory = bytearray(HEADER + 4)
    StreamWindow.create(memoryview(memory)).append(b"abcdef")
    struct.pack_into("Q", memory, place, value)

    with pytest.raises(WindowDamaged):
        StreamWindow.open(memoryview(memory))


@pytest.mark.parametrize("size", [0, HEADER])
def test_memory_too_small_for_a_window_is_refused(size: int) -> None:
    with pytest.raises(WindowDamaged):
        StreamWindow.open(memoryview(bytearray(size)))
    with pytest.raises(AssertionError):
        StreamWindow.create(memoryview(bytearray(size)))


@pytest.mark.parametrize("already", range(12))
@pytest.mark.parametrize("size", range(1, 20))
def test_i1_a_writer_killed_at_any_point_leaves_no_wrong_byte(
    already: int, size: int
) -> None:
    output = bytes(range(already + size))
    memory = bytearray(HEADER + 7)
    window = StreamWindow.create(memoryview(memory))
    window.append(output[:already])

    states = snapshots(memory, lambda: window.append(output[already:]))

    for state in states:
        found = StreamWindow.open(memoryview(bytearray(state)))
        assert kept(found) == output[found.start : found.end]
    assert len(states) > 2


@pytest.mark.parametrize("size", range(1, 20))
def test_i1_no_claimed_byte_is_ever_being_copied_and_one_mark_moves_at_a_time(
    size: int,
) -> None:
    memory = bytearray(HEADER + 7)
    window = StreamWindow.create(memoryview(memory))
    window.append(b"\xff" * 9)

    states = snapshots(memory, lambda: window.append(bytes(range(size))))

    for before, after in itertools.pairwise(states):
        changed = {i for i in range(len(before)) if before[i] != after[i]}
        moved = {place // WORD for place in changed if place < HEADER}
        written = {place - HEADER for place in changed if place >= HEADER}
        claimed = {
            offset % 7 for state in (before, after) for offset in range(*marks(state))
        }
        assert len(moved) + bool(written) <= 1
        assert not written & claimed


def test_i1_a_window_killed_while_it_is_made_is_empty_or_refused() -> None:
    memory = bytearray(HEADER + 7)
    StreamWindow.create(memoryview(memory)).append(b"0123456789")

    states = snapshots(memory, lambda: StreamWindow.create(memoryview(memory)))

    for state in states[1:-1]:
        try:
            assert StreamWindow.open(memoryview(bytearray(state))).end == 0
        except WindowDamaged:
            continue
    assert len(states) > 4


def test_a_fresh_reader_gets_what_is_kept() -> None:
    assert plan_resume(window_of(4, b"abcdef"), None) == Resume(2, gap=0)


@pytest.mark.parametrize("after", [2, 4, 6])
def test_a_reader_inside_the_window_goes_on_where_it_was(after: int) -> None:
    assert plan_resume(window_of(4, b"abcdef"), after) == Resume(after, gap=0)


@pytest.mark.parametrize("after", [0, 1])
def test_a_reader_that_was_left_behind_is_told_how_much_is_gone(after: int) -> None:
    window = window_of(4, b"abcdef")

    assert plan_resume(window, after) == Resume(2, gap=2 - after)


@pytest.mark.parametrize("after", [7, 2**63, 2**80])
def test_an_offset_that_was_never_reached_is_refused(after: int) -> None:
    with pytest.raises(OffsetAhead):
        plan_resume(window_of(4, b"abcdef"), after)


def test_a_negative_offset_is_refused() -> None:
    with pytest.raises(NegativeOffset):
        plan_resume(window_of(4, b"abcdef"), -1)


def test_a_viewer_is_offered_the_same_bytes_until_it_accepts_them() -> None:
    window = window_of(8, b"abcdef")
    reader = Viewer(0)

    assert reader.pull(window, 4) == [Send(0, memoryview(b"abcd"))]
    assert reader.pull(window, 4) == [Send(0, memoryview(b"abcd"))]
    reader.accepted(0)
    reader.accepted(3)
    assert reader.pull(window, 4) == [Send(3, memoryview(b"def"))]
    reader.accepted(3)
    assert reader.pull(window, 4) == []
    assert reader.cursor == 6


def test_a_viewer_whose_bytes_are_gone_is_told_how_many() -> None:
    window = window_of(4, b"abcdef")

    assert Viewer(0).pull(window, 9) == [
        Skip(gap=2, at=2),
        Send(2, memoryview(b"cd")),
    ]


def test_a_viewer_that_keeps_up_is_offered_what_comes_next() -> None:
    window = window_of(8, b"abc")
    reader = Viewer(0)
    reader.kept_up(3)

    window.append(b"d")

    assert reader.pull(window, 9) == [Send(3, memoryview(b"d"))]


def test_accepting_more_than_was_offered_is_a_bug() -> None:
    reader = Viewer(0)
    reader.pull(window_of(8, b"abc"), 2)

    with pytest.raises(AssertionError):
        reader.accepted(3)
