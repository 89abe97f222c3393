import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.term.plain import plain

CASES = [
    (b"a\r\nb\r\n", "a\nb\n"),
    (b"\x1b[31;1mred\x1b[0m\t.", "red\t."),
    (b"\x1b]0;title\x07text\x1b]8;;x\x1b\\link", "textlink"),
    (b"10%\r20%\r\n", "10%\n20%\n"),
    (b"\x1bP+q544e\x1b\\x\x1b(By\x1b7z", "xyz"),
    (b"\x1b]0;never ended", ""),
    (b"\x1b]0;cut\x1b[mshort", "short"),
    (b"a\x08\x00\x05b\x7f", "ab"),
    ("\x9b grüße 日本".encode(), " grüße 日本"),
    (b"\xff", "\ufffd"),
    (b"\x1b", ""),
]


@pytest.mark.parametrize(("printed", "read"), CASES)
def test_what_a_terminal_obeys_is_taken_out(printed: bytes, read: str) -> None:
    assert plain(printed) == read


@given(st.binary())
def test_i1_no_control_character_but_newline_and_tab_is_left(printed: bytes) -> None:
    left = {character for character in plain(printed) if not character.isprintable()}

    assert not {one for one in left if ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0} - {
        "\n",
        "\t",
    }


@given(st.text(st.characters(exclude_categories=["C"]) | st.sampled_from("\n\t")))
def test_i2_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(text.encode()) == text


def test_i3_a_megabyte_of_open_escapes_is_done_at_once() -> None:
    assert plain(b"\x1b]" * (1 << 19)) == ""
