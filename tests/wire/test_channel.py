import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import HandshakeFailed, MalformedMessage, PeerError
from holdfast.model.ids import host_id
from holdfast.wire.channel import (
    INVITE_ID,
    MAX_DATA,
    MAX_RECORD,
    PAD,
    First,
    Purpose,
    Record,
    RecordKind,
    prologue,
    read_record,
    record_bytes,
)

HOST = host_id(b"host")
ID = bytes(range(INVITE_ID))


@given(st.binary(min_size=1, max_size=2000))
def test_a_record_is_read_as_it_was_written_and_padded(data: bytes) -> None:
    raw = record_bytes(RecordKind.DATA, data)

    assert read_record(raw) == Record(RecordKind.DATA, data)
    assert len(raw) % PAD == 0
    assert len(raw) < len(data) + 3 + PAD


def test_the_largest_record_fits_a_noise_message() -> None:
    raw = record_bytes(RecordKind.DATA, bytes(MAX_DATA))

    assert len(raw) == MAX_RECORD
    assert MAX_RECORD + 16 <= 65_535 < MAX_RECORD + PAD + 16
    assert read_record(raw).data == bytes(MAX_DATA)


@pytest.mark.parametrize("kind", [RecordKind.CONFIRM, RecordKind.END])
def test_other_records_are_one_padding_long(kind: RecordKind) -> None:
    assert len(record_bytes(kind)) == PAD
    assert read_record(record_bytes(kind)) == Record(kind)


def test_more_zeros_than_there_must_be_are_no_fault() -> None:
    raw = record_bytes(RecordKind.DATA, b"x")

    assert read_record(raw + bytes(500)).data == b"x"
    assert read_record(raw[:4]).data == b"x"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "too short"),
        (b"\1\0", "too short"),
        (b"\3\0\1x", "no kind 3"),
        (b"\xff\0\0", "no kind 255"),
        (b"\1\0\0", "DATA has 0 bytes"),
        (b"\0\0\1x", "CONFIRM has 1 bytes"),
        (b"\2\0\1x", "END has 1 bytes"),
        (b"\1\0\2x", "zeros"),
        (b"\1\xff\xffx", "zeros"),
        (b"\1\0\1xy", "zeros"),
        (b"\1\0\1x\0\0\1\0", "zeros"),
    ],
)
def test_anything_else_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(MalformedMessage, match=why):
        read_record(raw)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_peer_error(raw: bytes) -> None:
    with contextlib.suppress(PeerError):
        record = read_record(raw)
        assert raw.startswith(record_bytes(record.kind, record.data)[: len(raw)])
    with contextlib.suppress(PeerError):
        assert First.from_bytes(raw).to_bytes() == raw


@pytest.mark.parametrize(
    "first", [First(Purpose.ATTACH, b"", b"noise"), First(Purpose.JOIN, ID, b"")]
)
def test_a_first_message_is_read_as_it_was_written(first: First) -> None:
    assert First.from_bytes(first.to_bytes()) == first


@pytest.mark.parametrize("raw", [b"", b"\0noise", b"\3noise", b"\xff", b"GET / HTTP"])
def test_a_first_message_without_a_known_purpose_is_refused(raw: bytes) -> None:
    with pytest.raises(HandshakeFailed, match="purpose"):
        First.from_bytes(raw)


def test_a_first_message_that_ends_in_its_id_is_refused() -> None:
    with pytest.raises(HandshakeFailed, match="short"):
        First.from_bytes(b"\2" + ID[:-1])


def test_the_prologue_says_version_host_purpose_and_invitation() -> None:
    assert prologue(HOST, Purpose.ATTACH) == (
        f"holdfast channel 1\n{HOST}\nattach\n".encode()
    )
    assert prologue(HOST, Purpose.JOIN, ID) == (
        f"holdfast channel 1\n{HOST}\njoin\n{ID.hex()}\n".encode()
    )
