from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.titles import MAX_STRING, TitleWatch

TITLE = b"\x1b]0;user@host\x07"
PIECES = st.lists(
    st.sampled_from([TITLE, b"\x1b]2;x\x1b\\", b"text", b"\x1b[31m", b"\x1b]8;;u\x07"])
).map(b"".join)


@pytest.mark.parametrize("title", [TITLE, b"\x1b]2;x\x1b\\", b"\x1b]2;\x18"])
def test_a_title_that_is_complete_was_set(title: bytes) -> None:
    watch = TitleWatch()
    watch.feed(b"before" + title + b"after")

    assert watch.was_set
    watch.forget("")
    assert not watch.was_set


def test_what_sets_no_title_is_none() -> None:
    watch = TitleWatch()
    watch.feed(b"\x1b]8;;u\x07link\x1b]8;;\x07\x1b[31m\x1b]1;icon\x07")

    assert not watch.was_set


@given(PIECES, st.lists(st.integers(0, 80)))
def test_i1_where_the_stream_is_cut_does_not_matter(
    stream: bytes, cuts: list[int]
) -> None:
    watch = TitleWatch()
    marks = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for begin, end in pairwise(marks):
        watch.feed(stream[begin:end])

    assert watch.was_set == (b"\x1b]0;" in stream or b"\x1b]2;" in stream)


@pytest.mark.parametrize("half", [b"\x1b]0;us", b"\x1b", b"\x1b]", b"\x1b]8;;url"])
def test_i2_ours_does_not_come_in_between(half: bytes) -> None:
    watch = TitleWatch()
    watch.feed(TITLE + half)

    assert not watch.was_set
    watch.feed(b"]\x07")
    assert watch.was_set


def test_i2_a_string_without_an_end_hides_nothing_for_ever() -> None:
    watch = TitleWatch()
    watch.feed(b"\x1b]0;" + b"x" * MAX_STRING)

    assert watch.was_set


def test_the_program_s_title_is_known_however_it_was_set() -> None:
    watch = TitleWatch()

    watch.feed(b"x\x1b]0;one\x07\x1b]2;tw")
    assert watch.text == "one"
    watch.feed(b"o\x1b\\")
    assert watch.text == "two"
    watch.forget("two")
    assert not watch.was_set
    watch.tell("two")
    assert not watch.was_set
    watch.tell("three")
    assert watch.was_set
