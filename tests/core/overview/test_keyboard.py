import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.overview.keyboard import (
    MAX_PASTE,
    MAX_SEQUENCE,
    Click,
    Key,
    Keyboard,
    Paste,
    Pressed,
    Wheel,
)


def pressed(data: bytes) -> list[Pressed]:
    return Keyboard().feed(data)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"a", "a"),
        (b"\r", "enter"),
        (b"\n", "enter"),
        (b"\t", "tab"),
        (b"\x7f", "backspace"),
        (b" ", " "),
        (b"\x03", "ctrl-c"),
        ("é".encode(), "é"),
        ("中".encode(), "中"),
        ("😀".encode(), "😀"),
        (b"\x1b[A", "up"),
        (b"\x1bOB", "down"),
        (b"\x1b[1;5C", "right"),
        (b"\x1b[5~", "page-up"),
        (b"\x1b[6;2~", "page-down"),
        (b"\x1b[Z", "back-tab"),
    ],
)
def test_a_key_has_a_name(data: bytes, name: str) -> None:
    assert pressed(data) == [Key(name)]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[99~",
        b"\x1bOx",
        b"\x1bx",
        b"\x1b[?1;2c",
        b"\x1b[ q",
        b"\xff",
        b"\xe4",
        b"\xed\xa0\x80",
        b"\xc3(",
        b"\x1b[<0;1M",
        b"\x1b[<0;:;1M",
        b"\x1b[<0;0;1M",
        b"\x1b[<2;3;4M",
        b"\x1b[<0;3;4m",
    ],
)
def test_what_is_no_key_is_dropped(data: bytes) -> None:
    keys = pressed(data + b"q")

    assert keys[-1] == Key("q")
    assert all(isinstance(one, Key) and one.name in "(q" for one in keys)


def test_a_sequence_that_is_broken_off_ends_where_the_next_begins() -> None:
    assert pressed(b"\x1b[1\x1b[A") == [Key("up")]


def test_escape_alone_is_a_key_once_nothing_follows() -> None:
    keyboard = Keyboard()

    assert keyboard.feed(b"\x1b") == []
    assert keyboard.is_unfinished
    assert keyboard.flush() == [Key("esc")]
    assert not keyboard.is_unfinished


def test_escape_twice_is_two_keys() -> None:
    keyboard = Keyboard()

    assert keyboard.feed(b"\x1b\x1b") + keyboard.flush() == [Key("esc"), Key("esc")]


@pytest.mark.parametrize("data", [b"\x1b[1;", b"\x1bO", b"\xe4\xb8", b"\x1b\xc3"])
def test_what_was_begun_and_not_finished_is_dropped_when_nothing_follows(
    data: bytes,
) -> None:
    keyboard = Keyboard()

    assert keyboard.feed(data) == []
    assert keyboard.flush() == []
    assert not keyboard.is_unfinished


def test_a_sequence_without_an_end_is_not_kept() -> None:
    keyboard = Keyboard()

    keyboard.feed(b"\x1b[" + b"1" * (MAX_SEQUENCE + 1))

    assert not keyboard.is_unfinished


def test_what_is_pasted_is_one_event_and_no_keys() -> None:
    assert pressed(b"\x1b[200~q\rx\x1b[201~a") == [Paste("q\rx"), Key("a")]


def test_a_paste_without_an_end_is_bounded() -> None:
    keyboard = Keyboard()

    assert keyboard.feed(b"\x1b[200~abc") == []
    assert keyboard.flush() == [Paste("abc")]
    (whole,) = Keyboard().feed(b"\x1b[200~" + b"x" * MAX_PASTE)
    assert isinstance(whole, Paste)


def test_the_mouse_is_told_of() -> None:
    assert pressed(b"\x1b[<0;3;4M") == [Click(2, 3)]
    assert pressed(b"\x1b[<16;3;4M") == [Click(2, 3)]
    assert pressed(b"\x1b[<64;3;4M\x1b[<65;3;4M") == [Wheel(2, 3, -1), Wheel(2, 3, 1)]


@given(st.binary(max_size=40), st.integers(0, 40))
def test_however_the_bytes_are_cut_the_same_keys_come_out(data: bytes, at: int) -> None:
    whole, parts = Keyboard(), Keyboard()

    together = whole.feed(data)

    assert parts.feed(data[:at]) + parts.feed(data[at:]) == together
    assert parts.flush() == whole.flush()


@given(
    st.lists(
        st.sampled_from([b"\x1b", b"[", b"<0;3;4M", b"200~", b"\x1b[201~", b"O", b"a"]),
        max_size=8,
    )
)
def test_sequences_in_any_order_are_taken_to_their_end(parts: list[bytes]) -> None:
    keyboard = Keyboard()
    one_by_one = [key for part in parts for key in keyboard.feed(part)]

    assert one_by_one == Keyboard().feed(b"".join(parts))
    keyboard.flush()
    assert not keyboard.is_unfinished
