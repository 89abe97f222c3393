import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.model.geometry import Size
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.term.hyperlinks import LinkFilter
from holdfast.term.screen import Screen


def painted(output: bytes, columns: int = 20, rows: int = 5) -> GhosttyEmulator:
    emulator = GhosttyEmulator(Size(columns, rows))
    emulator.feed(output)
    return emulator


def shown(output: bytes, columns: int = 20, rows: int = 5) -> Screen:
    return painted(output, columns, rows).screen()


def test_text_is_shown_where_it_was_printed() -> None:
    screen = shown(b"hello\r\nworld\x1b[5;18Hend")

    assert screen.text() == "hello\nworld\n\n\n" + " " * 17 + "end"
    assert (screen.cursor_row, screen.cursor_column) == (4, 19)


def test_colours_are_carried_out_and_not_shown_as_text() -> None:
    assert shown(b"\x1b[1;31mred\x1b[48;2;1;2;3m on\x1b[0m x").text() == "red on x"


def test_wide_characters_take_two_columns() -> None:
    screen = shown("漢字ok".encode())

    assert screen.text() == "漢字ok"
    assert screen.cursor_column == 6


def test_combining_characters_take_none() -> None:
    screen = shown("e\u0301a\u0308".encode())

    assert screen.text() == "e\u0301a\u0308"
    assert screen.cursor_column == 2


def test_the_alternate_screen_hides_the_primary_one_and_gives_it_back() -> None:
    emulator = painted(b"below\x1b[?1049h\x1b[Habove")

    assert emulator.screen().alternate
    assert emulator.screen().text() == "above"
    emulator.feed(b"\x1b[?1049l")
    assert not emulator.screen().alternate
    assert emulator.screen().text() == "below"


def test_a_scroll_region_keeps_what_is_outside() -> None:
    output = b"1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H\nnew"

    assert shown(output).text() == "1\n3\n4\nnew\n5"


def test_a_title_is_shown_without_its_controls() -> None:
    assert shown(b"\x1b]2;make\xe2\x80\xae test\x07").title == "make\\u202e test"


def test_a_hidden_cursor_is_hidden() -> None:
    assert shown(b"").cursor_visible
    assert not shown(b"\x1b[?25l").cursor_visible


def test_a_program_that_asks_for_132_columns_gets_none() -> None:
    screen = shown(b"\x1b[?40h\x1b[?3hx")

    assert screen.size == Size(20, 5)
    assert painted(b"\x1b[?40h\x1b[?3h" + b"x" * 25).screen().lines[1] == "x" * 5


def test_a_resize_wraps_lines_anew() -> None:
    emulator = painted(b"abcdefghij")
    emulator.resize(Size(5, 5))

    assert emulator.screen().text() == "abcde\nfghij"


def test_the_cursor_is_told_as_a_program_counts() -> None:
    assert painted(b"\x1b[3;4H").cursor() == (3, 4)
    assert painted(b"\x1b[2;4r\x1b[?6h\x1b[2;3H").cursor() == (2, 3)
    assert painted(b"\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[").cursor() == (3, 3)


def test_queries_in_the_stream_change_nothing() -> None:
    screen = shown(b"a\x1b[6n\x1b[c\x1b[>q\x05\x1bP$qm\x1b\\b")

    assert screen.text() == "ab"


INTRODUCERS = [
    b"\x1b]",
    b"\x1b\x07]\x00",
    b"\x1b[1\x9d",
    b"\x1b_G\x9d",
    b"\x1b\x9b\x9d",
]

PIECES = st.sampled_from(
    [
        *INTRODUCERS,
        *(b"8;;http://u", b"8", b";", b"0", b"\x07", b"\x1b\\", b"\x1b", b"[", b"]"),
        *(b"\x9d", b"\x9b", b"\x9c", b"\x90", b"\x98", b"P", b"_", b"X", b"\xc2", b"1"),
        *(b"m", b"\x00", b"\x18", b" ", b"\x7f", "╝".encode(), b"q", b"x"),
    ]
)


def has_link(output: bytes) -> bool:
    emulator = GhosttyEmulator(Size(20, 5))
    emulator.feed(output)
    emulator.feed(b"\x18")
    written = emulator.formatted(pen=("hyperlink",))
    emulator.close()
    return b"\x1b]8;" in written


@pytest.mark.parametrize("introducer", INTRODUCERS)
def test_a_link_is_made_by_each_introducer_and_by_none_after_the_filter(
    introducer: bytes,
) -> None:
    output = introducer + b"8;;http://u\x07x"

    assert has_link(output)
    assert not has_link(LinkFilter().feed(output))


@settings(max_examples=300)
@given(output=st.lists(PIECES, max_size=14).map(b"".join))
def test_links_i3_what_comes_out_of_the_filter_makes_no_link(output: bytes) -> None:
    links = LinkFilter()

    assert not has_link(links.feed(output) + links.feed(b"8;;http://u\x07"))
