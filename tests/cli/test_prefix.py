from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.prefix import (
    Act,
    Action,
    Detach,
    Go,
    Look,
    Move,
    PrefixKeys,
    Press,
    Send,
    Sight,
)
from holdfast.model.config_file import read_config
from holdfast.model.settings import KEYS as NAMES
from holdfast.model.settings import Settings

KEYS = st.lists(
    st.sampled_from(
        [b"\x1d", b"d", b"n", b"x", b"S", b"\x1b[200~", b"\x1b[201~", b"\x1b["]
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


def all_of(machine: PrefixKeys, keys: bytes) -> list[Action]:
    """Return all actions, as if whatever a key led to had taken none of the rest."""
    actions: list[Action] = []
    while keys:
        *before, last = machine.typed(keys) or [Send(b"")]
        keys = last.rest if isinstance(last, Move) else b""
        last = Move(last.go) if isinstance(last, Move) else last
        actions += [one for one in (*before, last) if one != Send(b"")]
    return actions


def test_d_after_the_prefix_detaches_and_the_rest_is_nobodys() -> None:
    assert PrefixKeys().typed(b"ls\r\x1ddrm") == [Send(b"ls\r"), Detach()]


@pytest.mark.parametrize("go", Go)
def test_a_key_leads_elsewhere_and_the_rest_is_for_there(go: Go) -> None:
    key = NAMES[go.value].encode()

    assert PrefixKeys().typed(b"a\x1d%sb\x1dd" % key) == [
        Send(b"a"),
        Move(go, b"b\x1dd"),
    ]


@pytest.mark.parametrize("act", Act)
def test_each_act_has_its_key(act: Act) -> None:
    key = NAMES[act.value].encode()

    assert PrefixKeys().typed(b"a\x1d%sb" % key) == [Send(b"a"), Press(act), Send(b"b")]
    assert PrefixKeys().typed(key) == [Send(key)]


@pytest.mark.parametrize("sight", Sight)
def test_each_sight_has_its_key(sight: Sight) -> None:
    key = NAMES[sight.value].encode()

    assert PrefixKeys().typed(b"\x1d%sb" % key) == [Look(sight), Send(b"b")]


def test_everything_that_has_a_key_is_done() -> None:
    done = (one.value for kind in (Go, Act, Sight) for one in kind)
    assert {*NAMES} == {"detach", *done}


def test_the_settings_say_which_keys() -> None:
    settings, _ = read_config(b'prefix = "C-a"\n[keys]\nnext = "Space"\nwho = ""\n')
    keys = PrefixKeys(settings)

    assert keys.typed(b"\x1d") == [Send(b"\x1d")]
    assert keys.typed(b"\x01 ") == [Move(Go.NEXT)]
    assert joined(keys.typed(b"\x01w\x01\x01")) == [Send(b"w\x01")]
    assert keys.typed(b"\x01d") == [Detach()]


@pytest.mark.parametrize(
    "prefix", [b"\x1b[93;5u", b"\x1b[93;5:1u", b"\x1b[93;69u", b"\x1b[27;5;93~"]
)
def test_a_prefix_that_comes_as_a_sequence_is_one(prefix: bytes) -> None:
    assert PrefixKeys().typed(prefix + b"d") == [Detach()]
    keys = PrefixKeys()
    assert keys.typed(b"x" + prefix) == [Send(b"x")]
    assert keys.typed(b"d") == [Detach()]
    pasted = b"\x1b[200~" + prefix
    assert joined(keys.typed(b"\x1b[200~") + keys.typed(prefix)) == [Send(pasted)]


def test_other_sequences_are_not_the_prefix() -> None:
    for other in (b"\x1b[93u", b"\x1b[93;6u", b"\x1b[94;5u", b"\x1b[27;6;93~"):
        assert PrefixKeys().typed(other) == [Send(other)]
    settings = Settings()
    settings.prefix = 0
    assert PrefixKeys(settings).typed(b"\x1b[32;5ud") == [Detach()]


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
    whole = all_of(PrefixKeys(), keys)
    machine = PrefixKeys()
    actions: list[Action] = []
    marks = [0, *sorted(cuts), len(keys)]
    for begin, end in pairwise(marks):
        if Detach() not in actions:
            actions += all_of(machine, keys[begin:end])

    assert joined(actions) == joined(whole)


def test_which_keys_may_mean_something_is_known_before_they_come() -> None:
    keys = PrefixKeys()
    assert keys.stops == b"\x1d\x1b"

    for key in range(256):
        if bytes([key]) not in keys.stops:
            assert keys.typed(bytes([key])) == [Send(bytes([key]))]
            assert keys.stops == b"\x1d\x1b"


@pytest.mark.parametrize("before", [b"\x1d", b"\x1b[200~", b"\x1b"])
def test_after_some_any_key_may(before: bytes) -> None:
    keys = PrefixKeys()
    keys.typed(before)

    assert keys.stops is None
