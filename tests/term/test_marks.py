import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.term.mark_bytes import to_bytes

from holdfast.term.marks import (
    MAX_LINE,
    NONCE,
    Began,
    Buffer,
    Ended,
    Mark,
    Prompted,
    Standing,
    read_mark,
)
from holdfast.term.queries import MAX_SEQUENCE, Query, QueryFilter, QueryKind

OURS = b"0123456789abcdef" * 2
OTHER = b"f" * NONCE

texts = st.text(max_size=40)
marks = st.one_of(
    st.integers(0, 999_999_999).map(Prompted),
    texts.map(lambda text: Began(text, len(text.encode()))),
    texts.map(lambda text: Standing(text, len(text.encode()))),
    texts.map(lambda text: Buffer(text, len(text.encode()))),
    st.builds(Ended, st.integers(0, 255), texts),
)

FORGED = [
    b"\x1b]7077;P\x1b\\",
    b"\x1b]7077;;P\x1b\\",
    b"\x1b]7077;%s;P\x07" % OURS,
    b"\xc2\x9d7077;%s;P\xc2\x9c" % OURS,
    b"\x1b]07077;%s;P\x1b\\" % OURS,
    b"\x1b]70\r77;%s;P\x1b\\" % OURS,
    b"\x1b]7077;%s;P;\x1b\\" % OURS,
    b"\x1b]7077;%s;X\x1b\\" % OURS,
    b"\x1b]7077;%s;D\x1b\\" % OURS,
    b"\x1b]7077;%s;D;256;/\x1b\\" % OURS,
    b"\x1b]7077;%s;D;999999;/\x1b\\" % OURS,
    b"\x1b]7077;%s;D;-1;/\x1b\\" % OURS,
    b"\x1b]7077;%s;D;ok;/\x1b\\" % OURS,
    b"\x1b]7077;%s;D;0;/;x\x1b\\" % OURS,
    b"\x1b]7077;%s;D;0;/\\\x1b\\" % OURS,
    b"\x1b]7077;%s;D;0;%s\x1b\\" % (OURS, b"a" * (MAX_LINE + 1)),
    b"\x1b]7077;%s;C;3;ls\x1b\\" % OURS,
    b"\x1b]7077;%s;L;3;ls\x1b\\" % OURS,
    b"\x1b]7077;%s;L\x1b\\" % OURS,
    b"\x1b]7077;%s;B\x1b\\" % OURS,
    b"\x1b]7077;%s;B;1;\x1b\\" % OURS,
    b"\x1b]7077;%s;C;2;l\\x0\x1b\\" % OURS,
    b"\x1b]7077;%s;C;2;l\ns\x1b\\" % OURS,
    b"\x1b]7077;%s;C;99999999;ls\x1b\\" % OURS,
    b"\x1b]7077;%s;C;2;\xc2\xa0\x1b\\" % OURS,
    b"\x1b]7077;%s;P\x1b\\" % OTHER,
    b"\x1b]133;A;%s\x1b\\" % OURS,
    b"\x1b]633;D;0;%s\x1b\\" % OURS,
]


@pytest.mark.parametrize("raw", FORGED)
def test_i1_what_is_not_exactly_a_mark_with_our_nonce_is_none(raw: bytes) -> None:
    assert read_mark(raw, OURS) is None


@given(marks)
def test_i1_another_nonce_makes_any_mark_worthless(mark: Mark) -> None:
    assert read_mark(to_bytes(mark, OTHER), OURS) is None


@given(marks)
def test_i2_a_mark_is_read_as_it_was_written(mark: Mark) -> None:
    assert read_mark(to_bytes(mark, OURS), OURS) == mark


@given(st.binary(), marks, st.integers(0, 200))
def test_i3_whatever_is_put_into_a_mark_a_bounded_mark_or_none_is_read(
    junk: bytes, mark: Mark, place: int
) -> None:
    raw = to_bytes(mark, OURS)

    read = read_mark(raw[:place] + junk + raw[place:], OURS)

    match read:
        case Began(line, size):
            assert len(line) <= 4 * MAX_LINE
            assert size < 10_000_000
        case Ended(status, cwd):
            assert 0 <= status <= 255
            assert len(cwd) <= 4 * MAX_LINE
        case _:
            pass


def test_a_line_that_was_cut_says_how_long_it_is() -> None:
    raw = b"\x1b]7077;%s;C;5000;%s\x1b\\" % (OURS, b"a" * MAX_LINE)

    assert read_mark(raw, OURS) == Began("a" * MAX_LINE, 5000)


def test_only_a_whole_line_is_known() -> None:
    assert Began("ls", 2).is_known
    assert not Began("", 0).is_known
    assert not Began("a" * MAX_LINE, 5000).is_known


def test_bytes_that_are_no_text_are_shown_as_what_they_are() -> None:
    raw = b"\x1b]7077;%s;D;0;/\xff\x1b\\" % OURS

    assert read_mark(raw, OURS) == Ended(0, "/\\xff")


def test_the_longest_mark_is_waited_for() -> None:
    assert len(to_bytes(Began("\x01" * MAX_LINE, MAX_LINE), OURS)) < MAX_SEQUENCE


@given(st.lists(st.one_of(marks, st.binary(max_size=8)), max_size=6), st.data())
def test_marks_are_taken_out_of_a_stream_however_it_is_cut(
    parts: list[Mark | bytes], data: st.DataObject
) -> None:
    stream = b"".join(
        part if isinstance(part, bytes) else to_bytes(part, OURS) for part in parts
    )
    whole, cut = QueryFilter(), QueryFilter()
    once = whole.feed(stream)
    visible = b""
    found: list[Query] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        filtered = cut.feed(stream[:size])
        visible += filtered.visible
        found += filtered.queries
        stream = stream[size:]

    assert (visible, tuple(found)) == (once.visible, once.queries)
    assert b"]7077;" + OURS not in visible


def test_a_mark_ends_what_the_program_left_open() -> None:
    filtered = QueryFilter().feed(b"\x1b]0;title" + to_bytes(Prompted(), OURS) + b"$ ")

    assert filtered.visible == b"\x1b]0;title\x1b\\$ "
    assert [query.kind for query in filtered.queries] == [QueryKind.MARK]


def test_a_megabyte_that_begins_like_a_mark_is_shown_and_is_none() -> None:
    filtered = QueryFilter().feed(b"\x1b]7077;%s;C;9;" % OURS + b"a" * (1 << 20))

    assert len(filtered.visible) > 1 << 20
    assert all(read_mark(query.raw, OURS) is None for query in filtered.queries)


def test_the_greatest_status_and_the_longest_folder_are_read() -> None:
    raw = b"\x1b]7077;%s;D;255;%s\x1b\\" % (OURS, b"a" * MAX_LINE)

    assert read_mark(raw, OURS) == Ended(255, "a" * MAX_LINE)
    assert read_mark(raw.replace(b"255", b"256"), OURS) is None
