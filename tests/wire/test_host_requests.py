import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import (
    FrameTooLarge,
    InviteUsed,
    MalformedMessage,
    PeerError,
    RequestTooLarge,
)
from holdfast.wire.host_requests import (
    LENGTH,
    MAX_PACKET,
    Packet,
    PacketReader,
    error_from,
    packet_bytes,
    refusal,
)

packets = st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8))


@given(st.lists(packets, max_size=5), st.binary(max_size=3), st.integers(1, 30))
def test_i1_i4_however_cut_the_same_packets_come_and_the_rest_is_left(
    sent: list[Packet], rest: bytes, step: int
) -> None:
    stream = b"".join(map(packet_bytes, sent)) + rest
    reader = PacketReader()
    received: list[Packet] = []
    for at in range(0, len(stream), step):
        reader.feed(stream[at : at + step])
        while len(received) < len(sent) and (packet := reader.take()) is not None:
            received.append(packet)

    assert received == sent
    assert reader.rest() == rest
    assert reader.rest() == b""


def test_i2_a_packet_over_the_limit_is_refused_on_its_length_alone() -> None:
    reader = PacketReader()
    reader.feed((MAX_PACKET + 1).to_bytes(LENGTH))

    with pytest.raises(FrameTooLarge):
        reader.take()


@pytest.mark.parametrize("raw", [b"", b"[]", b"1", b"\xff", b"[" * 60_000, b'{"a":'])
def test_i3_what_is_no_object_is_refused(raw: bytes) -> None:
    reader = PacketReader()
    reader.feed(len(raw).to_bytes(LENGTH) + raw)

    with pytest.raises(MalformedMessage):
        reader.take()


@given(st.binary(max_size=40))
def test_i3_no_bytes_raise_anything_but_a_peer_error(stream: bytes) -> None:
    reader = PacketReader()
    reader.feed(stream)

    with contextlib.suppress(PeerError):
        while reader.take() is not None:
            pass


def test_what_is_too_large_is_not_written() -> None:
    room = MAX_PACKET - len('{"text": ""}')

    largest = packet_bytes({"text": "x" * room})
    reader = PacketReader()
    reader.feed(largest)

    assert len(largest) == LENGTH + MAX_PACKET
    assert reader.take() == {"text": "x" * room}
    with pytest.raises(RequestTooLarge):
        packet_bytes({"text": "x" * (room + 1)})


def test_an_error_arrives_as_what_it_was() -> None:
    told = error_from(refusal(InviteUsed()))

    assert isinstance(told, InviteUsed)
    assert error_from({"code": "no-such", "text": "\x1b[m", "facts": 7}).facts == {}
