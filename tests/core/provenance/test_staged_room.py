"""Who shaped a line, and what is forgotten of lines that were taken."""

from tests.core.provenance.test_staged import ANNA, BOT, cooked, prompt

from holdfast.core.provenance.staged import MAX_STAGED, Staged


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
