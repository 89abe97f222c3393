import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.state_fields import fields

from holdfast.core.shell.shell_state import ItemKind, ShellState
from holdfast.core.shell.state_messages import (
    MAX_MESSAGE,
    MAX_WAITING,
    UNKNOWN,
    StateMessages,
)

KEY = b"0123456789abcdef" * 2
OTHER = b"f" * 32


def message(
    number: int, *options: bytes, key: bytes = KEY, count: int | None = None
) -> bytes:
    body = fields(b"o" + one for one in options)
    said = len(options) if count is None else count
    return b"holdfast-state 1 %s %d\0%send %s %d\0" % (key, number, body, key, said)


def options(found: object) -> list[str]:
    assert isinstance(found, ShellState), found
    return [item.name for item in found.items if item.kind is ItemKind.OPTION]


def test_a_prompt_is_told_what_its_message_said_i3() -> None:
    messages = StateMessages(KEY)
    assert messages.is_wanted
    messages.feed(message(1, b"posix"))

    assert options(messages.prompted(1)) == ["posix"]
    assert not messages.is_wanted
    assert messages.prompted(1) is None


def test_prompts_that_are_read_late_have_their_own_states_i3() -> None:
    messages = StateMessages(KEY)
    messages.feed(message(1, b"a") + message(2, b"b") + message(3, b"c"))

    assert options(messages.prompted(1)) == ["a"]
    assert messages.prompted(1) is None
    assert options(messages.prompted(3)) == ["c"]
    assert messages.prompted(2) is UNKNOWN


@pytest.mark.parametrize("number", [0, 2])
def test_a_prompt_without_its_message_leaves_the_state_unknown(number: int) -> None:
    messages = StateMessages(KEY)
    messages.feed(message(1, b"a"))
    messages.prompted(1)

    assert messages.prompted(number) is UNKNOWN
    assert messages.is_wanted
    assert messages.prompted(1) is UNKNOWN


@pytest.mark.parametrize(
    "forged",
    [
        message(2, b"evil", key=OTHER),
        b"holdfast-state 1 %s 2\0oevil\0end %s 1\0" % (OTHER, KEY),
        b"oevil\0end %s 1\0" % KEY,
        b"\xff" * 100_000,
        b"holdfast-state 1 " + KEY,
        b"holdfast-state 1 %s 12345678901\0" % KEY,
    ],
)
def test_without_the_key_nothing_comes_of_it_i1(forged: bytes) -> None:
    messages = StateMessages(KEY)
    messages.feed(forged + message(1, b"a") + forged + message(2, b"b"))

    assert options(messages.prompted(1)) == ["a"]
    assert options(messages.prompted(2)) == ["b"]


@pytest.mark.parametrize(
    "spoiled",
    [
        message(2, b"a", b"b").replace(b"oa\0", b"oa\0oevil\0"),
        message(2, b"a", b"b").replace(b"oa\0", b"garbage\0"),
        message(2, b"a", b"b").replace(b"oa\0", b""),
        message(2, b"a", count=7),
        message(2),
        message(2, b"a")[:-5],
    ],
)
def test_what_was_spoiled_is_unknown_and_not_what_was_before(spoiled: bytes) -> None:
    messages = StateMessages(KEY)
    messages.feed(message(1, b"before"))
    messages.prompted(1)
    messages.feed(spoiled)

    assert messages.prompted(2) is UNKNOWN
    messages.feed(message(3, b"after"))
    assert options(messages.prompted(3)) == ["after"]


def test_no_more_is_held_than_a_message_may_have_i4() -> None:
    messages = StateMessages(KEY)
    endless = message(1, b"x" * (MAX_MESSAGE + 1000))
    messages.feed(endless[:1000])
    messages.feed(endless[1000:-500])

    messages.feed(endless[-500:])
    assert messages.prompted(1) is UNKNOWN
    messages.feed(message(2, b"a"))
    assert options(messages.prompted(2)) == ["a"]


def test_of_many_messages_the_last_ones_wait_i4() -> None:
    messages = StateMessages(KEY)
    for number in range(1, MAX_WAITING + 2):
        messages.feed(message(number, b"%d" % number))

    assert messages.prompted(1) is UNKNOWN
    assert options(messages.prompted(2)) == ["2"]


@given(
    st.lists(
        st.one_of(
            st.integers(1, 4).map(lambda one: message(one, b"x%d" % one)),
            st.binary(max_size=20),
        ),
        max_size=6,
    ),
    st.data(),
)
def test_however_it_is_cut_the_same_comes_out_i2(
    parts: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(parts)
    cut = data.draw(st.integers(0, len(stream)))
    whole, halves = StateMessages(KEY), StateMessages(KEY)
    whole.feed(stream)
    halves.feed(stream[:cut])
    halves.feed(stream[cut:])

    for number in range(5):
        assert whole.prompted(number) == halves.prompted(number)


def test_another_process_goes_on_where_one_was() -> None:
    first, second = StateMessages(KEY), StateMessages(KEY)
    begun = message(2, b"later")
    first.feed(message(1, b"posix") + begun[:9])
    first.prompted(1)

    second.go_on(*first.past())
    second.feed(begun[9:])

    assert not second.is_wanted
    assert second.prompted(1) is None
    assert options(second.prompted(2)) == ["later"]


def test_who_goes_on_from_nothing_wants_everything() -> None:
    messages = StateMessages(KEY)

    messages.go_on(*StateMessages(KEY).past())

    assert messages.is_wanted


def test_it_is_settled_unless_a_message_has_begun_or_waits_for_its_prompt() -> None:
    messages = StateMessages(KEY)
    assert messages.is_settled
    messages.feed(b"whatever somebody else writes")
    assert messages.is_settled
    messages.feed(message(1, b"posix")[:-1])
    assert not messages.is_settled
    messages.feed(b"\0")
    assert not messages.is_settled
    messages.prompted(1)
    assert messages.is_settled
