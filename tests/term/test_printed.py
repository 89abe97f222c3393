import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.term.plain import plain
from holdfast.term.printed import MAX_FOUND, MAX_TEXT, USUAL, hidden_in_output
from holdfast.term.unseen import Reason

HIDING = (b"\x1b[8m", b"\x1b[31;41m", "\u200b".encode(), "\u202e".encode())
OTHERS = (b"text", b"\x1b[m", b"\x1b[28m", b"\r\n", b"\x1b[2K", b"\xff", b" ")
PIECES = st.sampled_from([*HIDING, *OTHERS, b"\x1b]0;title\x07"])


def told(output: bytes) -> list[tuple[str, str]]:
    return [(one.reason.value, one.text) for one in hidden_in_output(output)]


@given(st.lists(PIECES, max_size=60))
def test_i1_what_is_found_is_in_the_text(pieces: list[bytes]) -> None:
    output = b"".join(pieces)
    text = "".join(plain(output).split())

    for reason, found in told(output):
        if reason in ("bidi", "zero-width"):
            assert found in {"U+200B", "U+202E"}
        elif reason != "mixed":
            assert "".join(found.split()) in text


@given(st.lists(PIECES, max_size=200))
def test_i2_findings_are_few_and_short(pieces: list[bytes]) -> None:
    found = hidden_in_output(b"".join(pieces))

    assert len(found) <= MAX_FOUND + 2
    assert all(len(one.text) <= MAX_TEXT for one in found)


def test_i2_more_than_can_be_told_is_said_to_be_more() -> None:
    found = hidden_in_output(b"\x1b[8mx\x1b[my" * 100)

    assert len(found) == MAX_FOUND
    assert found[-1] == (Reason.MIXED, "and more")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"ok \x1b[8mevil\x1b[m ok", [("concealed", "evil")]),
        (b"ok \x1b[8mevil\x1b[28m ok", [("concealed", "evil")]),
        (b"\x1b[31;41mevil\x1b[39m ok", [("same-colour", "evil")]),
        (b"\x1b[91;101mevil\x1b[49m ok", [("same-colour", "evil")]),
        (b"\x1b[38;5;16;48;2;1;1;1mevil", [("same-colour", "evil")]),
        (b"\x1b[8m\x1b[1mevil", [("concealed", "evil")]),
        (b"\x1b[8m  \r\n  \x1b[m", []),
        ("a\u200bb\u200bc\u2060".encode(), [("zero-width", "U+200B U+2060")]),
        ("a\u202eb\u2066".encode(), [("bidi", "U+202E U+2066")]),
        (b"\x1b[1;31merror\x1b[m: \x1b[2;4;7mnote\x1b[22;24;27m", []),
        ("naïve café 👍".encode(), []),
        (b"", []),
    ],
)
def test_t28_what_colours_and_characters_hide_is_told_beside_the_text(
    output: bytes, expected: list[tuple[str, str]]
) -> None:
    assert told(output) == expected


def test_the_usual_palette_has_every_colour() -> None:
    assert len(USUAL.numbered) == 256
    assert (USUAL.numbered[16], USUAL.numbered[231]) == (0, 0xFFFFFF)
