"""Who shaped a line, what is kept of it, and what is forgotten when it was taken."""

import pytest
from tests.core.provenance.test_staged import (
    ANNA,
    BOT,
    LINES,
    cooked,
    prompt,
    staged,
)

from holdfast.core.provenance.staged import (
    MAX_PARTS,
    MAX_STAGED,
    Staged,
    StagedLine,
)


def test_i4_lines_that_the_shell_has_taken_use_up_no_room() -> None:
    line = prompt()
    text = "x" * 100
    for _ in range(MAX_STAGED // len(text) + 2):
        line.typed(ANNA, f"{text}\r".encode(), echo_off=False)
        line.began(text)
        line.prompted()
    line.typed(ANNA, b"one\r", echo_off=False)
    line.typed(BOT, b"two", echo_off=False)
    line.began("one")

    assert line.stands() == Staged(b"two", (BOT,))


def test_i1_whoever_takes_back_what_it_typed_itself_has_shaped_nothing() -> None:
    assert cooked((ANNA, b"a"), (BOT, b"b\x7f")) == Staged(b"a", (ANNA,))
    assert cooked((ANNA, b"ab"), (BOT, b"\x7f")) == Staged(b"a", (ANNA, BOT))


def test_i4_what_the_shell_began_and_nobody_ended_is_lost_and_stays() -> None:
    line = prompt((ANNA, b"two"))
    line.began("one")

    assert line.stands() == Staged(b"two", (ANNA,), is_edited=True)


def test_i1_what_is_typed_without_echo_is_counted_and_not_kept() -> None:
    line = StagedLine()
    line.typed(BOT, b"secret", LINES, echo_off=True)

    assert line.stands() == Staged(by=(BOT,), hidden=6)
    assert not line.stands().is_empty

    line.typed(BOT, b"\r", LINES, echo_off=True)

    assert line.stands().is_empty


def test_i3_whoever_typed_into_a_line_unseen_is_named() -> None:
    line = StagedLine()
    line.typed(BOT, b"secret", echo_off=True)

    assert line.typed(ANNA, b"\r", echo_off=False) == [Staged(b"", (BOT,), hidden=6)]


def test_what_the_terminal_swallows_is_nothing() -> None:
    assert staged((BOT, b"\x11")).is_empty


def test_i2_no_more_is_kept_than_a_line_holds() -> None:
    found = staged((BOT, b"x" * (MAX_STAGED + 1)))

    assert (len(found.data), found.is_edited) == (MAX_STAGED, True)


@pytest.mark.parametrize(
    "typed",
    [
        b"\r" * (MAX_PARTS + 1) + b"rm x\x16\r",
        (b"x" * 4000 + b"\r") * 2,
        (b"x" * 50 + b"\x03") * (2 * MAX_PARTS),
    ],
)
def test_i2_what_cannot_be_told_apart_is_given_up_but_not_who_typed_it(
    typed: bytes,
) -> None:
    line = prompt((BOT, typed))
    assert len(line.stands().data) <= MAX_STAGED

    for _ in range(2 * MAX_PARTS):
        line.prompted()

    assert line.stands().by == (BOT,)
    assert line.stands().is_edited


def test_i1_what_a_line_end_enters_is_told_with_who_typed_it() -> None:
    line = prompt((BOT, b"rm "))

    entered = line.typed(ANNA, b"x\rls\ncd", echo_off=False)

    assert entered == [Staged(b"rm x", (BOT, ANNA)), Staged(b"ls", (ANNA,))]
    assert line.stands().data == b"rm x\rls\rcd"


def test_i1_what_is_given_up_is_not_entered() -> None:
    assert StagedLine().typed(ANNA, b"rm\x03", echo_off=False) == []
