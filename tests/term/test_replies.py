import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.geometry import Size
from holdfast.term.queries import MAX_NUMBER, Query, QueryFilter, QueryKind
from holdfast.term.replies import MAX_ASKED, PALETTE, reply

SIZE = Size(columns=100, rows=40)

ANSWER = re.compile(
    rb"(?:\x1b\[[?>]?[0-9;]*\$?[cnty]"
    rb"|\x1bP(?:!\|00000000|>\|holdfast|0[$+]r)\x1b\\"
    rb"|\x1b\](?:[lL]|[0-9;]+;rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4})\x1b\\)*"
)


def answer(output: bytes) -> bytes | None:
    (query,) = QueryFilter().feed(output).queries
    return reply(query, SIZE)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1bZ", b"\x1b[?62;22c"),
        (b"\x1b[1c", None),
        (b"\x1b[>c", b"\x1b[>1;1;0c"),
        (b"\x1b[=c", b"\x1bP!|00000000\x1b\\"),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[?2026$p", b"\x1b[?2026;0$y"),
        (b"\x1b[4$p", b"\x1b[4;0$y"),
        (b"\x1b[?99999999$p", b"\x1b[?65535;0$y"),
        (b"\x1bP$qm\x1b\\", b"\x1bP0$r\x1b\\"),
        (b"\x1bP+q544e\x1b\\", b"\x1bP0+r\x1b\\"),
        (b"\x1b[>q", b"\x1bP>|holdfast\x1b\\"),
        (b"\x1b[11t", b"\x1b[1t"),
        (b"\x1b[13t", b"\x1b[3;0;0t"),
        (b"\x1b[14t", b"\x1b[4;640;800t"),
        (b"\x1b[15t", b"\x1b[5;640;800t"),
        (b"\x1b[16t", b"\x1b[6;16;8t"),
        (b"\x1b[18t", b"\x1b[8;40;100t"),
        (b"\x1b[19t", b"\x1b[9;40;100t"),
        (b"\x1b[20t", b"\x1b]L\x1b\\"),
        (b"\x1b[21t", b"\x1b]l\x1b\\"),
        (b"\x1b]10;?\x07", b"\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\"),
        (b"\x1b]13;?\x07", None),
        (
            b"\x1b]10;?;?\x07",
            b"\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\\x1b]11;rgb:1010/1010/1010\x1b\\",
        ),
        (b"\x1b]4;196;?\x07", b"\x1b]4;196;rgb:ffff/0000/0000\x1b\\"),
        (b"\x1b]4;256;?\x07", None),
    ],
)
def test_the_host_answers(asked: bytes, answered: bytes | None) -> None:
    assert answer(asked) == answered


@pytest.mark.parametrize("asked", [b"\x1b[6n", b"\x1b[?6n"])
def test_where_the_cursor_is_only_the_screen_knows(asked: bytes) -> None:
    assert answer(asked) is None


@pytest.mark.parametrize(
    "asked", [b"\x1b]52;c;?\x07", b"\x05", b"\x1b[?u", b"\x1b[?15n", b"\x1b[x"]
)
def test_some_questions_are_never_answered(asked: bytes) -> None:
    assert answer(asked) is None


def test_the_palette_has_256_colours() -> None:
    assert len(PALETTE) == 256
    assert PALETTE[16] == 0
    assert PALETTE[231] == 0xFFFFFF
    assert PALETTE[255] == 0xEEEEEE


def test_one_query_is_answered_for_so_many_colours_and_no_more() -> None:
    query = Query(QueryKind.PALETTE, 0, b"", (1,) * 5000)

    answered = reply(query, SIZE)

    assert answered is not None
    assert answered.count(b"rgb:") == MAX_ASKED


@given(
    st.sampled_from(QueryKind),
    st.binary(max_size=40),
    st.lists(st.integers(0, MAX_NUMBER), min_size=1, max_size=5).map(tuple),
    st.builds(Size, st.integers(1, 1000), st.integers(1, 1000)),
)
def test_no_reply_holds_a_byte_the_program_chose(
    kind: QueryKind, raw: bytes, numbers: tuple[int, ...], size: Size
) -> None:
    answered = reply(Query(kind, 0, raw, numbers), size) or b""

    assert ANSWER.fullmatch(answered)
    assert answered == (reply(Query(kind, 9, b"", numbers), size) or b"")


@given(st.binary(max_size=200))
def test_whatever_is_printed_is_answered_in_the_fixed_alphabet(output: bytes) -> None:
    for query in QueryFilter().feed(output).queries:
        assert ANSWER.fullmatch(reply(query, SIZE) or b"")
