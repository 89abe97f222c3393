import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.holder.input.payloads import (
    MAX_LINE,
    check,
    signal_of,
    size_of,
    staged_after,
)
from holdfast.model.errors import LineTooLong, UsageError
from holdfast.model.geometry import Size
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind


def an_input(kind: InputKind, payload: bytes) -> Input:
    known = InputId(ClientId("c"), 1)
    return Input(known, ActorId("a"), kind, Incarnation(1), Epoch(1), payload)


def test_a_size_and_a_signal_are_read() -> None:
    assert size_of(b"120x40") == Size(120, 40)
    assert signal_of(b"15") == 15


@pytest.mark.parametrize(
    "payload",
    [b"", b"x", b"0x0", b"80", b"80x", b"65535x65535", b"1001x1", b"8 0x24", b"-1x5"],
)
def test_what_is_no_size_is_refused(payload: bytes) -> None:
    with pytest.raises(UsageError):
        check(an_input(InputKind.RESIZE, payload), is_canonical=False)


@pytest.mark.parametrize("payload", [b"", b"0", b"65", b"-9", b"KILL", b"9\n", b"999"])
def test_what_is_no_signal_is_refused(payload: bytes) -> None:
    with pytest.raises(UsageError):
        check(an_input(InputKind.SIGNAL, payload), is_canonical=False)


def test_f39_a_line_the_terminal_would_cut_is_refused_and_not_cut() -> None:
    whole = an_input(InputKind.KEYS, b"a" * MAX_LINE + b"\r" + b"b" * MAX_LINE)
    cut = an_input(InputKind.KEYS, b"a" * (MAX_LINE + 1) + b"\r")

    check(whole, is_canonical=True)
    check(cut, is_canonical=False)
    with pytest.raises(LineTooLong):
        check(cut, is_canonical=True)


@given(st.sampled_from(InputKind), st.binary(max_size=64))
def test_no_bytes_do_anything_but_pass_or_be_refused(
    kind: InputKind, payload: bytes
) -> None:
    with contextlib.suppress(UsageError):
        check(an_input(kind, payload), is_canonical=True)


def test_a_line_that_grows_too_long_over_several_inputs_is_refused() -> None:
    staged = staged_after(staged_after(0, b"ls\r" + b"x" * 4000), b"y" * 90)

    check(an_input(InputKind.KEYS, b"z" * 5), is_canonical=True, staged=staged)
    with pytest.raises(LineTooLong):
        check(an_input(InputKind.KEYS, b"z" * 6), is_canonical=True, staged=staged)
    check(an_input(InputKind.KEYS, b"z" * 6), is_canonical=False)


@pytest.mark.parametrize("key", [b"\r", b"\x03", b"\x15", b"\x7f"])
def test_a_control_key_passes_however_long_the_line_is(key: bytes) -> None:
    check(an_input(InputKind.KEYS, key), is_canonical=True, staged=MAX_LINE)

    assert staged_after(MAX_LINE, key) == 0


@pytest.mark.parametrize("before", [b"\r", b"ls\r", b"ls\n", b"\x04"])
def test_a_line_after_another_one_is_not_cut_either(before: bytes) -> None:
    cut = an_input(InputKind.KEYS, before + b"a" * (MAX_LINE + 1))
    whole = an_input(InputKind.KEYS, before + b"a" * MAX_LINE)

    check(whole, is_canonical=True)
    with pytest.raises(LineTooLong):
        check(cut, is_canonical=True)
