from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.frames import DrawnFrame, Frame
from holdfast.core.view.rows import Piece, Row
from holdfast.model.geometry import Size
from holdfast.term.canvas import SIXTEEN
from holdfast.term.looks import EXACT

SIZE = Size(6, 3)


def frame(*texts: str, cursor: tuple[int, int] | None = (0, 0)) -> Frame:
    rows = [(Piece(text),) if text else () for text in texts]
    return Frame(SIZE, (*rows, *[()] * (3 - len(rows))), cursor)


def test_a_first_frame_is_drawn_on_an_empty_terminal() -> None:
    drawn = DrawnFrame().draw(frame("one", "", "three!"))

    assert drawn == (
        b"\x1b[?2026h\x1b[?25l\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mone\x1b[3;1H\x1b[0mthree!"
        b"\x1b[0m\x1b[1;1H\x1b[?25h\x1b[?2026l"
    )


def test_i2_the_same_frame_costs_nothing() -> None:
    shown = DrawnFrame()
    shown.draw(frame("one"))

    assert shown.draw(frame("one")) == b""
    shown.forget()
    assert b"one" in shown.draw(frame("one"))


def test_only_what_differs_is_drawn() -> None:
    shown = DrawnFrame()
    shown.draw(Frame(SIZE, ((Piece("ab"), Piece("c", 2)), (), ()), None))

    drawn = shown.draw(Frame(SIZE, ((Piece("ab"), Piece("d", 2)), (), ()), None))
    assert drawn == b"\x1b[?2026h\x1b[?25l\x1b[1;3H\x1b[0;31md\x1b[0m\x1b[?2026l"


def test_colours_are_those_that_the_terminal_has() -> None:
    many = Frame(SIZE, ((Piece("a", 197), Piece("b", EXACT + 0xFE0101)), (), ()), None)

    drawn = DrawnFrame(SIXTEEN).draw(many)

    assert b"\x1b[0;91ma\x1b[0;91mb" in drawn
    assert b"\x1b[0;38;5;196ma\x1b[0;38;2;254;1;1mb" in DrawnFrame().draw(many)


def test_letters_are_as_wide_as_the_session_counts_them() -> None:
    shown = DrawnFrame()
    shown.draw(Frame(SIZE, ((Piece("漢\u0301\ue0b0"), Piece("c", 2)), (), ()), None))

    drawn = shown.draw(
        Frame(SIZE, ((Piece("\u0301漢\u0301\ue0b0"), Piece("d", 2)), (), ()), None)
    )
    assert drawn == b"\x1b[?2026h\x1b[?25l\x1b[1;4H\x1b[0;31md\x1b[0m\x1b[?2026l"
    shown.forget()
    assert (
        "漢\u0301\x1b[3G\ue0b0\x1b[4G"
        in shown.draw(
            Frame(SIZE, ((Piece("漢\u0301\ue0b0"), Piece("d", 2)), (), ()), None)
        ).decode()
    )


def test_another_size_is_drawn_anew() -> None:
    shown = DrawnFrame()
    shown.draw(frame("one"))

    drawn = shown.draw(Frame(Size(6, 2), ((Piece("one"),), ()), (1, 2)))
    assert b"\x1b[2J\x1b[1;1H\x1b[0mone" in drawn
    assert drawn.endswith(b"\x1b[2;3H\x1b[?25h\x1b[?2026l")


class Glass:
    """The least of a terminal: places, text, and erasing."""

    def __init__(self) -> None:
        self.rows = [" " * SIZE.columns for _ in range(SIZE.rows)]

    def obey(self, drawn: bytes) -> None:
        row = column = 0
        for part in drawn.decode().split("\x1b[")[1:]:
            end = next(n for n, one in enumerate(part) if one.isalpha())
            what, letter, text = part[:end], part[end], part[end + 1 :]
            if letter == "H":
                row, column = (int(one) - 1 for one in what.split(";"))
            elif letter == "J":
                self.rows = [" " * SIZE.columns for _ in range(SIZE.rows)]
            elif letter == "K":
                kept = self.rows[row][:column]
                self.rows[row] = kept.ljust(SIZE.columns)
            line = self.rows[row]
            self.rows[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)


TEXTS = st.text("abc ", max_size=3)
ROWS: st.SearchStrategy[Row] = st.lists(
    st.builds(Piece, TEXTS, st.integers(0, 3)), max_size=2
).map(tuple)


@given(st.lists(st.tuples(ROWS, ROWS, ROWS), min_size=1, max_size=6))
def test_i1_a_terminal_that_obeys_shows_the_last_frame(
    frames: list[tuple[Row, Row, Row]],
) -> None:
    drawn, glass = DrawnFrame(), Glass()
    for rows in frames:
        glass.obey(drawn.draw(Frame(SIZE, rows, None)))

    shown = ["".join(piece.text for piece in row).ljust(6) for row in frames[-1]]
    assert glass.rows == shown
