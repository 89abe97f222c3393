import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.rows import (
    EMPTY,
    MAX_PIECES,
    Piece,
    cut,
    laid_over,
    marked,
    painted,
    row_from,
    rows_from,
    text_of,
    width_of_row,
)
from holdfast.term.looks import EXACT, Look

PIECES = st.builds(
    Piece,
    st.text("ab 漢é", max_size=8),
    st.sampled_from([0, 1, 9, 17, 256, EXACT + 0x010203]),
    st.sampled_from([0, 3, 12, 200, EXACT]),
    st.integers(0, 511),
)
ROWS = st.lists(PIECES, max_size=4).map(tuple)


def test_a_row_is_read_from_text_and_sgr() -> None:
    assert row_from(b"plain") == (Piece("plain"),)
    assert row_from(b"") == EMPTY
    assert row_from(b"\x1b[0m\x1b[1;38;5;1mred\x1b[0m rest") == (
        Piece("red", 2, 0, Look.BOLD),
        Piece(" rest"),
    )


@pytest.mark.parametrize(
    ("piece", "drawn"),
    [
        (Piece("x"), b"x"),
        (Piece("x", 1, 8), b"\x1b[0;30;47mx\x1b[m"),
        (Piece("x", 9, 16), b"\x1b[0;90;107mx\x1b[m"),
        (Piece("x", 17, 256), b"\x1b[0;38;5;16;48;5;255mx\x1b[m"),
        (Piece("x", EXACT + 0x010203), b"\x1b[0;38;2;1;2;3mx\x1b[m"),
        (Piece("x", background=EXACT + 0xFF0000), b"\x1b[0;48;2;255;0;0mx\x1b[m"),
        (Piece("x", 2, look=Look.BOLD), b"\x1b[0;1;31mx\x1b[m"),
    ],
)
def test_each_kind_of_colour_has_its_own_code(piece: Piece, drawn: bytes) -> None:
    assert painted((piece,)) == drawn
    assert row_from(drawn) == (piece,)


def test_i1_nothing_but_text_and_colours_is_drawn() -> None:
    hostile = b"a\x1b[2Jb\x1b]2;title\x07\x9b5n\x08\x1b[31mred\xff\xe2\x80\xae"
    drawn = painted(row_from(hostile))

    assert drawn.count(b"\x1b") == 2  # A colour, and plain again.
    assert b"\x07" not in drawn
    assert "\u202e" not in drawn.decode()
    assert "\x9b" not in drawn.decode()


def test_a_row_has_no_more_pieces_than_columns_can_show() -> None:
    assert len(row_from(b"\x1b[31mx\x1b[32my" * MAX_PIECES)) == MAX_PIECES


def test_rows_that_are_not_there_are_empty() -> None:
    assert rows_from(b"a\r\nb", 4) == [(Piece("a"),), (Piece("b"),), EMPTY, EMPTY]
    assert rows_from(b"a\r\nb\r\nc", 2) == [(Piece("a"),), (Piece("b"),)]


@given(ROWS, st.integers(0, 20), st.integers(0, 20))
def test_i2_a_cut_row_takes_no_more_columns(
    row: tuple[Piece, ...], left: int, columns: int
) -> None:
    assert width_of_row(cut(row, left, columns)) <= columns


@given(ROWS)
def test_what_is_drawn_reads_back_as_it_was(row: tuple[Piece, ...]) -> None:
    again = row_from(painted(row))

    assert text_of(again) == text_of(row)
    assert [one for one in again if one.look] == [
        one for one in row if one.look and one.text
    ]


def test_a_selection_is_inverse_and_as_wide_as_it_is() -> None:
    row = (Piece("abc"), Piece("def", look=Look.INVERSE))

    assert marked(row, 2, 2) == row
    assert marked(row, 2, 4) == (
        Piece("ab"),
        Piece("c", look=Look.INVERSE),
        Piece("d"),
        Piece("ef", look=Look.INVERSE),
    )
    assert marked(EMPTY, 0, 1) == (Piece(" ", look=Look.INVERSE),)


def test_what_lies_over_a_row_covers_its_beginning() -> None:
    assert laid_over((Piece("abcdef"),), (Piece("XY"),)) == (Piece("XY"), Piece("cdef"))
    assert laid_over((Piece("a"),), (Piece("XY"),)) == (Piece("XY"),)
