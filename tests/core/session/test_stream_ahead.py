import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.model.errors import WindowDamaged


def window_of(capacity: int, printed: bytes = b"") -> tuple[bytearray, StreamWindow]:
    memory = bytearray(HEADER + capacity)
    window = StreamWindow.create(memoryview(memory))
    window.append(printed)
    return memory, window


def read_ahead(window: StreamWindow, data: bytes) -> None:
    while data:
        room = window.room(len(data))
        room[:] = data[: len(room)]
        window.took(len(room))
        data = data[len(room) :]


def kept(window: StreamWindow) -> bytes:
    whole = b""
    while window.start + len(whole) < window.end:
        whole += window.read(window.start + len(whole), window.capacity)
    return whole


def test_what_is_ahead_is_no_part_of_the_stream_until_it_is_admitted() -> None:
    _, window = window_of(16, b"seen")
    read_ahead(window, b"new")

    assert (kept(window), window.ahead) == (b"seen", b"new")

    window.admit(2)

    assert (kept(window), window.ahead) == (b"seenne", b"w")


def test_i1_a_successor_finds_what_was_read_and_not_admitted() -> None:
    memory, window = window_of(16, b"seen")
    read_ahead(window, b"half an")

    found = StreamWindow.open(memoryview(memory))

    assert (kept(found), found.ahead) == (b"seen", b"half an")


def test_i1_room_is_given_up_before_it_is_written_to() -> None:
    _, window = window_of(8, b"12345678")

    window.room(3)

    assert kept(window) == b"45678"


def test_room_is_never_more_than_half_of_what_is_kept() -> None:
    _, window = window_of(8, b"12345678")

    assert len(window.room(100)) == 4


def test_the_ring_wraps_under_what_is_ahead() -> None:
    _, window = window_of(8, b"123456")
    read_ahead(window, b"abcd")

    assert window.ahead == b"abcd"

    window.admit(4)

    assert kept(window) == b"3456abcd"


def test_what_is_ahead_can_be_replaced_by_what_may_be_seen() -> None:
    _, window = window_of(8, b"12345")
    read_ahead(window, b"a?b!")

    window.replace_ahead(b"ab", b"!")

    assert kept(window).endswith(b"45ab")
    assert window.ahead == b"!"


def test_a_window_that_claims_to_have_read_too_much_is_refused() -> None:
    memory, window = window_of(8, b"1234")
    window.took(5)

    with pytest.raises(WindowDamaged):
        StreamWindow.open(memoryview(memory))


@given(
    pieces=st.lists(
        st.tuples(st.binary(max_size=9), st.integers(0, 9), st.booleans()), max_size=30
    ),
    capacity=st.integers(8, 24),
)
def test_i2_every_byte_admitted_is_counted_and_the_last_are_kept(
    pieces: list[tuple[bytes, int, bool]], capacity: int
) -> None:
    memory, window = window_of(capacity)
    printed = b""
    for data, count, replaces in pieces:
        read_ahead(window, data[: capacity // 2 - len(window.ahead)])
        raw = window.ahead
        if replaces:
            visible, held = raw[: count // 2], raw[len(raw) - min(count, 2) :]
            window.replace_ahead(visible, held)
            printed += visible
            assert window.ahead == held
        else:
            window.admit(min(count, len(raw)))
            printed += raw[:count]
            assert window.ahead == raw[count:]
        found = StreamWindow.open(memoryview(memory))
        assert found.end == len(printed)
        assert kept(found) == printed[found.start :]
        assert found.end - found.start >= min(len(printed), capacity // 2 - 9)
