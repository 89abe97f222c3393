import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.provenance.entered_lines import (
    MAX_AUTHORS,
    MAX_LINES,
    NOBODY,
    SETTLED,
    EnteredLines,
    Instant,
    Press,
    distinct,
)
from holdfast.core.provenance.staged import Staged, StagedLine
from holdfast.model.ids import ActorId, actor_id

ANNA, BOT, CARL = (actor_id(bytes([number]) * 32) for number in (1, 2, 3))
NOON = Instant(1_000_000, 1000)
EDITED = Staged(b"[A", (), is_edited=True)


def line(text: bytes, *by: ActorId) -> Staged:
    return Staged(text, by)


def entered(*lines: tuple[ActorId, Staged]) -> EnteredLines:
    machine = EnteredLines()
    machine.prompted(0)
    for actor, one in lines:
        machine.entered(actor, [one], NOON, 0.1)
    return machine


def test_i1_a_line_that_was_typed_is_found_by_what_it_says() -> None:
    machine = entered((ANNA, line(b"ls ", ANNA)))

    assert machine.began("ls") == Press(ANNA, (ANNA,), NOON)


def test_i1_nobody_is_named_where_nobody_entered_anything() -> None:
    assert EnteredLines().began("ls") == NOBODY
    assert EnteredLines().began("") == NOBODY


def test_i3_whoever_pressed_return_is_not_an_author_of_anothers_line() -> None:
    machine = entered((ANNA, line(b"rm -rf /", BOT)))

    assert machine.began("rm -rf /") == Press(ANNA, (BOT,), NOON)


def test_i1_what_was_typed_ahead_is_not_taken_for_what_came_later() -> None:
    machine = entered((BOT, line(b"rm x", BOT)), (ANNA, line(b"ls", ANNA)))

    assert machine.began("rm x").trigger == BOT
    assert machine.began("ls").trigger == ANNA


def test_what_a_program_has_read_is_no_part_of_a_later_line() -> None:
    machine = entered((BOT, line(b"y", BOT)), (ANNA, line(b"ls", ANNA)))

    assert machine.began("ls") == Press(ANNA, (ANNA,), NOON)
    assert machine.waiting() == ()


@pytest.mark.parametrize(
    "told", ["for i in 1; do rm x; done", "for i in 1\ndo\nrm x\ndone"]
)
def test_a_command_of_several_lines_is_begun_by_whoever_entered_the_last(
    told: str,
) -> None:
    machine = entered(
        (BOT, line(b"for i in 1", BOT)),
        (BOT, line(b"do", BOT)),
        (BOT, line(b"", BOT)),
        (BOT, line(b"  rm x", BOT)),
        (ANNA, line(b"done", ANNA)),
        (CARL, line(b"ls", CARL)),
    )

    assert machine.began(told) == Press(ANNA, (BOT, ANNA), NOON)
    assert machine.waiting() == (CARL,)


def test_i2_an_edited_line_is_that_of_the_only_one_who_entered_any() -> None:
    machine = entered((ANNA, EDITED))

    assert machine.began("make") == Press(ANNA, (ANNA,), NOON)


@pytest.mark.parametrize("told", ["make", None])
def test_i2_of_several_who_may_be_meant_none_is_named(told: str | None) -> None:
    machine = entered((BOT, EDITED), (ANNA, EDITED))

    assert machine.began(told) == Press(None, (BOT, ANNA), NOON)


def test_i2_words_that_a_shell_does_not_put_between_lines_make_no_command() -> None:
    machine = entered((BOT, line(b"a", BOT)), (ANNA, line(b"b", ANNA)))

    assert machine.began("a x b").trigger is None


def test_what_was_typed_in_so_many_words_may_still_come() -> None:
    machine = entered((ANNA, line(b"make", ANNA)), (ANNA, line(b"!l", ANNA)))
    machine.began("ls")

    assert machine.began("make") == Press(ANNA, (ANNA,), NOON)
    assert machine.began("ls") == NOBODY


def test_what_has_not_begun_soon_after_a_prompt_was_read_by_a_program() -> None:
    machine = entered((BOT, line(b"y", BOT)))
    machine.prompted(10)
    machine.entered(ANNA, [EDITED], NOON, 10 + SETTLED)

    assert machine.began("make").trigger == ANNA


def test_i2_right_after_a_prompt_what_was_typed_ahead_may_be_meant() -> None:
    machine = entered((BOT, EDITED))
    machine.prompted(10)
    machine.entered(ANNA, [EDITED], NOON, 10 + SETTLED / 2)

    assert machine.began("make").trigger is None


def test_an_empty_line_is_nobodys_command() -> None:
    machine = entered((BOT, line(b"", BOT)))
    machine.prompted(1)
    machine.entered(ANNA, [EDITED], NOON, 1)

    assert machine.began("make").trigger == ANNA


def test_i2_a_line_typed_unseen_is_not_known_by_what_it_says() -> None:
    machine = entered((BOT, Staged(b"", (BOT,), hidden=4)), (ANNA, line(b"", ANNA)))

    assert machine.began("make").trigger is None


def test_what_is_forgotten_is_nobodys() -> None:
    machine = entered((BOT, line(b"ls", BOT)))
    machine.forget()

    assert machine.began("ls") == NOBODY


def test_i4_what_is_kept_is_bounded() -> None:
    machine = entered(*[(ANNA, line(b"%d" % n, ANNA)) for n in range(MAX_LINES + 1)])

    assert machine.began("0").since is not None
    actors = [actor_id(bytes([number]) * 32) for number in range(MAX_AUTHORS + 1)]
    assert len(distinct(actors)) == MAX_AUTHORS


typed = st.tuples(st.sampled_from([ANNA, BOT]), st.sampled_from([b"ls", b"x", b"\x10"]))


@given(
    st.lists(st.tuples(typed, st.booleans()), max_size=12),
    st.sampled_from([None, "ls", "x", "lsx"]),
)
def test_i1_i3_whoever_is_named_entered_something_and_every_typist_is_an_author(
    happened: list[tuple[tuple[ActorId, bytes], bool]], told: str | None
) -> None:
    staged, machine, pressed = StagedLine(), EnteredLines(), set[ActorId]()
    hands: set[ActorId] = set()
    for (actor, data), is_entered in happened:
        raw = data + b"\r" * is_entered
        machine.entered(actor, staged.typed(actor, raw, echo_off=False), NOON, 0)
        pressed |= {actor} if is_entered else set()
        hands |= {actor}
    press = machine.began(told)

    assert press.trigger is None or press.trigger in pressed
    assert set(press.authors) <= hands
    if len(pressed) == 1:
        assert press.trigger in pressed
