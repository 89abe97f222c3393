from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.prefix import Act, Action, Detach, Help, PrefixKeys, Press, Send

KEYS = st.lists(
    st.sampled_from(
        [b"\x1d", b"d", b"?", b"x", b"S", b"\x1b[200~", b"\x1b[201~", b"\x1b["]
    )
).map(b"".join)


def joined(actions: list[Action]) -> list[Action]:
    whole: list[Action] = []
    for action in actions:
        last = whole[-1] if whole else None
        if isinstance(action, Send) and isinstance(last, Send):
            whole[-1] = Send(last.data + action.data)
        else:
            whole.append(action)
    return whole


def test_d_after_the_prefix_detaches_and_the_rest_is_nobodys() -> None:
    assert PrefixKeys().typed(b"ls\r\x1ddrm") == [Send(b"ls\r"), Detach()]


def test_a_question_mark_after_the_prefix_helps() -> None:
    assert PrefixKeys().typed(b"a\x1d?b") == [Send(b"a"), Help(), Send(b"b")]


@pytest.mark.parametrize("act", Act)
def test_each_act_has_its_key(act: Act) -> None:
    keys = b"a\x1d%sb" % act.value.encode()

    assert PrefixKeys().typed(keys) == [Send(b"a"), Press(act), Send(b"b")]
    assert PrefixKeys().typed(act.value.encode()) == [Send(act.value.encode())]


def test_no_act_hides_another_key() -> None:
    assert len({act.value for act in Act} | set("dDh?")) == len(Act) + 4


def test_the_prefix_twice_sends_it_once() -> None:
    assert joined(PrefixKeys().typed(b"a\x1d\x1db")) == [Send(b"a\x1db")]


def test_any_other_key_goes_through_without_the_prefix() -> None:
    assert joined(PrefixKeys().typed(b"\x1dxd")) == [Send(b"xd")]


def test_a_pasted_prefix_is_pasted_and_not_obeyed() -> None:
    paste = b"\x1b[200~a\x1ddb\x1b[201~"
    keys = PrefixKeys()

    assert joined(keys.typed(paste)) == [Send(paste)]
    assert keys.typed(b"\x1dd") == [Detach()]


def test_nothing_typed_is_nothing_to_do() -> None:
    assert PrefixKeys().typed(b"") == []


@given(st.binary().filter(lambda keys: 0x1D not in keys))
def test_i1_without_a_prefix_everything_goes_through(keys: bytes) -> None:
    assert PrefixKeys().typed(keys) == ([Send(keys)] if keys else [])


@given(KEYS, st.lists(st.integers(0, 60)))
def test_i2_where_the_bytes_are_cut_does_not_matter(
    keys: bytes, cuts: list[int]
) -> None:
    whole = PrefixKeys().typed(keys)
    machine = PrefixKeys()
    actions: list[Action] = []
    marks = [0, *sorted(cuts), len(keys)]
    for begin, end in pairwise(marks):
        if Detach() not in actions:
            actions += machine.typed(keys[begin:end])

    assert joined(actions) == joined(whole)
