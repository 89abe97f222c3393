import contextlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import (
    FrameTooLarge,
    PeerError,
    UnknownFrameKind,
    UnwritableMessage,
)
from holdfast.wire.frames import (
    HEADER_SIZE,
    MAX_PAYLOAD,
    MAX_UNPROVEN_PAYLOAD,
    Frame,
    FrameKind,
    FrameReader,
    frame_bytes,
)

frames = st.builds(Frame, st.sampled_from(FrameKind), st.binary(max_size=300))


def header(kind: int, size: int) -> bytes:
    return bytes([kind]) + size.to_bytes(4, "big")


def test_a_frame_is_kind_length_and_payload() -> None:
    frame = Frame(FrameKind.SUBMIT, b"abc")

    assert frame.to_bytes() == b"\x20\x00\x00\x00\x03abc"


def test_no_frame_over_the_limit_is_written() -> None:
    with pytest.raises(UnwritableMessage, match="262145"):
        frame_bytes(FrameKind.SUBMIT, bytes(MAX_PAYLOAD + 1))


def test_the_largest_frame_can_be_written_and_read() -> None:
    frame = Frame(FrameKind.SUBMIT, bytes(MAX_PAYLOAD))

    assert FrameReader().feed(frame.to_bytes()) == [frame]


@given(st.lists(frames), st.data())
def test_i1_any_cut_of_the_stream_yields_the_same_frames(
    sent: list[Frame], data: st.DataObject
) -> None:
    stream = b"".join(frame.to_bytes() for frame in sent)
    reader = FrameReader()
    received: list[Frame] = []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        received += reader.feed(stream[:cut])
        stream = stream[cut:]

    assert received == sent
    assert not reader.held


@pytest.mark.parametrize("cut", range(HEADER_SIZE + 4))
def test_h4_a_header_may_be_split_at_every_byte(cut: int) -> None:
    stream = Frame(FrameKind.PING, b"1234").to_bytes()
    reader = FrameReader()

    assert reader.feed(stream[:cut]) == []
    assert reader.held == cut
    assert reader.feed(stream[cut:]) == [Frame(FrameKind.PING, b"1234")]


def test_h5_a_large_frame_may_come_one_byte_at_a_time() -> None:
    frame = Frame(FrameKind.OUTPUT, bytes(MAX_PAYLOAD // 4))
    reader = FrameReader()

    *before, last = [reader.feed(bytes([byte])) for byte in frame.to_bytes()]

    assert not any(before)
    assert last == [frame]


def test_h1_a_length_of_zero_is_a_frame_without_a_payload() -> None:
    assert FrameReader().feed(header(FrameKind.PING, 0)) == [Frame(FrameKind.PING, b"")]


@pytest.mark.parametrize("size", [MAX_PAYLOAD + 1, 2**31, 2**32 - 1])
def test_i2_h2_a_frame_too_large_is_refused_on_its_header_alone(size: int) -> None:
    with pytest.raises(FrameTooLarge) as caught:
        FrameReader().feed(header(FrameKind.OUTPUT, size))

    assert caught.value.facts == {"size": size, "limit": MAX_PAYLOAD}


def test_h3_a_length_one_short_makes_the_next_byte_a_kind() -> None:
    with pytest.raises(UnknownFrameKind):
        FrameReader().feed(header(FrameKind.PING, 1) + b"\x05\xff" + bytes(4))


def test_h3_a_length_one_too_long_waits_for_the_byte() -> None:
    reader = FrameReader()

    assert reader.feed(header(FrameKind.PING, 2) + b"\x05") == []
    assert reader.held


@pytest.mark.parametrize("kind", [0x00, 0x08, 0x7F, 0xFF])
def test_h7_an_unknown_kind_is_refused_on_its_header_alone(kind: int) -> None:
    with pytest.raises(UnknownFrameKind) as caught:
        FrameReader().feed(header(kind, 5))

    assert caught.value.facts == {"kind": kind}


def test_a_peer_that_has_not_shown_who_it_is_gets_less() -> None:
    reader = FrameReader(limit=MAX_UNPROVEN_PAYLOAD)

    assert reader.feed(Frame(FrameKind.HELLO, bytes(4096)).to_bytes())
    with pytest.raises(FrameTooLarge, match="4096"):
        reader.feed(header(FrameKind.HELLO, 4097))


def test_the_limit_rises_once_the_peer_has_shown_who_it_is() -> None:
    reader = FrameReader(limit=MAX_UNPROVEN_PAYLOAD)
    reader.raise_limit()

    assert reader.feed(header(FrameKind.HELLO, MAX_PAYLOAD)) == []


def test_what_comes_behind_the_proof_waits_for_it() -> None:
    proof = Frame(FrameKind.IDENTIFY, b"proof")
    large = Frame(FrameKind.SUBMIT, bytes(MAX_UNPROVEN_PAYLOAD + 1))
    reader = FrameReader(limit=MAX_UNPROVEN_PAYLOAD)

    assert reader.feed(proof.to_bytes() + large.to_bytes()) == [proof]
    reader.raise_limit()
    assert reader.feed(b"") == [large]


def test_what_comes_behind_no_proof_is_refused_by_the_next_call() -> None:
    hello = Frame(FrameKind.HELLO, b"")
    reader = FrameReader(limit=MAX_UNPROVEN_PAYLOAD)
    stream = hello.to_bytes() + header(FrameKind.SUBMIT, 4097) + bytes(1000)

    assert reader.feed(stream) == [hello]
    with pytest.raises(FrameTooLarge, match="4096"):
        reader.feed(b"")
    assert reader.held == HEADER_SIZE


def test_the_limit_never_falls() -> None:
    reader = FrameReader()
    reader.raise_limit(MAX_UNPROVEN_PAYLOAD)

    assert reader.feed(header(FrameKind.HELLO, MAX_PAYLOAD)) == []


def test_i4_a_refused_stream_stays_refused() -> None:
    reader = FrameReader()
    good = Frame(FrameKind.PING, b"").to_bytes()
    with pytest.raises(UnknownFrameKind):
        reader.feed(good + header(0xEE, 1) + bytes(1000))

    for _ in range(3):
        with pytest.raises(UnknownFrameKind) as caught:
            reader.feed(good)
        assert caught.value.facts == {"kind": 0xEE}
        assert reader.held == HEADER_SIZE


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_raise_anything_but_a_peer_error(chunks: list[bytes]) -> None:
    reader = FrameReader(limit=30)
    for chunk in chunks:
        with contextlib.suppress(PeerError):
            reader.feed(chunk)

        assert reader.held < HEADER_SIZE + 30, "I2"


def test_h6_i3_a_flood_of_small_frames_is_read_in_one_pass() -> None:
    frame = Frame(FrameKind.PING, b"12345")

    assert FrameReader().feed(frame.to_bytes() * 100_000) == [frame] * 100_000


def test_the_keeper_can_read_frames_without_any_package() -> None:
    program = (
        "import sys, holdfast.wire.frames, holdfast.wire.versions;"
        "print('msgspec' in sys.modules)"
    )

    printed = subprocess.check_output([sys.executable, "-c", program])

    assert printed == b"False\n"
