import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyghostty import GhosttyError  # type: ignore[import-untyped]  # it has no types

from holdfast.model.geometry import Size
from holdfast.painter.ghostty import CONTINUATION
from holdfast.painter.keyframes import GhosttyEmulator

SIZE = Size(20, 5)

STATES = {
    "nothing": b"",
    "text": b"hello\r\nworld",
    "colours": b"\x1b[31mred\x1b[0m x\x1b[5;5H\x1b[1;44m",
    "true colours": b"\x1b[38;2;1;2;3;48;5;200;4:3mx",
    "coloured empty rows": b"\x1b[44m\x1b[2J\x1b[48;2;9;8;7m\x1b[3;1H\x1b[K\x1b[1;1Hx",
    "alternate over primary": b"primary\r\nx\x1b7\x1b[?1049h\x1b[2J\x1b[3;3HALT",
    "alternate by mode 47": b"pp\x1b[?47hqq",
    "alternate modes mixed": b"\x1b[?1049hx\x1b[?47h\x1b[?1049ly",
    "alternate with origin": b"ab\x1b[?1049h\x1b[2;4r\x1b[?6h\x1b[2;2Hq",
    "region with origin": b"\x1b[2;4r\x1b[?6h\x1b[2;2Hq",
    "margins": b"\x1b[?69h\x1b[3;8s\x1b[2;4r\x1b[3;3Hx",
    "title": b"\x1b]2;a title\x07z",
    "about to wrap": b"a" * 20,
    "about to wrap a wide one": "漢".encode() * 10,
    "wrapped": b"a" * 45 + b"\r\nz",
    "cursor hidden, underlined": b"\x1b[?25l\x1b[4 q",
    "scrolled": b"".join(b"%d\r\n" % n for n in range(12)),
    "scrolled, then cleared": b"".join(b"%d\r\n" % n for n in range(12)) + b"\x1b[2J",
    "insert, no wrap, graphics": b"\x1b[4h\x1b[?7l\x1b(0lqk",
    "mouse, paste, kitty keys": b"\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[>1u",
    "tab stops": b"\x1b[3g\x1b[1;5H\x1bH\rx",
    "saved cursor": b"\x1b[2;3H\x1b[31m\x1b7\x1b[0m\x1b[4;4H",
    "wide and combining": "漢字 e\u0301 \U0001f468\u200d\U0001f469".encode(),
    "half a sequence": b"a\x1b[3",
    "half a character": b"ab\xe2\x9d",
    "half a title": b"\x1b]2;ti",
}

MORE = "1mQ\x07é漢\x1b8\x1b[K*\tT\r\nend\x1b[?1049lZ\nY\x1b[?47lW".encode()


def painted(output: bytes) -> GhosttyEmulator:
    emulator = GhosttyEmulator(SIZE)
    emulator.feed(output)
    return emulator


@pytest.mark.parametrize("output", STATES.values(), ids=STATES.keys())
def test_a_new_terminal_becomes_the_same_and_goes_on_the_same(output: bytes) -> None:
    old = painted(output)
    new = painted(old.keyframe())

    assert new.screen() == old.screen()
    assert new.formatted() == old.formatted()
    assert new.cursor() == old.cursor()
    for emulator in (old, new):
        emulator.feed(MORE)
    assert new.screen() == old.screen()
    assert new.formatted() == old.formatted()


@pytest.mark.parametrize("output", STATES.values(), ids=STATES.keys())
def test_a_keyframe_of_a_keyframe_is_the_same_keyframe(output: bytes) -> None:
    keyframe = painted(painted(output).keyframe()).keyframe()

    assert painted(keyframe).keyframe() == keyframe


@pytest.mark.parametrize("output", STATES.values(), ids=STATES.keys())
def test_asking_for_a_keyframe_changes_nothing(output: bytes) -> None:
    asked, other = painted(output), painted(output)
    asked.keyframe()

    for emulator in (asked, other):
        emulator.feed(MORE)
    assert asked.screen() == other.screen()
    assert asked.formatted() == other.formatted()


def test_a_string_too_long_to_repeat_is_swallowed_to_its_end() -> None:
    lines = b"".join(b"%d\r\n" % n for n in range(12))
    old = painted(lines + b"\x1b[31mzz\x1b]2;" + b"x" * (CONTINUATION + 1))
    new = painted(old.keyframe())

    assert new.screen() == old.screen()
    new.feed(b"more of it\x07!")
    old.feed(b"more of it\x07!")
    assert new.screen().lines == old.screen().lines


def test_where_no_copy_can_be_made_what_is_shown_is_kept() -> None:
    old = painted("\x1b[?1047h\x1b[5;1Hx\x1b[1;1H漢漢\x1b]2;t\x07".encode())
    old.resize(Size(3, 5))
    with pytest.raises(GhosttyError):
        old.copy()
    new = GhosttyEmulator(Size(3, 5))
    new.feed(old.keyframe())

    assert new.screen().title == "t"
    assert new.screen().alternate
    assert new.screen().lines[-1] == "x"


def test_a_screen_without_text_and_without_a_copy_is_kept() -> None:
    old = painted(b"\x1b[?1049h\x1b]2;" + b"x" * (CONTINUATION + 1))
    new = painted(old.keyframe())

    assert new.screen() == old.screen()


def test_a_viewer_is_told_nothing_that_resizes_or_stops_it() -> None:
    keyframe = painted(b"\x1b[?40h\x1b[?3h\x1b[?2026h\x1b[?2004h").keyframe()

    assert b"\x1b[?2004h" in keyframe
    assert not any(mode in keyframe for mode in (b"?3h", b"?40h", b"?2026h"))


PIECES = st.sampled_from(
    [
        *(b"abc", b"x" * 19, "漢".encode(), b"\r\n", b"\n", b"\t", b"\x1b[H", b"\x1bM"),
        *(b"\x1b[2J", b"\x1b[K", b"\x1b[1J", b"\x1b[44m", b"\x1b[m", b"\x1b[2;4r"),
        *(b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b7", b"\x1b8", b"\x1b[L", b"\x1b[M"),
        *(b"\x1b[P", b"\x1b[@", b"\x1b[3;7H", b"\x1b[5;20H", b"\x1b[4h", b"\x1b[?7l"),
        *(b"\x1b(0", b"\x1b(B", b"\x1b]2;t\x07", b"\x1b[?25l", b"\x1b[S", b"\x1b[T"),
    ]
)


@settings(max_examples=200)
@given(output=st.lists(PIECES, max_size=30).map(b"".join))
def test_any_screen_is_shown_the_same_by_a_new_terminal(output: bytes) -> None:
    old = painted(output)
    new = painted(old.keyframe())

    assert new.screen() == old.screen()
