"""Output as text while it comes: the same text, however it is cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.term.plain import plain
from holdfast.term.plain_stream import MAX_HELD, PlainStream, last_states

PIECES = st.lists(
    st.sampled_from(
        [
            *(b"a", b"text", b"\r", b"\n", b"\r\n", b"\t", b"\x07", b"\x9b", b"\xc3"),
            *("é€😀".encode(), b"\x1b", b"\x1b[31m", b"\x1b[", b"\x1b]0;t\x07"),
            *(b"\x1b]8;;x\x1b\\", b"\x1bP", b"\x1b(B", b"\x18", b"\xff", b"%"),
        ]
    ),
    max_size=12,
).map(b"".join)


def streamed(*pieces: bytes) -> str:
    stream = PlainStream()
    return "".join(map(stream.feed, pieces)) + stream.end()


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"a\r\nb\n", "a\nb\n"),
        (b"10%\r20%\r30%\n", "10%\r20%\r30%\n"),
        (b"10%\r\r20%\r\r\n", "10%\r20%\n"),
        (b"end\r", "end"),
        (b"\r\r", ""),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07x\x1b]0;t\x1b\\y", "xy"),
        (b"a\x08\x07b\x00", "ab"),
        (b"\xc3\xa9\xff", "é\ufffd"),
        (b"x\x1b[12", "x"),
        (b"x\xc3", "x\ufffd"),
    ],
)
def test_output_becomes_text(output: bytes, text: str) -> None:
    assert streamed(output) == text


@given(PIECES)
def test_i1_only_newlines_tabs_and_returns_are_left(output: bytes) -> None:
    text = streamed(output)

    left = {one for one in text if ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0}
    assert left <= {"\n", "\t", "\r"}
    assert "\r\n" not in text
    assert "\r\r" not in text


@given(PIECES, st.lists(st.integers(0, 60)))
def test_i2_the_text_is_the_same_however_it_is_cut(
    output: bytes, cuts: list[int]
) -> None:
    places = sorted({0, len(output), *(one % (len(output) + 1) for one in cuts)})
    pieces = [output[a:b] for a, b in itertools.pairwise(places)]

    assert streamed(*pieces) == streamed(output)


def test_i2_a_return_waits_for_what_follows_it() -> None:
    stream = PlainStream()

    assert stream.feed(b"10%\r") == "10%"
    assert stream.feed(b"20%\r") == "\r20%"
    assert stream.feed(b"\n") == "\n"


@given(PIECES)
def test_without_returns_it_is_what_plain_says(output: bytes) -> None:
    if b"\r" not in output and b"\x1b" not in output:
        assert streamed(output) == plain(output)


def test_i3_of_a_sequence_without_an_end_little_is_held() -> None:
    stream = PlainStream()
    for _ in range(100):
        assert stream.feed(b"\x1b]0;" + b"x" * MAX_HELD) == ""
        assert len(stream._held) <= MAX_HELD + 4  # noqa: SLF001  # the bound

    assert stream.feed(b"\x07shown") == "shown"


def test_what_was_written_anew_is_as_it_was_last() -> None:
    assert last_states(b"10%\r100%\r\nok\r\nhalf\rwhole") == "100%\nok\nwhole"
    assert last_states(b"kept\r") == "kept"
    assert last_states(b"") == ""
