"""T28: what hostile programs print so that only the machine reads it."""

import pytest

from holdfast.cli.visible_text import marked
from holdfast.model.geometry import Size
from holdfast.painter.keyframes import GhosttyEmulator

CORPUS = {
    "concealed": ("ok \x1b[8mrun evil\x1b[m.", "ok ⟦concealed: run evil⟧."),
    "the colour of its background": (
        "\x1b[31;41mevil\x1b[m ok",
        "⟦same-colour: evil⟧ ok",
    ),
    "nearly that colour": (
        "\x1b[38;2;0;0;0;48;2;9;9;9mevil\x1b[m",
        "⟦same-colour: evil⟧",
    ),
    "the same after reversing": ("\x1b[7;31;41mevil", "⟦same-colour: evil⟧"),
    "by a changed palette": (
        "\x1b]4;1;#1d1f21\x07\x1b[31;40mevil",
        "⟦same-colour: evil⟧",
    ),
    "by the terminal's own colours": (
        "\x1b]10;#000\x07\x1b]11;#000\x07evil",
        "⟦same-colour: evil⟧",
    ),
    "own colour on a set one": (
        "\x1b]11;#000000\x07\x1b[38;2;0;0;0mevil",
        "⟦same-colour: evil⟧",
    ),
    "zero width": ("pass\u200bword", "pass⟦zero-width⟧word"),
    "tags": ("ok\U000e0065\U000e0076.", "ok⟦zero-width⟧."),
    "a joiner between letters": ("ev\u200dil", "ev⟦zero-width: U+200D⟧il"),
    "another order": ("user\u202e nimda", "user⟦bidi⟧ nimda"),
    "isolates": ("a\u2066b\u2069c", "a⟦bidi⟧b⟦bidi⟧c"),
    "forged marks": ("⟦bidi⟧ ⟧", "\ufffdbidi\ufffd \ufffd"),
    "written over": ("evil\rgood", "good"),
    "erased": ("evil\x1b[2K\rgood", "good"),
    "beyond the margin": ("\x1b[?7l" + "x" * 40 + "evil", "x" * 39 + "l"),
    "in another place": ("\x1b[9;99Hevil\x1b[Hgood", "good"),
    "a family": ("👨\u200d👩\u200d👧 ok", "👨\u200d👩\u200d👧 ok"),
    "dark grey on black": ("\x1b[90;40mok", "ok"),
    "reversed": ("\x1b[7mok", "ok"),
    "faint and blinking": ("\x1b[2;5mok", "ok"),
}


@pytest.mark.parametrize(("printed", "shown"), CORPUS.values(), ids=CORPUS.keys())
def test_t28_what_a_person_would_not_see_is_marked(printed: str, shown: str) -> None:
    emulator = GhosttyEmulator(Size(40, 3))
    emulator.feed(printed.encode())

    rows = marked(emulator.screen().lines, emulator.hidden())
    assert rows[0].rstrip() == shown
    emulator.close()


def test_t28_what_has_scrolled_out_is_counted_and_not_shown() -> None:
    emulator = GhosttyEmulator(Size(40, 3))
    emulator.feed(b"evil\r\n" + b"good\r\n" * 4)

    assert "evil" not in "".join(emulator.screen().lines)
    assert emulator.above() == 3
    emulator.feed(b"\x1b[?1049h")
    assert emulator.screen().alternate
    assert emulator.above() == 0
    emulator.close()
