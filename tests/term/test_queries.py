import sys
from types import FrameType

import pytest

from holdfast.term import queries
from holdfast.term.queries import (
    MAX_NUMBER,
    MAX_SEQUENCE,
    ST,
    Filtered,
    Query,
    QueryFilter,
    QueryKind,
)

MEGABYTE = 1 << 20

QUERIES = [
    (b"\x1b[c", QueryKind.PRIMARY_ATTRIBUTES, (0,)),
    (b"\x1b[0c", QueryKind.PRIMARY_ATTRIBUTES, (0,)),
    (b"\x1bZ", QueryKind.PRIMARY_ATTRIBUTES, ()),
    (b"\x1b[>c", QueryKind.SECONDARY_ATTRIBUTES, (0,)),
    (b"\x1b[>0c", QueryKind.SECONDARY_ATTRIBUTES, (0,)),
    (b"\x1b[=c", QueryKind.TERTIARY_ATTRIBUTES, (0,)),
    (b"\x1b[5n", QueryKind.STATUS, (5,)),
    (b"\x1b[6n", QueryKind.CURSOR, (6,)),
    (b"\x1b[7n", QueryKind.OTHER, (7,)),
    (b"\x1b[?6n", QueryKind.PRIVATE_CURSOR, (6,)),
    (b"\x1b[?996n", QueryKind.PRIVATE_STATUS, (996,)),
    (b"\x1b[?2026$p", QueryKind.PRIVATE_MODE, (2026,)),
    (b"\x1b[4$p", QueryKind.MODE, (4,)),
    (b"\x1bP$qm\x1b\\", QueryKind.SETTING, ()),
    (b"\x1bP+q544e;436f\x1b\\", QueryKind.CAPABILITY, ()),
    (b"\x1b[>q", QueryKind.VERSION, (0,)),
    (b"\x1b[>0q", QueryKind.VERSION, (0,)),
    (b"\x1b[?u", QueryKind.KEYBOARD, (0,)),
    (b"\x1b]4;1;?;7;?\x07", QueryKind.PALETTE, (1, 7)),
    (b"\x1b]4;1;?;7;red\x07", QueryKind.PALETTE, (1,)),
    (b"\x1b]10;?\x1b\\", QueryKind.COLOUR, (10,)),
    (b"\x1b]10;?;?\x07", QueryKind.COLOUR, (10, 11)),
    (b"\x1b]011;?\x07", QueryKind.COLOUR, (11,)),
    (b"\x1b]12;?\x07", QueryKind.COLOUR, (12,)),
    (b"\x1b]17;?\x07", QueryKind.COLOUR, (17,)),
    (b"\x1b]19;?\x07", QueryKind.COLOUR, (19,)),
    (b"\x1b]52;c;?\x07", QueryKind.CLIPBOARD, ()),
    (b"\x1b]50;?\x07", QueryKind.OTHER, ()),
    (b"\x1b]60\x07", QueryKind.OTHER, ()),
    (b"\x1b]20;?\x07", QueryKind.OTHER, ()),
    (b"\x1b]49;?\x07", QueryKind.OTHER, ()),
    (b"\x1b]176;?\x07", QueryKind.OTHER, ()),
    (b"\x1b]702;?\x07", QueryKind.OTHER, ()),
    (b"\x1b]7704;1;?\x07", QueryKind.OTHER, ()),
    (b"\x1b]7771;?;97\x07", QueryKind.OTHER, ()),
    (b"\x1b]99;i=evil:p=?;\x1b\\", QueryKind.OTHER, ()),
    (b"\x1b]99;i=evil:p=alive;\x1b\\", QueryKind.OTHER, ()),
    (b"\x1b]5522;type=read;Lg==\x1b\\", QueryKind.OTHER, ()),
    (b"\x1b]1337;ReportCellSize\x07", QueryKind.OTHER, ()),
    (b"\x1b]1337;ReportVariable=dXNlci54\x07", QueryKind.OTHER, ()),
    (b"\x1b]1337;RequestUpload=format=tgz\x07", QueryKind.OTHER, ()),
    (b"\x1b]1337;Capabilities\x07", QueryKind.OTHER, ()),
    (b'\x1bP@kitty-cmd{"cmd":"ls"}\x1b\\', QueryKind.OTHER, ()),
    *[
        (b"\x1b[%dt" % report, QueryKind.WINDOW, (report,))
        for report in (11, 13, 14, 15, 16, 18, 19, 20, 21)
    ],
    (b"\x1b[13;2t", QueryKind.WINDOW, (13, 2)),
    (b"\x05", QueryKind.ENQUIRY, ()),
    (b"\x1b[x", QueryKind.OTHER, (0,)),
    (b"\x1b[1;1;1;1;9;9*y", QueryKind.OTHER, (1, 1, 1, 1, 9, 9)),
    (b"\x1b[?2;1S", QueryKind.OTHER, (2, 1)),
    (b"\x1b[?4m", QueryKind.OTHER, (4,)),
    (b"\xc2\x9bc", QueryKind.PRIMARY_ATTRIBUTES, (0,)),
    (b"\xc2\x9d11;?\xc2\x9c", QueryKind.COLOUR, (11,)),
    (b"\xc2\x90$qm\xc2\x9c", QueryKind.SETTING, ()),
]
HIDDEN = [
    (b"\x1b\r[c", QueryKind.PRIMARY_ATTRIBUTES, (0,)),
    (b"\x1b[\n0\x07c", QueryKind.PRIMARY_ATTRIBUTES, (0,)),
    (b"\x1b[\x7f6\x00n", QueryKind.CURSOR, (6,)),
    (b"\x1b[6:1n", QueryKind.CURSOR, (6, 1)),
    (b"\x1b[00018t", QueryKind.WINDOW, (18,)),
    (b"\x1b[\r?\r4m", QueryKind.OTHER, (4,)),
    (b"\x1b]1\r1;?\x07", QueryKind.COLOUR, (11,)),
    (b"\x1b]4;x;?;\xc3\xa9\x07", QueryKind.PALETTE, (MAX_NUMBER,)),
    (b"\x1b]11;no?\x07", QueryKind.COLOUR, ()),
]
ORDINARY = [
    b"plain text",
    "grüße · 10 ° 日本".encode(),
    b"\x9bc raw C1 is text \x9d11;?\x07",
    b"\x1b[31;1mred\x1b[0m\x1b[2J\x1b[10;5H\x1b[K",
    b"\x1b[?1049h\x1b[?25l\x1b[4 q\x1b[!p\x1b[22;0;0t\x1b[u\x1b[s\x1b[2S",
    b"\x1b[>4;2m\x1b[>1u\x1b[>4n\x1b[1q",
    b"\x1b]0;what is this?\x07\x1b]2;?\x1b\\",
    b"\x1b]8;;http://example/?q=1\x07link\x1b]8;;\x07",
    b"\x1b]11;rgb:00/00/00\x07\x1b]4;1;red\x07",
    b"\x1b]52;c;aGVsbG8=\x07",
    b"\x1b]133;A\x07\x1b]104\x07\x1b]7;file://h/tmp\x1b\\",
    b"\x1bPq#0;2;0;0;0sixel\x1b\\\x1bP+p1\x1b\\",
    b"\x1b]11;?\x18 and \x1bP$q\x1a",
    b"\x1b]11;\xc2\x85?",
    b"\x1b[0 ?c\x1b[5\x80n",
    b"\x1b(B\x1b7\x1b8\x1b=\x1bM",
    b"\x1b_Gi=1\x1b\\\x1bXsos\x1b\\\x1b^pm\x1b\\",
    b"\x1b]1337;RemoteHost=ann@x\x07\x1b]1337;CurrentDir=/x\x07\x1b]1337;File=a?\x07",
    b"\x1b]99;i=1:p=title;who?\x1b\\\x1b]777;notify;a;b?\x07\x1b]9;come?\x07",
    b"\x1b]5522;type=write\x1b\\\x1bP@other\x1b\\",
]


@pytest.mark.parametrize(("raw", "kind", "numbers"), QUERIES + HIDDEN)
def test_a_query_is_taken_out_where_it_stood(
    raw: bytes, kind: QueryKind, numbers: tuple[int, ...]
) -> None:
    filtered = QueryFilter().feed(b"before" + raw + b"after")

    assert filtered == Filtered(b"beforeafter", (Query(kind, 6, raw, numbers),))


@pytest.mark.parametrize("output", ORDINARY)
def test_ordinary_output_passes_untouched(output: bytes) -> None:
    assert QueryFilter().feed(output + b".") == Filtered(output + b".", ())


def test_output_without_escapes_is_not_copied() -> None:
    chunk = b"some plain output" * 100

    assert QueryFilter().feed(chunk).visible is chunk


def test_positions_count_visible_bytes_since_the_beginning() -> None:
    queries = QueryFilter()
    queries.feed(b"abc")
    queries.feed(b"d\x1b[ce")

    assert queries.feed(b"f\x05").queries == (Query(QueryKind.ENQUIRY, 6, b"\x05"),)


def test_a_query_cut_in_two_is_held_until_it_is_whole() -> None:
    queries = QueryFilter()

    assert queries.feed(b"a\x1b[") == Filtered(b"a", ())
    assert queries.held == 2
    assert queries.feed(b"cb").visible == b"b"
    assert queries.held == 0


@pytest.mark.parametrize(
    ("output", "visible"),
    [
        (b"\x1b\x1b[c[c", b"\x1b" + ST + b"[c"),
        (b"\x1b[\x1b[cc", b"\x1b[" + ST + b"c"),
        (b"\x1b]11;\x1b[c?\x07", b"\x1b]11;" + ST + b"?\x07"),
        (b"\x1b]2;a\x07\x1b[cb", b"\x1b]2;a\x07b"),
        (b"\x1bPa\x07\x1b[cb", b"\x1bPa\x07" + ST + b"b"),
        (b"\x1bPa\x18\x1b[cb", b"\x1bPa\x18b"),
        (b"\xc2\x1b[c\x9bc", b"\xc2" + ST + b"\x9bc"),
        (b"\xc2\x05\x9bc", b"\xc2\x00\x9bc"),
        (b"\x1b]2;a\xc2\x9bcb", b"\x1b]2;a\x18b"),
        (b"\x1b[3\x051m", b"\x1b[31m"),
        (b"\x1b[\x051t", b"\x1b[1t"),
        (b"\x1b\x07]2;a\x1b[cb", b"\x1b\x07]2;a" + ST + b"b"),
        (b"a\x1bP$q\x07m\x1b\\b", b"ab"),
        (b"\x1b]11;?\x1b[1mx", b"\x1b[1mx"),
    ],
)
def test_i3_what_was_around_a_query_does_not_close_up_to_another(
    output: bytes, visible: bytes
) -> None:
    assert QueryFilter().feed(output).visible == visible
    assert QueryFilter().feed(visible + b".").queries == ()


def test_an_open_title_is_remembered_over_chunks_without_escapes() -> None:
    queries = QueryFilter()
    queries.feed(b"\x1b]2;long ")
    queries.feed(b"title")

    assert queries.feed(b"\x1b[c").visible == ST


def test_a_title_that_ended_in_another_chunk_is_not_ended_again() -> None:
    queries = QueryFilter()
    queries.feed(b"\x1b]2;long ")
    queries.feed(b"title\x07")

    assert queries.feed(b"\x1b[c").visible == b""


def test_a_sequence_cut_off_by_text_in_another_chunk_is_not_ended_again() -> None:
    queries = QueryFilter()
    queries.feed(b"\x1b[3\xc2")
    queries.feed(b"\xa7")

    assert queries.feed(b"\x1b[c").visible == b""


@pytest.mark.parametrize(
    "introducer",
    [b"\x1b[", b"\x1b]11;", b"\x1bP$q", b"\x1b", b"\xc2\x9b", b"\xc2\x9d4;"],
)
def test_i4_a_sequence_that_does_not_end_is_let_through_as_text(
    introducer: bytes,
) -> None:
    queries = QueryFilter(limit=16)
    body = b"\0" if introducer == b"\x1b" else b"0"
    visible, taken = b"", b""
    for byte in introducer + body * 40:
        filtered = queries.feed(bytes([byte]))
        visible += filtered.visible
        taken += b"".join(query.raw for query in filtered.queries)
        assert queries.held <= 2 * 16 + 4

    assert taken in (b"\x1b", introducer[:2])
    assert taken + visible == introducer + body * 40


def test_a_long_clipboard_write_is_no_query_and_is_not_held() -> None:
    queries = QueryFilter()
    output = b"\x1b]52;c;" + b"YWFh" * 100_000

    assert queries.feed(output).visible == output
    assert queries.held == 0


def test_what_is_still_open_at_the_end_is_taken_out() -> None:
    queries = QueryFilter()
    queries.feed(b"text\x1b]11;?")

    raw = b"\x1b]11;?"
    assert queries.finish() == Filtered(b"", (Query(QueryKind.UNFINISHED, 4, raw),))
    assert queries.finish() == Filtered(b"", ())


def test_what_is_still_open_at_the_end_leaves_nothing_open() -> None:
    queries = QueryFilter()
    queries.feed(b"\x1b]2;title\x1b")

    assert queries.finish().visible == ST
    assert queries.feed(b"a").visible == b"a"


HOSTILE = {
    "escapes": b"\x1b" * MEGABYTE,
    "one endless osc": b"\x1b]11;" + b"a" * MEGABYTE,
    "many endless oscs": (b"\x1b]11;" + b"a" * MAX_SEQUENCE) * 128,
    "endless parameters": b"\x1b[" + b"1;" * (MEGABYTE // 2),
    "many endless csis": (b"\x1b[" + b"0" * MAX_SEQUENCE) * 128,
    "controls after escape": (b"\x1b" + b"\0" * MAX_SEQUENCE) * 128,
    "halves": b"\xc2" * MEGABYTE,
    "almost endless": (b"\x1b[" + b"0" * (MAX_SEQUENCE - 1)) * 128,
}


@pytest.mark.parametrize("output", HOSTILE.values(), ids=HOSTILE.keys())
def test_i4_the_steps_taken_for_hostile_output_are_few(output: bytes) -> None:
    steps = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal steps
        steps += 1

    queries = QueryFilter()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for first in range(0, len(output), 4096):
            queries.feed(output[first : first + 4096])
    finally:
        sys.setprofile(before)

    assert steps <= 40_000
    assert queries.held <= 2 * MAX_SEQUENCE + 4


def test_a_filter_made_after_preloading_compiles_nothing() -> None:
    queries.preload()
    before = queries._within.cache_info().misses  # noqa: SLF001

    QueryFilter()
    assert queries._within.cache_info().misses == before  # noqa: SLF001


def test_a_filter_is_at_rest_where_nothing_has_begun() -> None:
    def is_at_rest(printed: bytes) -> bool:
        found = QueryFilter()
        found.feed(printed)
        return found.is_at_rest

    assert all(map(is_at_rest, (b"", b"text", b"\x1b[31mred", b"\x1b]0;title\x07")))
    assert not any(map(is_at_rest, (b"\x1b[31", b"\x1b]0;title", b"\xc2")))
