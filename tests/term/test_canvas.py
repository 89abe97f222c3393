"""Cells, and the bytes that make a terminal show them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.term.canvas import (
    MAX_CELL,
    PLAIN,
    Canvas,
    Depth,
    Style,
    clipped,
    difference,
    measured,
    nearest,
    sgr,
    width_of,
    wrapped,
)
from holdfast.term.looks import EXACT, Look

RED = Style(2)
ALL = Depth(256, is_exact=True)
MANY = Depth(256)
NONE = Depth(0)

TEXTS = st.text(
    st.sampled_from("ab \u4e2d\u0301\u200d\ufe0f\x1b\x07\u202e\U0001f600é\u2028"),
    max_size=12,
)
PUTS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 11), TEXTS, st.sampled_from([0, 2])),
    max_size=8,
)


def canvas(*lines: str, columns: int = 10) -> Canvas:
    drawn = Canvas(columns, len(lines))
    for row, line in enumerate(lines):
        drawn.put(row, 0, line)
    return drawn


class Emulator:
    """Obeys what `difference` writes, and nothing else."""

    TOKEN = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|([^\x1b])", re.DOTALL)

    def __init__(self, columns: int, rows: int) -> None:
        self.cells = [["?"] * columns for _ in range(rows)]
        self.row = self.column = 0

    def feed(self, data: bytes) -> None:
        text = data.decode()
        assert self.TOKEN.sub("", text) == ""
        for found in self.TOKEN.finditer(text):
            if found[3] is not None:
                self._print(found[3])
            else:
                self._obey(found[1], found[2])

    def _print(self, character: str) -> None:
        width = measured(character)[1]
        line = self.cells[self.row]
        if width == 0:
            at = self.column - 1
            while not line[at]:
                at -= 1
            line[at] += character
            return
        line[self.column] = character
        if width == 2:
            line[self.column + 1] = ""
        self.column += width

    def _obey(self, told: str, last: str) -> None:
        if last == "H":
            self.row, self.column = (int(one) - 1 for one in told.split(";"))
        elif last == "G":
            self.column = int(told) - 1
        elif last == "K":
            row = self.cells[self.row]
            row[self.column :] = [" "] * len(row[self.column :])
        elif last == "J":
            self.cells = [[" "] * len(self.cells[0]) for _ in self.cells]
        else:
            assert last == "m" or told == "?2026"

    def lines(self) -> list[str]:
        return ["".join(line) for line in self.cells]


def test_a_text_is_drawn_where_it_is_put() -> None:
    drawn = Canvas(6, 2)

    assert drawn.put(1, 2, "ab") == 4
    assert [drawn.text(0), drawn.text(1)] == ["      ", "  ab  "]


def test_what_does_not_fit_is_left_out() -> None:
    drawn = Canvas(4, 1)

    assert drawn.put(0, 0, "abcdef") == 4
    assert drawn.put(0, 0, "xyz", width=2) == 2
    assert drawn.put(5, 1, "gone") == 1
    assert drawn.text(0) == "xycd"


def test_a_wide_character_has_two_cells_or_is_left_out() -> None:
    drawn = Canvas(3, 1)

    assert drawn.put(0, 0, "中中") == 2
    assert drawn.text(0) == "中 "


def test_no_half_of_a_wide_character_remains() -> None:
    right, left = canvas("中中", columns=4), canvas("中中", columns=4)

    right.put(0, 1, "x")
    left.put(0, 2, "x")

    assert right.text(0) == " x中"
    assert left.text(0) == "中x "


def test_marks_are_put_on_the_letter_before() -> None:
    drawn = canvas("e\u0301中\u0301")

    assert drawn.cells[0][0][0] == "e\u0301"
    assert drawn.cells[0][1][0] == "中\u0301"
    assert drawn.cells[0][2][0] == ""


def test_marks_without_a_letter_and_too_many_of_them_are_left_out() -> None:
    drawn = canvas("\u0301" + "e" + "\u0301" * 50)

    assert drawn.cells[0][0][0] == "e" + "\u0301" * (MAX_CELL - 1)


@pytest.mark.parametrize(
    "bad", ["\x1b", "\x07", "\u202e", "\u2028", "\ue000", "\udc80"]
)
def test_a_stand_in_is_drawn_for_what_a_terminal_would_obey(bad: str) -> None:
    assert canvas(f"a{bad}b").text(0).startswith("a\ufffdb")


def test_joiners_and_selectors_are_dropped_and_spaces_are_spaces() -> None:
    assert canvas("a\u200d\ufe0f\u2003b").text(0).startswith("a b")


def test_cells_are_made_blank_in_a_style() -> None:
    drawn = canvas("abc", columns=3)
    drawn.fill(0, 1, 9, RED)

    assert drawn.cells[0] == [("a", PLAIN), (" ", RED), (" ", RED)]


def test_a_canvas_has_at_least_one_cell() -> None:
    assert (Canvas(0, -1).columns, Canvas(0, -1).rows) == (1, 1)


def test_a_text_is_clipped_by_its_width() -> None:
    assert clipped("abc", 3) == "abc"
    assert clipped("abcd", 3) == "ab…"
    assert clipped("中中", 3) == "中…"
    assert clipped("abc", 0) == ""


def test_a_text_is_wrapped_by_its_width() -> None:
    assert wrapped("abcd", 3) == ["abc", "d"]
    assert wrapped("a中", 2) == ["a", "中"]
    assert wrapped("", 0) == [""]


def test_nothing_is_written_if_nothing_has_changed() -> None:
    assert difference(canvas("abc"), canvas("abc")) == b""


def test_only_what_has_changed_is_written() -> None:
    written = difference(canvas("abc", "same"), canvas("aXc", "same"))

    assert b"\x1b[1;2H\x1b[0mX" in written
    assert b"same" not in written


def test_changes_close_together_are_one_stretch_and_others_are_not() -> None:
    near = difference(canvas("abcdefghij"), canvas("XbYdefghij"))
    far = difference(canvas("abcdefghij"), canvas("XbcdefghiY"))

    assert near.count(b"H") == 1
    assert b"XbY" in near
    assert far.count(b"H") == 2


def test_a_screen_of_another_size_is_drawn_from_the_beginning() -> None:
    assert b"\x1b[2J" in difference(canvas("ab", columns=3), canvas("ab", columns=4))
    assert b"\x1b[2J" in difference(None, canvas("ab"))


def test_what_follows_a_letter_beyond_ascii_is_placed_again() -> None:
    assert "é\x1b[2Gb".encode() in difference(None, canvas("éb"))


def test_the_same_letter_again_is_not_placed() -> None:
    assert "──\x1b[3Gb".encode() in difference(None, canvas("──b"))


def test_blanks_at_the_end_of_a_row_are_erased() -> None:
    assert b"x\x1b[0m\x1b[K" in difference(canvas("abcdefgh"), canvas("x"))
    assert b"\x1b[1;1H\x1b[0m\x1b[K" in difference(canvas("abcdefgh"), canvas(""))
    assert "é\x1b[2G\x1b[0m\x1b[K".encode() in difference(
        canvas("abcdefgh"), canvas("é")
    )
    few = difference(canvas("abcdefghij"), canvas("abcdefgh"))
    assert b"\x1b[K" not in few
    assert b"\x1b[K" not in difference(
        canvas("abcdefghij"), canvas("a" + " " * 8 + "j")
    )


def test_the_right_half_of_a_wide_character_is_drawn_with_its_left() -> None:
    before, after = canvas("中"), canvas("中")
    before.cells[0][1] = "", RED

    assert "\x1b[1;1H\x1b[0m中".encode() in difference(before, after)


def test_a_stretch_begins_with_a_whole_character() -> None:
    before, after = canvas("ab中c"), canvas("ab中c")
    before.cells[0][0] = "x", PLAIN
    before.cells[0][3] = "", RED

    screen = Emulator(10, 1)
    screen.feed(difference(None, before))
    screen.feed(difference(before, after))
    assert screen.lines() == ["ab中c     "]


@given(PUTS, PUTS)
def test_a_terminal_shows_what_was_drawn(first: list, second: list) -> None:  # type: ignore[type-arg]  # of PUTS
    screen = Emulator(12, 3)
    before: Canvas | None = None
    for puts in (first, second):
        after = Canvas(12, 3)
        for row, column, text, colour in puts:
            after.put(row, column, text, Style(colour))
        screen.feed(difference(before, after))
        before = after
        assert screen.lines() == [after.text(row) for row in range(3)]
        assert all(len(line) == 12 for line in after.cells)


@pytest.mark.parametrize(
    ("colour", "depth", "told"),
    [
        (2, Depth(), "31"),
        (10, Depth(), "91"),
        (2, NONE, ""),
        (197, MANY, "38;5;196"),
        (197, Depth(), "91"),
        (256, Depth(), "37"),
        (EXACT + 0xFF0000, ALL, "38;2;255;0;0"),
        (EXACT + 0xFF0000, MANY, "38;5;196"),
        (EXACT + 0xFE0101, Depth(), "91"),
        (EXACT + 0x767676, MANY, "38;5;243"),
    ],
)
def test_a_colour_is_said_as_far_as_the_terminal_has_it(
    colour: int, depth: Depth, told: str
) -> None:
    drawn = Canvas(1, 1)
    drawn.put(0, 0, "x", Style(colour))

    want = f"\x1b[0;{told}mx" if told else "\x1b[0mx"
    assert want.encode() in difference(None, drawn, depth)


def test_looks_and_grounds_are_said() -> None:
    drawn = Canvas(1, 1)
    drawn.put(0, 0, "x", Style(0, 3, Look.BOLD | Look.INVERSE))

    assert b"\x1b[0;1;7;42mx" in difference(None, drawn)


@pytest.mark.parametrize(
    ("style", "depth", "told"),
    [
        (Style(244, 242), Depth(), "97;100"),  # Two greys that are one of sixteen.
        (Style(EXACT + 0x101010, EXACT + 0x202020), Depth(), "97;40"),
        (Style(EXACT + 0xFFFFF0, EXACT + 0xF0FFFF), Depth(), "30;107"),
        (Style(EXACT + 0x101010, EXACT + 0x202020), ALL, "38;2;16;16;16;48;2;32;32;32"),
        (Style(EXACT + 0x101010, EXACT + 0x202020), NONE, ""),
        (Style(2, 2), Depth(), "31;41"),  # Hidden on purpose, as in every terminal.
    ],
)
def test_two_colours_that_differ_never_become_the_same(
    style: Style, depth: Depth, told: str
) -> None:
    assert sgr(style, depth) == (f"\x1b[0;{told}m" if told else "\x1b[0m")


def test_the_nearest_of_sixteen_is_one_of_them() -> None:
    assert nearest(0x000001, Depth()) == 0
    assert nearest(0xFFFFFE, Depth()) == 15


def test_the_width_of_a_text_is_that_of_its_letters() -> None:
    assert width_of("a中\u0301") == 3


def test_changes_near_each_other_are_written_as_one() -> None:
    drawn = difference(canvas("a....a...."), canvas("b....b...."))

    assert drawn == b"\x1b[?2026h\x1b[1;1H\x1b[0mb....b\x1b[0m\x1b[?2026l"
