from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.copy_mode import CopyMode
from holdfast.core.view.layout import Picture, copy_frame, live_frame, room_on
from holdfast.core.view.rows import Piece, text_of, width_of_row
from holdfast.core.view.status_line import StatusFacts
from holdfast.core.view.viewport import Viewport
from holdfast.model.geometry import Size

SESSION = Size(30, 10)
ROWS = tuple((Piece(f"{number} " + "abcdefghij" * 3),) for number in range(10))
STANDING = StatusFacts("web", "at-prompt", "you", "1 waits for approval", "with robo")


def picture(cursor: tuple[int, int] = (9, 4), *, shown: bool = True) -> Picture:
    return Picture(SESSION, ROWS, cursor, is_cursor_shown=shown)


def test_a_smaller_terminal_shows_the_part_with_the_cursor_and_says_so() -> None:
    frame = live_frame(picture(), Viewport(), Size(60, 5), STANDING, [])

    assert [text_of(row)[0] for row in frame.rows[:4]] == ["6", "7", "8", "9"]
    assert frame.cursor == (3, 4)
    line = text_of(frame.rows[-1])
    assert line.startswith(" web · 1 waits for approval · at")
    assert line.endswith("session is 30x10 +0+6 ")


def test_a_larger_terminal_shows_all_of_it_and_its_size() -> None:
    frame = live_frame(picture(shown=False), Viewport(), Size(50, 20), STANDING, [])

    assert len(frame.rows) == 20
    assert frame.rows[10:19] == ((),) * 9
    assert frame.cursor is None
    assert text_of(frame.rows[-1]).endswith("session is 30x10 ")


def test_a_terminal_that_fits_says_nothing_of_sizes() -> None:
    frame = live_frame(picture(), Viewport(), Size(30, 11), STANDING, [])

    assert "30x10" not in text_of(frame.rows[-1])


def test_a_terminal_of_one_row_shows_the_session() -> None:
    assert room_on(Size(20, 1)) == Size(20, 1)
    frame = live_frame(picture(), Viewport(), Size(20, 1), STANDING, [])

    assert [text_of(row)[0] for row in frame.rows] == ["9"]


def test_notices_cover_the_first_rows() -> None:
    frame = live_frame(picture((0, 0)), Viewport(), Size(30, 11), STANDING, ["hello"])

    assert text_of(frame.rows[0]).startswith("[holdfast] hello")
    assert text_of(frame.rows[0]).endswith("hij"[:0] + text_of(ROWS[0])[16:30])


def test_copy_mode_says_where_it_is_and_what_is_searched() -> None:
    mode = CopyMode([*ROWS], Size(30, 4), (9, 0))
    frame = copy_frame(mode, Size(30, 5), StatusFacts("web"), [])

    assert text_of(frame.rows[-1]).endswith("copy 10/10 ")
    assert frame.cursor == (3, 0)
    mode.pressed("/")
    mode.pressed("x")
    frame = copy_frame(mode, Size(30, 5), StatusFacts("web"), [])
    assert text_of(frame.rows[-1]).startswith(" /x ")
    mode.pressed("Enter")
    frame = copy_frame(mode, Size(30, 5), StatusFacts("web"), [])
    assert "not found: x" in text_of(frame.rows[-1])


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 9), st.integers(0, 29))
def test_no_row_is_wider_than_the_terminal(
    columns: int, rows: int, row: int, column: int
) -> None:
    terminal = Size(columns, rows)
    frame = live_frame(
        picture((row, column)), Viewport(), terminal, STANDING, ["a notice", "漢字"]
    )

    assert len(frame.rows) == rows
    assert all(width_of_row(one) <= columns for one in frame.rows)
    assert frame.cursor is not None
