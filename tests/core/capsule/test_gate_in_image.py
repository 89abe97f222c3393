import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.capsule.criu_images import (
    CORE,
    FILTERS,
    GATE,
    SECCOMP,
    core,
    field,
    image,
    number,
)

from holdfast.core.capsule.gate_in_image import MAX_IMAGE, gate_filters, without_gate
from holdfast.model.errors import CriuFailed, HoldfastError, NotCheckpointable

ONLY_FIRST = [True, False, False, False]


def test_a_filter_is_the_gate_s_if_it_is_that_alone() -> None:
    assert gate_filters(FILTERS, GATE) == ONLY_FIRST


def test_the_gate_is_taken_out_and_nothing_else() -> None:
    gated, plain = core(2, 0, field(9, b"rest")), core(None, None, field(9, b"rest"))

    assert without_gate(gated, ONLY_FIRST) == plain, "G1"
    assert without_gate(plain, ONLY_FIRST) == plain, "G1"


@pytest.mark.parametrize("chosen", [1, 2, 3, 4, 2**32, None])
def test_a_process_with_a_filter_of_its_own_keeps_it_or_is_refused(
    chosen: int | None,
) -> None:
    with pytest.raises(NotCheckpointable, match="a filter"):
        without_gate(core(2, chosen), ONLY_FIRST)


def test_strict_filters_and_unknown_ones_are_refused() -> None:
    with pytest.raises(NotCheckpointable, match="strict"):
        without_gate(core(1), ONLY_FIRST)
    with pytest.raises(NotCheckpointable):
        without_gate(core(3, 0), ONLY_FIRST)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"short",
        core(2, 0)[:-1],
        core(2, 0) + b"x",
        image(SECCOMP, b""),
        image(CORE, b"\x80"),
        image(CORE, b"\xff" * 11),
        image(CORE, b"\x00\x00"),
        image(CORE, number(1 << 3 | 3)),
        image(CORE, number(1 << 3 | 2) + number(9) + b"short"),
        image(CORE, number(1 << 3 | 1) + b"short"),
        image(CORE, number(1 << 3 | 5) + b"4"),
        image(CORE, field(5, field(11, b"no number"))),
        image(CORE, field(5, field(12, b"no number"))),
        image(CORE, b"\x08\x01" * (MAX_IMAGE // 2)),
    ],
)
def test_what_criu_does_not_write_is_refused(raw: bytes) -> None:
    with pytest.raises(CriuFailed, match="cannot read"):
        without_gate(raw, ONLY_FIRST)


def test_a_list_of_filters_is_one() -> None:
    for body in (field(2, b""), field(1, 7)):
        with pytest.raises(CriuFailed, match="a list of filters"):
            gate_filters(image(SECCOMP, body), GATE)
    with pytest.raises(CriuFailed):
        gate_filters(core(2, 0), GATE)


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 7))
def test_g3_whatever_is_changed_is_read_or_refused(
    noise: bytes, place: int, bit: int
) -> None:
    changed = bytearray(core(2, 0, noise))
    changed[place % len(changed)] ^= 1 << bit
    for raw in (bytes(changed), noise, image(CORE, noise), image(SECCOMP, noise)):
        with contextlib.suppress(HoldfastError):
            without_gate(raw, ONLY_FIRST)
        with contextlib.suppress(HoldfastError):
            gate_filters(raw, GATE)
