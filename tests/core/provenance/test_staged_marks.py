"""What marks, modes and the shell's own word make of a line that stands typed."""

import pytest
from tests.core.provenance.test_staged import ANNA, BOT, LINES, cooked, prompt

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.core.provenance.staged import (
    MAX_PARTS,
    MAX_STAGED,
    Staged,
    StagedLine,
)

MANY = b"\r" * (MAX_PARTS + 1)


def test_only_the_key_behind_a_literal_next_is_text() -> None:
    assert cooked((BOT, b"rm\x16\x15\x15")).is_empty


def test_a_printable_character_may_be_special_amid_others() -> None:
    assert cooked((BOT, b"rm@x"), kill=ord("@")).data == b"x"
    assert cooked((BOT, b"rm#x"), erase=ord("#")).data == b"rx"


def test_a_line_that_is_a_guess_is_kept_when_the_kernel_hands_it_over() -> None:
    assert cooked((BOT, b"rm\x16\x15\r")) == Staged(b"rm\r", (BOT,), is_edited=True)


@pytest.mark.parametrize(
    ("key", "terminal"),
    [(b" x", LINES), (b"@", LineDiscipline(kill=ord("@")))],
)
def test_a_key_of_another_mode_makes_a_line_a_guess(
    key: bytes, terminal: LineDiscipline
) -> None:
    line = prompt((BOT, b"rm"))

    line.typed(ANNA, key, terminal, echo_off=False)

    text = b"" if key == b"@" else key
    assert line.stands() == Staged(b"rm" + text, (BOT, ANNA), is_edited=True)


def test_a_line_that_is_full_takes_no_more() -> None:
    line = prompt((BOT, b"x" * MAX_STAGED))

    line.typed(ANNA, b"yz", echo_off=False)

    assert line.stands() == Staged(b"x" * MAX_STAGED, (BOT, ANNA), is_edited=True)


def test_what_was_typed_while_a_command_ran_stands_at_the_next_prompt() -> None:
    line = prompt((BOT, b"sleep 1\r"))
    line.began("sleep 1")
    assert not line.is_fresh
    line.typed(BOT, b"a\rb", echo_off=False)

    line.ended()
    line.prompted()

    assert line.stands().data == b"a\rb"


def test_a_line_that_begins_without_a_key_is_not_fresh() -> None:
    line = prompt()

    line.began("fg")

    assert not line.is_fresh


def test_lines_that_cannot_be_counted_are_counted_again_from_one_that_is_known() -> (
    None
):
    line = prompt((BOT, MANY + b"x\rls\r"))
    line.began(None)
    assert line.stands().is_edited
    line.began("ls")
    assert line.stands().is_empty

    line.typed(BOT, b"!!\rrm x", echo_off=False)
    line.began(None)

    assert line.stands() == Staged(b"rm x", (BOT,))


def test_while_lines_cannot_be_counted_one_that_stands_typed_is_a_guess() -> None:
    line = prompt((BOT, MANY + b"\rls\rrm x"))

    line.began(None)
    line.began("ls")

    assert line.stands() == Staged(b"rm x", (BOT,), is_edited=True)


@pytest.mark.parametrize("is_told", [True, False])
def test_the_shell_s_own_word_and_a_drain_end_a_count_that_was_lost(
    *, is_told: bool
) -> None:
    line = prompt((BOT, MANY))
    if is_told:
        line.told(b"", ())
    else:
        line.prompted(is_drained=True)
    line.typed(BOT, b"ls\rrm x", echo_off=False)

    line.prompted()

    assert line.stands().data == b"rm x"


def test_what_the_shell_told_of_is_taken_over_by_the_one_who_enters_it() -> None:
    line = StagedLine()
    line.told(b"rm x", (BOT,))

    line.typed(ANNA, b"\r", echo_off=False)

    assert line.stands().by == (ANNA,)


def test_what_the_shell_told_of_is_no_line_of_the_kernel_s() -> None:
    line = prompt()
    line.told(b"rm x", (BOT,))

    line.typed(ANNA, b"\x15", LINES, echo_off=False)

    assert line.stands() == Staged(b"rm x", (BOT, ANNA), is_edited=True)


@pytest.mark.parametrize("key", [b"\x15", b"\x03"])
def test_the_kernel_throws_away_no_line_that_it_has_not_edited(key: bytes) -> None:
    for typed in (b"rm x", MANY):
        line = prompt((BOT, typed))

        line.typed(ANNA, key, LINES, echo_off=False)

        assert BOT in line.stands().by


@pytest.mark.parametrize("is_marked", [False, True])
def test_where_no_mark_will_come_an_interrupt_takes_over_what_was_entered(
    *, is_marked: bool
) -> None:
    line = prompt((BOT, b"cat\r")) if is_marked else StagedLine()
    line.began("cat")
    line.typed(BOT, b"rm x\r", echo_off=False)

    line.typed(ANNA, b"\x03", echo_off=False)

    assert line.stands().by == (ANNA,)


@pytest.mark.parametrize(
    ("kept", "more"),
    [(b"a\r" * (MAX_PARTS - 1), b"a\r"), (b"x" * MAX_STAGED + b"\r", b"y\r")],
)
def test_lines_are_told_apart_up_to_the_limit(kept: bytes, more: bytes) -> None:
    assert prompt((BOT, kept)).stands().data == kept
    assert prompt((BOT, kept + more)).stands().data == b""
