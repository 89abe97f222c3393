import base64
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.session_record import BELL, MESSAGE
from holdfast.term import attention
from holdfast.term.attention import MAX_BODY, MAX_READ, MAX_TEXT, Call, CallScanner

RUNG = Call(BELL)


def calls(*chunks: bytes) -> list[Call]:
    scanner = CallScanner()
    return [call for call in map(scanner.feed, chunks) if call is not None]


def said(text: str) -> list[Call]:
    return [Call(MESSAGE, text)]


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        (b"plain text\n", []),
        (b"\a", [RUNG]),
        (b"text \a text \a", [RUNG]),
        (b"\x1b[1\a;31m", [RUNG]),
        (b"\x1b]9;come here\x07", said("come here")),
        (b"\x1b]9;come here\x1b\\", said("come here")),
        (b"\x1b]9;come here\xc2\x9c", said("come here")),
        (b"\xc2\x9d9;come here\x07", said("come here")),
        (b"\x1b]009;come here\x07", said("come here")),
        (b"\x1b]9;come here\x1b[m", said("come here")),
        (b"\x1b]9;\x07", said("")),
        (b"\x1b]777;notify;build;it failed\x07", said("build: it failed")),
        (b"\x1b]777;notify;build\x07", said("build")),
        (b"\x1b]777;preexec\x07", []),
        (b"\x1b]99;;come\x1b\\", said("come")),
        (b"\x1b]99;i=1:p=body;come\x1b\\", said("come")),
        (b"\x1b]99;i=1:e=1;Y29tZQ==\x1b\\", said("come")),
        (b"\x1b]99;i=1:e=1;Y29tZQ\x1b\\", said("come")),
        (b"\x1b]99;i=1:e=1;!\x1b\\", said("")),
        (b"\x1b]99;i=1:e=1;Y\x1b\\", said("")),
        (b"\x1b]99;i=1:p=?;\x1b\\", []),
        (b"\x1b]99;i=1:p=close;\x1b\\", []),
        (b"\x1b]9;one\x07\x1b]9;two\x07\a", said("two")),
        (b"\a\x1b]9;one\x07", said("one")),
    ],
)
def test_a_call_is_found(printed: bytes, found: list[Call]) -> None:
    assert calls(printed) == found


@pytest.mark.parametrize("number", range(1, 13))
def test_conemu_s_own_sequences_call_nobody(number: int) -> None:
    assert calls(b"\x1b]9;%d\x07\x1b]9;%d;1;50\x1b\\" % (number, number)) == []


@pytest.mark.parametrize(
    "printed",
    [
        b"\x1b]0;title\x07",
        b"\x1b]0;caf\xc2\xb0\x07",
        b"\x1b]8;;http://x\x07link\x1b]8;;\x07",
        b"\x1bPq\a#0\a\x1b\\",
        b"\x1b_Ga\a\x1b\\",
        b"\x1b^p\a\x1b\\",
        b"\x1bXs\a\x1b\\",
        b"\xc2\x90d\a\xc2\x9c",
        b"\xc2\x98d\a\xc2\x9c",
        b"\xc2\x9ed\a\xc2\x9c",
        b"\xc2\x9fd\a\xc2\x9c",
        b"\x1b]9;cancelled\x18",
        b"\x1b]9;cancelled\x1a",
        b"\x1b]9;cancelled\xc2\x85",
        b"\x1b]52;c;aGk=\x07",
        b"\x1b]9\x07",
    ],
)
def test_i2_a_bell_that_ends_a_string_is_none(printed: bytes) -> None:
    assert calls(printed) == []
    assert calls(*(printed[at : at + 1] for at in range(len(printed)))) == []
    assert calls(printed + b"\a") == [RUNG]


PIECES = st.sampled_from(
    [
        *(b"\a", b"\x1b", b"\x1b]", b"9;", b"99;", b"i=1:d=0;", b"777;notify;", b"4;"),
        *(b"text", b"\x1b\\", b"\x1bP", b"\x1b_", b"\x18", b"\x1b[31m", b"\x1b[?25l"),
        *(b"\xc2", b"\xc2\x9d", b"\xc2\x9c", b"\xc2\xb0", b"\xe2\x80\xae", b";", b"\0"),
        *(b"\x1b]0;t\x07", b"\x1b]9;hello\x07", b"\xff", b"8;;"),
    ]
)


@given(st.lists(PIECES, max_size=24), st.data())
def test_i1_any_cut_gives_the_same_calls(
    pieces: list[bytes], data: st.DataObject
) -> None:
    printed = b"".join(pieces)
    singly = calls(*(printed[at : at + 1] for at in range(len(printed))))
    cut = data.draw(st.integers(0, len(printed)))

    whole, halves = calls(printed), calls(printed[:cut], printed[cut:])

    messages = [one for one in singly if one.what == MESSAGE]
    assert whole == (messages or singly)[-1:]
    assert bool(halves) == bool(singly)
    assert {*halves} <= {*singly}


@given(st.binary(max_size=200))
def test_i4_whatever_is_printed_a_text_is_harmless(raw: bytes) -> None:
    body = raw.translate(None, b"\x07\x18\x1a\x1b")
    for code in (b"9;_", b"777;notify;", b"99;;", b"99;e=1;"):
        for call in calls(b"\x1b]" + code + body + b"\x07"):
            assert len(call.text) <= MAX_TEXT
            assert not {*map(unicodedata.category, call.text)} & {"Cc", "Cf", "Zl"}


@pytest.mark.parametrize("evil", ["\u202e", "\u2066", "\ufeff", "\u200b", "\U000e0041"])
def test_i4_what_turns_or_hides_text_is_shown_as_an_escape(evil: str) -> None:
    (call,) = calls(f"\x1b]9;pay{evil}yap".encode() + b"\x07")

    assert evil not in call.text
    assert call.text.startswith("pay\\")


def test_i3_a_long_sequence_is_cut_and_not_kept() -> None:
    scanner = CallScanner()
    assert scanner.feed(b"\x1b]9;" + b"x" * 100) is None
    for _ in range(16):
        assert scanner.feed(b"y" * 65536) is None

    assert len(scanner._body) <= MAX_BODY  # noqa: SLF001  # what is held
    call = scanner.feed(b"\a")

    assert call is not None
    assert call.text.startswith("xxx")
    assert (len(call.text), call.text[-1]) == (MAX_TEXT, "…")
    assert scanner.feed(b"\a") == RUNG


def test_kitty_s_parts_are_put_together() -> None:
    assert calls(
        b"\x1b]99;i=7:d=0:p=title;Agent\x1b\\",
        b"\x1b]99;i=7:d=0:p=body;may I \x1b\\",
        b"\x1b]99;i=7:d=0:p=body:e=1;" + base64.b64encode(b"go on?") + b"\x1b\\",
        b"\x1b]99;i=7:d=1:a=focus;\x1b\\",
    ) == said("Agent: may I go on?")


def test_parts_of_another_notification_are_not_mixed_in() -> None:
    assert calls(b"\x1b]99;i=1:d=0;lost\x1b\\", b"\x1b]99;i=2;kept\x1b\\") == said(
        "kept"
    )
    assert calls(b"\x1b]99;i=1:d=0;" + b"z" * 999 + b"\x1b\\") == []


FLOOD = b"\x1b]9;spam\x07" * (MAX_READ + 1)


@pytest.mark.parametrize(
    ("end", "after", "found"),
    [
        (b"", b"\a", [RUNG]),
        (b"\x1b]0;tit", b"le\x07", []),
        (b"\x1b]9;or", b"der\x07", said("order")),
        (b"\x1b", b"]0;title\x07", []),
        (b"\xc2\x9d0;tit", b"le\x07", []),
        (b"\x1bPdata", b"\a\x1b\\", []),
        (b"\x1b[31m", b"\a", [RUNG]),
    ],
)
def test_of_a_flood_the_rest_is_not_read_but_its_end_is_known(
    end: bytes, after: bytes, found: list[Call]
) -> None:
    assert calls(FLOOD + end, after) == said("spam") + found


def test_a_flood_without_any_sequence_after_it_leaves_nothing_open() -> None:
    scanner = CallScanner()
    scanner.feed(b"\x1b]9;x")
    rest = b"\x07" + FLOOD.replace(b"\x1b]", b"\xc2\x9d")

    assert scanner.feed(rest) == Call(MESSAGE, "spam")
    assert scanner.feed(b"text\a") == RUNG


@pytest.mark.parametrize(
    ("chunk", "is_it"),
    [
        (b"\x1b[31mred\x1b[m caf\xc2\xb0", True),
        (b"", True),
        (b"\x1b", False),
        (b"\x1bP", False),
        (b"\x1bPdata\x1b\\", True),
        (b"\xc2", False),
        (b"\xc2\x9d", False),
        (b"\a", False),
        (b"\x1b]0;t\x1b\\", False),
    ],
)
def test_most_output_is_plain(chunk: bytes, *, is_it: bool) -> None:
    assert attention.is_plain(chunk) is is_it


def test_a_scanner_is_at_rest_where_nothing_has_begun() -> None:
    def is_at_rest(printed: bytes) -> bool:
        scanner = CallScanner()
        scanner.feed(printed)
        return scanner.is_at_rest

    assert is_at_rest(b"text")
    assert is_at_rest(b"\x1b]9;a\x07")
    assert not is_at_rest(b"\x1b]9;come")
    assert not is_at_rest(b"\x1b")
