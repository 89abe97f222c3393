import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.input.introduction import Introduction
from holdfast.model.errors import (
    FrameTooLarge,
    HoldfastError,
    NotProven,
    UnexpectedMessage,
    UnknownFrameKind,
)
from holdfast.model.ids import actor_id
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode, encode, output_frame
from holdfast.wire.frames import HEADER_SIZE, MAX_UNPROVEN_PAYLOAD, FrameReader
from holdfast.wire.versions import SPOKEN

ANNA, BOB = actor_id(b"anna"), actor_id(b"bob")
NONCE = b"n" * 32
HELLO = encode(wire.Hello(SPOKEN, "test", "cli"))
CHALLENGED = encode(wire.Welcome(SPOKEN[0], "1")) + encode(wire.Challenge(NONCE))
CLAIM = encode(wire.Identify(ANNA, bytes(32)))


def prove(nonce: bytes) -> bytes:
    return bytes(byte ^ 0xFF for byte in nonce)


def begun() -> Introduction:
    made = Introduction(ANNA, prove)
    assert made.from_operator(HELLO) == HELLO
    assert made.from_holder(CHALLENGED) == CHALLENGED
    return made


def read(stream: bytes) -> list[Message]:
    return [decode(frame) for frame in FrameReader().feed(stream)]


def test_i1_the_proof_is_ours_and_not_what_the_operator_sent() -> None:
    passed = begun().from_operator(CLAIM)

    assert read(passed) == [wire.Identify(ANNA, prove(NONCE))]


def test_i1_whoever_claims_to_be_somebody_else_is_not_introduced() -> None:
    introduction = begun()

    with pytest.raises(NotProven):
        introduction.from_operator(encode(wire.Identify(BOB, prove(NONCE))))
    assert not introduction.is_over


def test_i1_nobody_is_introduced_before_the_holder_has_asked() -> None:
    introduction = Introduction(ANNA, prove)

    with pytest.raises(UnexpectedMessage):
        introduction.from_operator(HELLO + CLAIM)


def test_i2_what_comes_with_the_claim_and_after_it_passes_unread() -> None:
    introduction = begun()
    half = encode(wire.Ping(7))[:3]

    passed = introduction.from_operator(CLAIM + half)

    assert introduction.is_over
    assert passed.endswith(half)
    assert introduction.from_operator(b"\xff anything") == b"\xff anything"


def test_i2_what_the_holder_prints_passes_unread_once_it_has_asked() -> None:
    introduction = Introduction(ANNA, prove)
    printed = output_frame(0, b"x" * 60_000)

    assert introduction.from_holder(CHALLENGED + printed) == CHALLENGED + printed
    assert introduction.from_holder(b"\xff") == b"\xff"


@given(st.integers(1, 20), st.binary(max_size=40))
def test_i2_however_both_sides_are_cut_the_same_comes_out(
    step: int, rest: bytes
) -> None:
    introduction = Introduction(ANNA, prove)
    said, claimed = CHALLENGED + rest, HELLO + CLAIM + rest

    heard = b"".join(
        introduction.from_holder(said[at : at + step])
        for at in range(0, len(said), step)
    )
    passed = b"".join(
        introduction.from_operator(claimed[at : at + step])
        for at in range(0, len(claimed), step)
    )

    assert heard == said
    assert passed == HELLO + encode(wire.Identify(ANNA, prove(NONCE))) + rest


@pytest.mark.parametrize("size", [MAX_UNPROVEN_PAYLOAD + 1, 1 << 24, (1 << 32) - 1])
@pytest.mark.parametrize("side", ["from_holder", "from_operator"])
def test_i3_a_large_frame_is_refused_on_its_header_alone(side: str, size: int) -> None:
    header = b"\x01" + size.to_bytes(HEADER_SIZE - 1)

    with pytest.raises(FrameTooLarge):
        getattr(Introduction(ANNA, prove), side)(header)


@pytest.mark.parametrize("side", ["from_holder", "from_operator"])
def test_i4_a_stream_that_was_refused_goes_on_being_refused(side: str) -> None:
    take = getattr(Introduction(ANNA, prove), side)

    for data in (b"\xff\0\0\0\0", b"", HELLO):
        with pytest.raises(UnknownFrameKind):
            take(data)


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_i1_no_bytes_introduce_anybody_else(pieces: list[bytes]) -> None:
    introduction = begun()
    passed = b""
    with contextlib.suppress(HoldfastError):
        for piece in pieces:
            passed += introduction.from_operator(piece)

    if not introduction.is_over:
        for message in read(passed):
            assert not isinstance(message, wire.Identify)
