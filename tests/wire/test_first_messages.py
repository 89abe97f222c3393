import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.test_codec_properties import values

from holdfast.wire import first_messages as first
from holdfast.wire.codec import KINDS, decode, encode
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.frames import HEADER_SIZE, MAX_PAYLOAD, FrameKind, FrameReader
from holdfast.wire.messages import Output

VECTORS = json.loads((Path(__file__).parent / "vectors/messages.json").read_text())
KNOWN = [one for one in VECTORS if FrameKind[one["kind"]] in first.FIELDS]

messages = st.sampled_from(sorted(first.FIELDS)).flatmap(
    lambda kind: values(msgspec.inspect.type_info(KINDS[FrameKind(kind)]))
)


def test_the_kinds_and_their_fields_are_those_of_the_codec() -> None:
    for kind, fields in first.FIELDS.items():
        name = FrameKind(kind).name
        assert getattr(first, name) == kind
        assert KINDS[FrameKind(kind)].__struct_fields__ == fields

    assert first.OUTPUT == FrameKind.OUTPUT
    assert (first.HEADER, first.MAX_PAYLOAD) == (HEADER_SIZE, MAX_PAYLOAD)


def test_every_message_here_has_a_vector() -> None:
    assert {FrameKind[one["kind"]] for one in KNOWN} == set(first.FIELDS)


@pytest.mark.parametrize("vector", KNOWN, ids=lambda one: str(one["name"]))
def test_a_vector_is_read_and_written_as_the_codec_does(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["frame"])
    ((kind, payload),) = first.frames_in(bytearray(frame))

    fields = first.read(kind, payload)

    (whole,) = FrameReader().feed(frame)
    assert encode(decode(whole)) == frame
    assert fields == msgspec.msgpack.decode(payload)
    assert first.frame(kind, fields) == frame


@given(messages)
def test_any_message_is_read_and_written_as_the_codec_does(message: Any) -> None:  # noqa: ANN401
    frame = encode(message)
    ((kind, payload),) = first.frames_in(bytearray(frame))
    fields = msgspec.msgpack.decode(payload)

    assert first.read(kind, payload) == fields
    assert first.frame(kind, fields) == frame


def test_output_is_an_offset_and_what_was_printed() -> None:
    frame = encode(Output(2**40, b"text"))
    ((kind, payload),) = first.frames_in(bytearray(frame))

    assert first.read(kind, payload) == {"offset": 2**40, "data": b"text"}


@given(st.lists(st.binary(max_size=20), max_size=4), st.data())
def test_however_it_is_cut_the_same_frames_come_out(
    payloads: list[bytes], data: st.DataObject
) -> None:
    sent = [(number, payload) for number, payload in enumerate(payloads, 1)]
    stream = b"".join(
        bytes((kind,)) + len(payload).to_bytes(4, "big") + payload
        for kind, payload in sent
    )
    held, found = bytearray(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        held += stream[:cut]
        found += first.frames_in(held)
        stream = stream[cut:]

    assert found == sent
    assert not held


def test_a_frame_that_is_not_whole_is_left_for_later() -> None:
    frame = encode(Output(0, b"text"))
    held = bytearray(frame + frame[:-1])

    assert len(first.frames_in(held)) == 1
    assert held == frame[:-1]
    assert first.frames_in(held) == []
    held += frame[-1:]
    assert len(first.frames_in(held)) == 1


def test_a_frame_that_is_too_large_is_not_waited_for() -> None:
    with pytest.raises(NotOneOfThese):
        first.frames_in(bytearray(b"\x14" + (MAX_PAYLOAD + 1).to_bytes(4, "big")))
    largest = b"\x14" + MAX_PAYLOAD.to_bytes(4, "big") + bytes(MAX_PAYLOAD)
    assert first.frames_in(bytearray(largest)) == [(0x14, bytes(MAX_PAYLOAD))]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xc1",  # nothing begins so
        b"\x82\xa7version\x01",  # a field is missing
        b"\x81\xa7version\x01",
        b"\x81\xa7product\xa0\xa7version\x01",
        b"\x01",
        b"\x82\xa7version\x01\xa7product\xa0\x00",  # and something more
        b"\x82\xa7version\x01\xa7product\xa1\xff",  # no UTF-8
        b"\x82\xa7version\xff\xa7product\xa0",  # below zero
        b"\x82\xa7version\xce\x01\xa7product\xa0",
        b"\x91" * 100_000 + b"\x00",
    ],
    ids=lambda payload: payload[:12].hex(),
)
def test_what_is_none_of_these_is_said_to_be(payload: bytes) -> None:
    with pytest.raises(NotOneOfThese):
        first.read(first.WELCOME, payload)


def test_a_kind_that_is_not_here_is_not_read() -> None:
    with pytest.raises(NotOneOfThese):
        first.read(FrameKind.PING, b"\x81\xa6number\x01")


@given(st.binary(max_size=64))
def test_no_bytes_raise_anything_else(payload: bytes) -> None:
    for kind in first.FIELDS:
        try:
            first.read(kind, payload)
        except NotOneOfThese:
            continue


@pytest.mark.parametrize(
    "value",
    [
        *(0, 127, 128, 255, 256, 65_535, 65_536, 2**32, None, True, False),
        *("x" * size for size in (31, 32, 300, 70_000)),
        *(b"x" * size for size in (0, 255, 256, 70_000)),
    ],
    ids=lambda value: str(value)[:8],
)
def test_every_length_is_written_as_the_codec_writes_it(value: object) -> None:
    written = first.packed(value)

    assert written == msgspec.msgpack.encode(value)
    assert first.unpacked(written) == value


def test_a_long_list_is_read() -> None:
    for size in (15, 16, 300, 70_000):
        assert first.unpacked(msgspec.msgpack.encode([1] * size)) == [1] * size


def test_what_no_message_holds_is_not_written() -> None:
    with pytest.raises(TypeError):
        first.packed(1.5)
    with pytest.raises(OverflowError):
        first.packed(2**64)


def test_what_comes_on_a_link_is_taken_up_to_a_size() -> None:
    assert first.received(lambda most: b"abcdef"[:most], 4) == b"abcd"


def test_a_link_that_has_ended_gives_nothing() -> None:
    def broken(_: int) -> bytes:
        raise ConnectionResetError

    assert first.received(broken, 4) == b""


def test_what_does_not_come_in_time_is_left_to_others() -> None:
    def silent(_: int) -> bytes:
        raise TimeoutError

    with pytest.raises(NotOneOfThese):
        first.received(silent, 4)
