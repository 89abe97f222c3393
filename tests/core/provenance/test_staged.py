import pytest

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.core.provenance.staged import MAX_PARTS, Staged, StagedLine
from holdfast.model.ids import ActorId, actor_id

ANNA, BOT = actor_id(b"\1" * 32), actor_id(b"\2" * 32)
LINES = LineDiscipline()


def prompt(*typed: tuple[ActorId, bytes]) -> StagedLine:
    """Return what stands at the prompt of a shell with marks and a line editor."""
    line = StagedLine(is_marked=True)
    line.prompted()
    for actor, data in typed:
        line.typed(actor, data, echo_off=False)
    return line


def staged(*typed: tuple[ActorId, bytes]) -> Staged:
    return prompt(*typed).stands()


def cooked(*typed: tuple[ActorId, bytes], **special: int) -> Staged:
    """Return what stands typed where the kernel edits lines."""
    line, terminal = StagedLine(), LineDiscipline(**special)  # type: ignore[arg-type]
    for actor, data in typed:
        line.typed(actor, data, terminal, echo_off=False)
    return line.stands()


def test_nothing_is_staged_at_first() -> None:
    assert staged().is_empty


def test_a_line_is_fresh_from_a_prompt_to_the_first_key() -> None:
    line = StagedLine()
    line.typed(ANNA, b"", echo_off=False)
    assert not line.is_fresh
    line.prompted()
    line.typed(ANNA, b"", echo_off=False)
    assert line.is_fresh
    line.typed(ANNA, b"x", echo_off=False)
    assert not line.is_fresh


def test_i1_what_was_typed_is_staged_with_who_typed_it() -> None:
    found = staged((BOT, b"rm "), (ANNA, b"-rf"))

    assert found == Staged(b"rm -rf", (BOT, ANNA))


def test_i1_each_byte_has_its_owner() -> None:
    line = prompt((BOT, b"rm"), (ANNA, b" x"))

    assert line.owners() == (BOT, BOT, ANNA, ANNA)


# ── a line editor: nothing but a mark forgets ─────────────────────────────────


@pytest.mark.parametrize("byte", range(256))
def test_i4_no_key_makes_an_editor_s_line_forgotten(byte: int) -> None:
    line = prompt((BOT, b"rm x"), (ANNA, bytes([byte])))

    assert not line.stands().is_empty
    assert BOT in line.stands().by
    assert line.stands().data.startswith(b"rm ")


@pytest.mark.parametrize(
    "keys",
    [
        b"\x01\x15",
        b"\x16\x15",
        b"\x16\r",
        b"\x1b[200~\r\x1b[201~",
        b"\x12",
        b"\x18\x05",
        b"\x1bq",
        b"\x1b#",
        b"\x0f",
        b"\x03",
        b"\x04",
        b"\x1f",
        b"\x19",
        b"\r",
        b"\t",
    ],
)
def test_i4_what_an_editor_was_given_is_edited_and_kept(keys: bytes) -> None:
    found = staged((BOT, b"rm x" + keys))

    assert found.is_edited
    assert found.data.startswith(b"rm x")
    assert found.by == (BOT,)


@pytest.mark.parametrize("key", [b"\x10", b"\x12", b"\x1b", b"\t", b"\x7f", b"\0"])
def test_a_key_that_may_bring_a_line_up_leaves_none_empty(key: bytes) -> None:
    assert not staged((BOT, key)).is_empty


@pytest.mark.parametrize("erase", [b"\x7f", b"\x08"])
def test_an_erase_is_followed_and_still_a_guess(erase: bytes) -> None:
    found = staged((BOT, "ré".encode()), (ANNA, erase), (ANNA, b"m"))

    assert (found.data, found.by) == (b"rm", (BOT, ANNA))
    assert (found.is_edited, found.is_erased) == (True, True)


def test_i3_whoever_took_all_of_it_back_is_named_with_nobody_forgotten() -> None:
    found = staged((BOT, b"r\x7f"))

    assert (found.data, found.by, found.is_empty) == (b"", (BOT,), False)


@pytest.mark.parametrize("erase", [b"\x08", b"\x7f"])
def test_whose_text_somebody_else_erased_is_still_named(erase: bytes) -> None:
    line = StagedLine(is_marked=True)
    line.prompted()
    line.typed(BOT, b"rm", echo_off=False)

    line.typed(ANNA, erase * 2, echo_off=False)

    assert set(line.stands().by) == {ANNA, BOT}


def test_an_erased_line_that_was_edited_too_is_a_guess() -> None:
    assert not staged((BOT, b"ab\x7f\x01")).is_erased


def test_a_prompt_forgets_the_line_that_was_entered() -> None:
    line = prompt((BOT, b"rm x\r"))

    line.prompted()

    assert line.stands().is_empty
    assert line.is_fresh


def test_a_prompt_forgets_one_line_for_one_key_that_may_have_ended_it() -> None:
    line = prompt((BOT, b"\rrm x\x16\r"))

    line.prompted()

    assert line.stands() == Staged(b"rm x\r", (BOT,), is_edited=True)


def test_i4_a_prompt_that_no_key_led_to_forgets_nothing() -> None:
    line = prompt((BOT, b"rm x"))

    line.prompted()

    assert line.stands() == Staged(b"rm x", (BOT,), is_edited=True)


def test_a_prompt_with_nothing_left_to_be_read_forgets_everything() -> None:
    line = prompt((BOT, b"rm x"))

    line.prompted(is_drained=True)

    assert line.stands().is_empty


def test_a_line_that_begins_is_forgotten_with_those_before_it() -> None:
    line = prompt((BOT, b"\x16\rls\rpwd\rcd"))

    line.began("ls")

    assert line.stands() == Staged(b"pwd\rcd", (BOT,), is_edited=True)


@pytest.mark.parametrize(("key", "echo_off"), [(b"\x01", False), (b"x", True)])
def test_a_line_that_is_a_guess_is_not_taken_for_the_one_that_begins(
    key: bytes, *, echo_off: bool
) -> None:
    line = prompt((BOT, b"ls"))
    line.typed(BOT, key, echo_off=echo_off)
    line.typed(BOT, b"\rls\rpwd", echo_off=False)

    line.began("ls")

    assert line.stands().data == b"pwd"


def test_several_lines_that_make_one_command_are_forgotten_together() -> None:
    line = prompt((BOT, b"for x in 1; do\recho $x\rdone\rls"))

    line.began("for x in 1; do\necho $x\ndone")

    assert line.stands().data == b"ls"


@pytest.mark.parametrize("told", [None, "something else"])
def test_a_line_that_is_not_told_is_the_first(told: str | None) -> None:
    line = prompt((BOT, b"!!\rrm x"))

    line.began(told)

    assert line.stands().data == b"rm x"


def test_i4_a_line_that_an_unknown_key_has_entered_is_kept() -> None:
    line = prompt((BOT, b"rm x\x0f"))

    line.began("rm x")
    line.ended()
    line.prompted()

    assert line.stands() == Staged(b"rm x", (BOT,), is_edited=True)


def test_what_was_typed_ahead_stands_at_the_next_prompt() -> None:
    line = prompt((BOT, b"sleep 1\r"))
    line.began("sleep 1")
    line.typed(BOT, b"rm x", LINES, echo_off=False)

    line.ended(is_drained=True)  # The kernel does not count an unfinished line.
    line.prompted()

    assert line.stands() == Staged(b"rm x", (BOT,), is_edited=True)


def test_what_a_program_was_given_is_forgotten_only_if_nothing_was_left() -> None:
    for is_drained in (True, False):
        line = prompt((BOT, b"vi\r"))
        line.began("vi")
        line.typed(BOT, b":q\rrm x\x16\r", echo_off=False)

        line.ended(is_drained=is_drained)
        line.prompted()

        assert line.stands().is_empty is is_drained


def test_the_shell_s_own_word_counts() -> None:
    line = prompt((ANNA, b"ls\x1bq"))

    line.told(b"rm x", (BOT, ANNA))

    assert line.stands() == Staged(b"rm x", (BOT, ANNA), is_edited=True)
    assert line.owners() == (BOT,) * 4
    line.told(b"", ())
    assert line.stands().is_empty


def test_what_the_shell_has_and_nobody_is_known_to_have_typed_is_not_empty() -> None:
    line = prompt()

    line.told(b"rm x", ())

    assert line.stands() == Staged(is_edited=True)


# ── the kernel: exactly ───────────────────────────────────────────────────────


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\x03", b"\x15", b"\x1c"])
def test_what_the_kernel_has_handed_over_or_thrown_away_is_gone(end: bytes) -> None:
    assert cooked((BOT, b"rm \xc3\xa9" + end)).is_empty


@pytest.mark.parametrize("keys", [b"\x16\x15", b"\x16\r", b"\x16\x03"])
def test_what_follows_a_literal_next_is_text(keys: bytes) -> None:
    found = cooked((BOT, b"rm" + keys))

    assert (found.data, found.is_edited) == (b"rm", True)


def test_a_character_that_was_switched_off_does_nothing() -> None:
    assert cooked((BOT, b"rm x\x15"), kill=0).data == b"rm x"
    assert cooked((BOT, b"rm x\x18"), kill=0x18).is_empty


def test_a_word_is_taken_back_as_the_kernel_does_it() -> None:
    assert cooked((BOT, b"rm  foo b_r- \x17")).data == b"rm  foo "
    assert cooked((BOT, b"rm  foo \x17\x17")).is_empty
    assert cooked((BOT, "rm é\x17".encode())).is_edited


def test_what_the_kernel_erases_is_no_guess() -> None:
    found = cooked((BOT, "ré".encode()), (ANNA, b"\x7fm"), utf8=True)

    assert found == Staged(b"rm", (BOT, ANNA))
    assert cooked((BOT, "é\x7f".encode())).data == b"\xc3"
    assert cooked((BOT, b"\x7f")).is_empty


def test_a_quiet_signal_leaves_what_was_typed() -> None:
    found = cooked((BOT, b"rm x\x03"), keeps=True)

    assert (found.data, found.by) == (b"rm x\r", (BOT,))


def test_a_byte_that_the_kernel_hands_on_ends_no_line_of_its() -> None:
    found = cooked((BOT, b"rm x\r"), cr_to_nl=False)

    assert (found.data, found.is_edited) == (b"rm x", True)


@pytest.mark.parametrize("line", [b"rm x \\", b"echo '", b"for a in b", b"rm x &&"])
def test_a_line_that_may_go_on_is_kept(line: bytes) -> None:
    found = cooked((BOT, line + b"\r"))

    assert (found.data, found.by) == (line + b"\r", (BOT,))
    assert found.is_edited


def test_what_was_handed_over_without_an_end_waits_for_one_at_its_reader() -> None:
    assert cooked((BOT, b"rm x\x04")) == Staged(b"rm x\r", (BOT,), is_edited=True)
    assert cooked((BOT, b"\x04")).is_empty


def test_an_empty_line_that_is_handed_over_leaves_nothing_behind() -> None:
    assert cooked((BOT, b"\x04" * (MAX_PARTS + 1))).is_empty


@pytest.mark.parametrize("key", [b"\x15", b"\x17"])
def test_a_line_that_two_have_edited_is_a_guess(key: bytes) -> None:
    line = StagedLine()
    line.typed(BOT, b"rm", LINES, echo_off=False)
    line.typed(ANNA, b" x", echo_off=False)
    line.typed(ANNA, key, LINES, echo_off=False)

    assert line.stands() == Staged(b"rm x", (BOT, ANNA), is_edited=True)


# ── where no mark will come ───────────────────────────────────────────────────


@pytest.mark.parametrize("key", [b"\r", b"\x03"])
def test_whoever_enters_or_gives_up_another_s_line_takes_it_over(key: bytes) -> None:
    line = StagedLine()
    line.typed(BOT, b"rm x\r", echo_off=False)
    assert line.stands().by == (BOT,)

    line.typed(ANNA, b"ls" + key, echo_off=False)

    assert line.stands() == Staged(b"\r", (ANNA,), is_edited=True)


def test_a_key_that_interrupts_is_known_where_the_terminal_makes_no_signal() -> None:
    raw = LineDiscipline(canonical=False, echo=False, signals=False)
    line = StagedLine()
    line.typed(BOT, b"rm x", raw, echo_off=False)

    line.typed(ANNA, b"\x03", raw, echo_off=False)

    assert line.stands().by == (ANNA,)


def test_nobody_takes_over_their_own() -> None:
    line = StagedLine()
    line.typed(BOT, b"rm x\rls\r", echo_off=False)

    assert line.stands() == Staged(b"rm x\rls\r", (BOT,), is_edited=True)


def test_at_a_prompt_with_marks_nobody_takes_over() -> None:
    found = staged((BOT, b"rm x\x16\r"), (ANNA, b"ls\r"))

    assert found.by == (BOT, ANNA)


def test_i3_who_shaped_a_line_that_nobody_can_tell_is_named_until_a_mark() -> None:
    line = prompt((ANNA, b"ls"))
    line.shaped(())
    assert not line.stands().is_edited

    line.shaped((BOT,))

    assert line.stands() == Staged(b"ls", (ANNA, BOT), is_edited=True)
    line.typed(ANNA, b"\r", echo_off=False)
    line.began("ls")
    assert line.stands().is_empty


def test_a_line_that_the_kernel_threw_away_is_nobody_s_to_answer_for() -> None:
    line = StagedLine()
    line.typed(BOT, b"rm -rf x\x03", LINES, echo_off=False)
    raw = LineDiscipline(canonical=False)
    line.typed(ANNA, b"ls\r", raw, echo_off=False)

    assert line.stands().by == (ANNA,)


def test_everybody_who_ever_typed_is_remembered() -> None:
    line = StagedLine(is_marked=True)
    line.typed(ANNA, b"ls\r", echo_off=False)
    line.prompted(is_drained=True)

    line.shaped((BOT,))
    line.told(b"", ())

    assert line.stands().is_empty
    assert list(line.typists) == [ANNA, BOT]
