import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.mcp import pieces
from holdfast.term.plain import plain
from holdfast.term.unseen import Reason

fragments = st.lists(
    st.sampled_from(
        [b"text", b"\x1b[8m", b"\x1b[0m", b"\x1b]0;title\x07", "é€😀".encode(), b"\r\n"]
    ),
    max_size=12,
).map(b"".join)


@given(fragments, st.integers(0, 80))
def test_i1_a_piece_is_the_beginning_of_the_data_and_not_empty_without_need(
    data: bytes, size: int
) -> None:
    piece = pieces.whole(data[:size])

    assert data.startswith(piece)
    assert bool(piece) == bool(data[:size])


@given(fragments, st.lists(st.integers(12, 40), min_size=12, max_size=12))
def test_i1_pieces_that_follow_each_other_read_as_the_whole(
    data: bytes, sizes: list[int]
) -> None:
    read, rest = "", data
    for size in sizes:
        piece = pieces.whole(rest[:size])
        read, rest = read + plain(piece), rest[len(piece) :]

    assert (read + plain(rest)).replace("\n", "") == plain(data).replace("\n", "")


@given(fragments, st.integers(0, 80))
def test_i2_what_is_read_from_anywhere_has_no_rest_of_a_sequence(
    data: bytes, wanted: int
) -> None:
    at = pieces.begin(data, min(wanted, len(data)))

    assert at >= min(wanted, len(data))
    assert plain(data).replace("\n", "").endswith(plain(data[at:]).replace("\n", ""))
    assert "\ufffd" not in plain(data[at:])


def test_i3_text_is_hidden_by_a_colour_that_was_set_before_the_piece() -> None:
    before, piece = b"shown \x1b[8m hid", b"den\x1b[0m shown"

    found = pieces.hidden_after(before, piece)

    assert [(one.reason, one.text) for one in found] == [(Reason.CONCEALED, "den")]


def test_i3_a_colour_that_was_taken_back_before_the_piece_hides_nothing() -> None:
    assert pieces.hidden_after(b"\x1b[8mhidden\x1b[0m", b"shown") == []


@pytest.mark.parametrize(
    ("data", "at", "begins"),
    [
        (b"a\x1b[8mhidden", 3, 5),
        ("a€b".encode(), 2, 4),
        (b"plain", 2, 2),
        (b"\x1b[", 1, 2),
        (b"", 0, 0),
    ],
)
def test_i2_a_piece_begins_after_what_it_would_have_the_end_of(
    data: bytes, at: int, begins: int
) -> None:
    assert pieces.begin(data, at) == begins
