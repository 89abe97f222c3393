import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import MalformedName
from holdfast.model.text import (
    MAX_NAME,
    checked_name,
    printable,
    same_name,
    shown_name,
)

HOSTILE_NAMES = [
    "-rf",
    "--help",
    "",
    " ",
    "two words",
    "line\nbreak",
    "build\n",
    "a;b",
    "$(id)",
    "`id`",
    "'quote'",
    '"quote"',
    "tab\t",
    "x" * 300,
    "\U0001f469\u200d\U0001f4bb",
    "caf\u00e9",
    "cafe\u0301",
    ".hidden",
    ".",
    "..",
    "/etc/passwd",
    "a/b",
    "..\\up",
    "nul\0",
    "\x1b[31mred",
    "\x9b2J",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "\u0430dmin",
    "s_aaaaaaaaaaaaaaaa",
    "S_other",
    "h_x",
    "a_x",
    "C_x",
    "\ud800",
    "_x",
    "%s",
    "{0}",
    "<b>",
    "*",
    "~",
]
LIVE = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA1)),
    *"\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d",
    *"\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\u3000\u2003\ue000\U000e0041",
    *"\u034f\u115f\u3164\uffa0\u2800\ufe0f\u180b\U000e0101\ud800\udfff\uffff",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_a_hostile_name_is_refused_and_shown_without_harm(name: str) -> None:
    with pytest.raises(MalformedName) as refusal:
        checked_name(name)

    shown = str(refusal.value.facts["text"])
    assert shown == printable(shown)
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize("name", ["a", "7", "build-2.log_x", "Web", "x" * MAX_NAME])
def test_a_plain_name_is_taken_as_it_is(name: str) -> None:
    assert checked_name(name) == name


@given(st.text(max_size=80))
def test_a_name_that_is_taken_is_plain_ascii(text: str) -> None:
    try:
        name = checked_name(text)
    except MalformedName:
        return

    assert name == text == shown_name(text) == printable(text)
    assert name.isascii()
    assert 1 <= len(name) <= MAX_NAME


def test_names_that_differ_only_in_case_are_one() -> None:
    assert same_name("Build", "bUILD")
    assert not same_name("build", "built")


@pytest.mark.parametrize("character", LIVE, ids=ascii)
def test_what_a_terminal_would_obey_or_hide_is_shown_as_an_escape(
    character: str,
) -> None:
    shown = printable(f"a{character}b")

    assert shown.startswith("a\\")
    assert shown.endswith("b")
    assert shown.isascii()
    assert shown.isprintable()


def test_escapes_name_the_character() -> None:
    assert printable("\x1b\x9b") == "\\x1b\\x9b"
    assert printable("\u202e") == "\\u202e"
    assert printable("\U000e0041") == "\\U000e0041"


@pytest.mark.parametrize("text", ["plain text", "grüße", "日本語", "a—b", "€ 5"])
def test_readable_text_is_left_alone(text: str) -> None:
    assert printable(text) == text


@given(st.text())
def test_nothing_live_survives(text: str) -> None:
    shown = printable(text, 1000)

    categories = {unicodedata.category(one) for one in shown if one != " "}
    assert not categories & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    assert printable(shown, len(shown)) == shown
    shown.encode()


def test_a_long_text_is_cut_where_it_was_said() -> None:
    assert printable("x" * 1_000_000) == "x" * 200 + "…"
    assert printable("abc", 3) == "abc"
    assert printable("abcd", 3) == "abc…"


def test_a_look_alike_letter_in_a_name_is_shown_as_an_escape() -> None:
    assert shown_name("\u0430dmin") == "\\u0430dmin"
    assert shown_name("caf\u00e9") == "caf\\xe9"
    assert shown_name("root\x1b[2J") == "root\\x1b[2J"


def test_a_long_name_is_cut() -> None:
    assert shown_name("x" * 300) == "x" * MAX_NAME + "…"
    assert shown_name("x" * MAX_NAME) == "x" * MAX_NAME


@given(st.text())
def test_a_shown_name_is_ascii_but_for_its_end(text: str) -> None:
    assert shown_name(text).removesuffix("…").isascii()
    assert printable(shown_name(text), 10_000) == shown_name(text)
