import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.staged import MAX_STAGED, Staged, StagedLine
from holdfast.model.ids import ActorId, actor_id

ANNA, BOT = actor_id(b"\1" * 32), actor_id(b"\2" * 32)


def staged(*typed: tuple[ActorId, bytes]) -> Staged:
    line = StagedLine()
    for actor, data in typed:
        line.typed(actor, data, echo_off=False)
    return line.stands()


def test_nothing_is_staged_at_first() -> None:
    assert staged().is_empty


def test_i1_what_was_typed_since_the_line_end_is_staged_with_who_typed_it() -> None:
    found = staged((ANNA, b"ls\r"), (BOT, b"rm "), (ANNA, b"-rf"))

    assert (found.data, found.by) == (b"rm -rf", (BOT, ANNA))


def test_i1_each_byte_has_its_owner() -> None:
    line = StagedLine()
    line.typed(BOT, b"rm", echo_off=False)
    line.typed(ANNA, b" x", echo_off=False)

    assert line.owners() == (BOT, BOT, ANNA, ANNA)


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\x03", b"\x04", b"\x15", b"\x1c"])
def test_i1_an_entered_or_dropped_line_is_staged_no_more(end: bytes) -> None:
    assert staged((BOT, b"\x1brm \xc3\xa9" + end)).is_empty


@pytest.mark.parametrize("erase", [b"\x7f", b"\x08"])
def test_an_erase_takes_the_last_character_back(erase: bytes) -> None:
    found = staged((BOT, "ré".encode()), (ANNA, erase), (ANNA, b"m"))

    assert (found.data, found.by) == (b"rm", (BOT, ANNA))


def test_an_erase_of_nothing_does_nothing() -> None:
    assert staged((BOT, b"\x7f")).is_empty


@pytest.mark.parametrize("edit", [b"\x1b[D", b"\x01", b"\t"])
def test_other_editing_makes_the_line_a_guess(edit: bytes) -> None:
    found = staged((BOT, b"ab" + edit))

    assert found.is_edited
    assert not found.is_empty


def test_i1_what_is_typed_without_echo_is_counted_and_not_kept() -> None:
    line = StagedLine()
    line.typed(BOT, b"secret", echo_off=True)

    assert line.stands() == Staged(by=(BOT,), hidden=6)
    assert not line.stands().is_empty

    line.typed(BOT, b"\r", echo_off=True)

    assert line.stands().is_empty


def test_i2_no_more_is_kept_than_a_line_holds() -> None:
    found = staged((BOT, b"x" * (MAX_STAGED + 1)))

    assert (len(found.data), found.is_edited) == (MAX_STAGED, True)


@given(
    st.lists(
        st.tuples(st.sampled_from([ANNA, BOT]), st.binary(max_size=8), st.booleans())
    )
)
def test_i1_whatever_is_typed_every_kept_byte_has_one_owner(
    typed: list[tuple[ActorId, bytes, bool]],
) -> None:
    line = StagedLine()
    for actor, data, echo_off in typed:
        line.typed(actor, data, echo_off=echo_off)

    assert len(line.owners()) == len(line.stands().data)
    assert set(line.owners()) <= set(line.stands().by)


def test_i1_what_a_line_end_enters_is_told_with_who_typed_it() -> None:
    line = StagedLine()
    line.typed(BOT, b"rm ", echo_off=False)

    entered = line.typed(ANNA, b"x\rls\ncd", echo_off=False)
    assert entered == [Staged(b"rm x", (BOT, ANNA)), Staged(b"ls", (ANNA,))]
    assert line.stands() == Staged(b"cd", (ANNA,))


def test_i1_what_is_dropped_is_not_entered() -> None:
    assert StagedLine().typed(ANNA, b"rm\x03", echo_off=False) == []


@pytest.mark.parametrize("shaping", [b"\x7f", b"\x10", b"\t"])
def test_i3_whoever_shaped_a_line_of_another_is_named(shaping: bytes) -> None:
    found = staged((BOT, b"rm x"), (ANNA, shaping))

    assert found.by == (BOT, ANNA)


def test_i3_whoever_typed_into_a_line_unseen_is_named() -> None:
    line = StagedLine()
    line.typed(BOT, b"secret", echo_off=True)

    assert line.typed(ANNA, b"\r", echo_off=False) == [Staged(b"", (BOT,), hidden=6)]


def test_i3_a_shaper_of_one_line_is_none_of_the_next() -> None:
    assert staged((BOT, b"\x10\r"), (ANNA, b"ls")).by == (ANNA,)
