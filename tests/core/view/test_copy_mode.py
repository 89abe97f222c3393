import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.copy_keys import EMACS, VI
from holdfast.core.view.copy_mode import MAX_PATTERN, Copied, CopyMode
from holdfast.core.view.rows import Piece, Row, text_of
from holdfast.model.geometry import Size
from holdfast.term.key_reader import Mouse, Paste
from holdfast.term.looks import Look

TEXTS = [f"line {number} of many" for number in range(20)]
ROOM = Size(10, 5)


def rows(texts: list[str]) -> list[Row]:
    return [(Piece(text),) if text else () for text in texts]


def copying(
    texts: list[str] | None = None, cursor: tuple[int, int] = (19, 0), keys: str = "vi"
) -> CopyMode:
    table = EMACS if keys == "emacs" else None
    return CopyMode(rows(TEXTS if texts is None else texts), ROOM, cursor, table)


def press(mode: CopyMode, *keys: str) -> Copied | None:
    copied = None
    for key in keys:
        copied = mode.pressed(key)
    return copied


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ("k", (18, 0)),
        ("j", (19, 0)),
        ("l", (19, 1)),
        ("lh", (19, 0)),
        ("$", (19, 14 - 1 + 1)),
        ("$0", (19, 0)),
        ("$^", (19, 0)),
        ("w", (19, 5)),
        ("e", (19, 3)),
        ("b", (18, 13 - 2 + 0)),
        ("g", (0, 0)),
        ("gG", (19, 0)),
        ("H", (15, 0)),
        ("M", (17, 0)),
        ("kkL", (19, 0)),
        ("zZ", (19, 0)),
    ],
)
def test_vi_keys_move(keys: str, place: tuple[int, int]) -> None:
    mode = copying([*TEXTS[:-1], "line 19 of many"])
    expected = {"$": (19, 14), "b": (18, 11)}.get(keys, place)
    press(mode, *keys)

    assert (mode.row, mode.column) == expected


@pytest.mark.parametrize(
    ("keys", "row", "top"),
    [
        (["C-u"], 17, 13),
        (["C-b"], 14, 10),
        (["C-b", "C-f"], 19, 15),
        (["C-y"], 18, 14),
        (["C-y", "C-e"], 18, 15),
        (["g", "C-d"], 2, 2),
        (["PageUp", "PageUp", "PageUp", "PageUp", "PageUp"], 0, 0),
    ],
)
def test_pages_and_rows_are_scrolled(keys: list[str], row: int, top: int) -> None:
    mode = copying()
    press(mode, *keys)

    assert (mode.row, mode.top) == (row, top)


def test_words_go_on_in_the_next_line_and_end_with_the_last() -> None:
    mode = copying(["one", "", "two"], (0, 0))

    press(mode, "w")
    assert (mode.row, mode.column) == (2, 0)
    press(mode, "w")
    assert (mode.row, mode.column) == (2, 0)
    press(mode, "b", "b")
    assert (mode.row, mode.column) == (0, 0)


def test_a_selection_is_copied_and_the_mode_left() -> None:
    mode = copying(["first line", "second line", "third"], (0, 6))

    assert press(mode, "v", "j", "0", "e", "y") == Copied("line\nsecond")
    assert mode.is_over


def test_whole_lines_are_copied_with_their_end() -> None:
    mode = copying(["first", "second", "third"], (1, 3))

    assert press(mode, "V", "k", "Enter") == Copied("first\nsecond\n")


def test_the_rest_of_a_line_is_copied() -> None:
    assert press(copying(["first line"], (0, 6)), "D") == Copied("line")


def test_without_a_selection_nothing_is_copied() -> None:
    mode = copying()

    assert press(mode, "y") is None
    assert mode.is_over


def test_the_other_end_of_a_selection_can_be_moved() -> None:
    mode = copying(["abcdef"], (0, 2))

    press(mode, "o")
    assert mode.column == 2
    assert press(mode, "v", "l", "o", "h", "y") == Copied("bcd")


def test_a_mark_is_taken_back_or_becomes_lines() -> None:
    mode = copying(["abcdef"], (0, 2))

    press(mode, "v", "v")
    assert press(mode, "Escape") is None
    assert mode.is_over
    mode = copying(["abcdef"], (0, 2))
    press(mode, "v", "Escape")
    assert not mode.is_over
    assert press(mode, "v", "V", "y") == Copied("abcdef\n")
    mode = copying()
    press(mode, "q")
    assert mode.is_over


def test_what_is_selected_is_shown_inverse() -> None:
    mode = copying(["ab漢", "", "ef"], (0, 1))
    press(mode, "v", "j", "j")

    shown = mode.shown()
    assert shown[0] == (Piece("a"), Piece("b漢", look=Look.INVERSE))
    assert shown[1] == (Piece(" ", look=Look.INVERSE),)
    assert [piece.look for piece in shown[2]] == [Look.INVERSE, 0]
    assert shown[3:] == [(), ()]


def test_a_search_finds_the_next_and_goes_round() -> None:
    mode = copying(["Foo bar", "foo", "none"], (0, 0))

    press(mode, "/", *"foo")
    assert mode.pattern == "/foo"
    press(mode, "Enter")
    assert (mode.row, mode.column) == (1, 0)
    press(mode, "n")
    assert (mode.row, mode.column) == (0, 0)
    press(mode, "N")
    assert (mode.row, mode.column) == (1, 0)


def test_a_search_with_capitals_means_them_and_may_go_back() -> None:
    mode = copying(["Foo bar", "foo Foo", "none"], (2, 0))

    press(mode, "?", *"Foo", "Enter")
    assert (mode.row, mode.column) == (1, 4)
    press(mode, "n")
    assert (mode.row, mode.column) == (0, 0)
    press(mode, "N")
    assert (mode.row, mode.column) == (1, 4)
    press(mode, "/", "Enter")  # The same as before.
    assert (mode.row, mode.column) == (0, 0)


def test_a_search_in_vain_says_so() -> None:
    mode = copying()

    press(mode, "/", "Enter")
    assert mode.said == ""
    press(mode, "/", *"nowhere", "Enter")
    assert mode.said == "not found: nowhere"
    press(mode, "k")
    assert mode.said == ""


def test_what_is_pasted_is_of_the_pattern_and_no_command() -> None:
    mode = copying()

    assert mode.pressed(Paste("q/y")) is None
    assert not mode.is_over
    assert mode.pattern is None
    press(mode, "/")
    mode.pressed(Paste("q\r/"))
    assert mode.pattern == "/q/"


def test_a_pattern_can_be_corrected_and_given_up() -> None:
    mode = copying()

    press(mode, "/", "a", "b", "Up", "BSpace")
    assert mode.pattern == "/a"
    press(mode, "BSpace", "BSpace")
    assert mode.pattern is None
    press(mode, "/", "a", "Escape")
    assert mode.pattern is None
    press(mode, "/", *"x" * 2 * MAX_PATTERN)
    assert mode.pattern is not None
    assert len(mode.pattern) == MAX_PATTERN


def test_emacs_keys_do_the_same() -> None:
    mode = copying(["first line", "second"], (0, 0), "emacs")

    copied = press(mode, "M-f", "C-f", "C-f", "C-Space", "C-e", "M-w")
    assert copied == Copied("line")
    mode = copying(["one", "two", "three"], (2, 0), "emacs")
    press(mode, "C-r", "o", "n", "e", "Enter")
    assert mode.row == 0


def test_the_wheel_scrolls_and_leaves_at_the_end() -> None:
    mode = copying()

    mode.pressed(Mouse(64, 0, 0))
    assert (mode.top, mode.is_over) == (12, False)
    mode.pressed(Mouse(65, 0, 0))
    assert (mode.top, mode.is_over) == (15, False)
    press(mode, "v")
    mode.pressed(Mouse(65, 0, 0))
    assert not mode.is_over
    press(mode, "v")
    mode.pressed(Mouse(65, 0, 0))
    assert mode.is_over


def test_the_mouse_selects_and_copies() -> None:
    mode = copying(["ab漢cd", "second"], (0, 0))

    assert mode.pressed(Mouse(0, 1, 0)) is None
    assert mode.pressed(Mouse(0, 1, 0, is_release=True)) is None
    mode.pressed(Mouse(32, 4, 0))
    assert mode.pressed(Mouse(35, 4, 0)) is None
    mode.pressed(Mouse(32, 2, 9))
    assert mode.pressed(Mouse(0, 2, 9, is_release=True)) == Copied("b漢cd\nsec")


def test_a_long_line_is_shown_where_the_cursor_is() -> None:
    mode = copying(["x" * 30 + "end"], (0, 0))
    press(mode, "$")

    assert mode.left == 23
    assert mode.cursor == (0, 9)
    assert text_of(mode.shown()[0]) == "xxxxxxxend"
    mode.resized(Size(40, 2))
    assert mode.cursor == (0, 9)
    assert mode.place == "1/1"


def test_there_is_a_row_even_if_there_is_none() -> None:
    mode = copying([], (7, 7))

    assert (mode.row, mode.column) == (0, 0)


KEYS = st.one_of(
    st.sampled_from([*VI, *EMACS]),
    st.sampled_from(string.ascii_letters),
    st.builds(Mouse, st.integers(0, 70), st.integers(0, 30), st.integers(0, 9)),
)


@given(
    st.lists(st.text("ab 漢", max_size=30), max_size=12),
    st.lists(KEYS, max_size=30),
    st.sampled_from([VI, EMACS]),
)
def test_i1_the_cursor_is_on_a_row_and_in_the_view(
    texts: list[str], keys: list[str | Mouse], table: dict[str, object]
) -> None:
    mode = CopyMode(rows(texts), ROOM, (0, 0), table)  # type: ignore[arg-type]
    for key in keys:
        copied = mode.pressed(key)
        assert 0 <= mode.row < max(1, len(texts))
        row, column = mode.cursor
        assert 0 <= row < ROOM.rows
        assert 0 <= column < ROOM.columns
        assert len(mode.shown()) == ROOM.rows
        if copied is not None:
            lines = copied.text.split("\n")
            whole = "\n".join(text.rstrip() for text in texts) + "\n"
            assert all(line in whole for line in lines)
