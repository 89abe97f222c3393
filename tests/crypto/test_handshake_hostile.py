import pytest
from tests.crypto.handshake_world import (
    DIALLED,
    HOST,
    SECRET,
    Meddle,
    hold,
    joining,
    opening,
    unchanged,
)

from holdfast.crypto.handshake import Accepting
from holdfast.model.errors import HandshakeFailed, PeerError, SealBroken
from holdfast.wire.channel import INVITE_ID, RecordKind

EACH = pytest.mark.parametrize(
    ("purpose", "number"),
    [(purpose, number) for purpose in DIALLED for number in range(3)],
)
BOTH = pytest.mark.parametrize("purpose", DIALLED)


def is_refused(purpose: str, number: int, changed: bytes) -> bool:
    meddle: list[Meddle] = [unchanged, unchanged, unchanged]
    meddle[number] = lambda _: changed
    try:
        hold(DIALLED[purpose](), meddle=(meddle[0], meddle[1], meddle[2]))
    except PeerError:
        return True
    return False


@EACH
@pytest.mark.parametrize("of_byte", range(8))
def test_i3_t05_every_flipped_bit_is_refused(
    purpose: str, number: int, of_byte: int
) -> None:
    message = hold(DIALLED[purpose]()).messages[number]

    for bit in range(of_byte, len(message) * 8, 8):
        changed = bytearray(message)
        changed[bit // 8] ^= 1 << bit % 8
        assert is_refused(purpose, number, bytes(changed)), bit


@EACH
def test_i3_t05_every_cut_and_every_longer_message_is_refused(
    purpose: str, number: int
) -> None:
    message = hold(DIALLED[purpose]()).messages[number]

    for size in range(0, len(message), 3):
        assert is_refused(purpose, number, message[:size]), size
        assert is_refused(purpose, number, message[size + 1 :]), size
    assert is_refused(purpose, number, message + b"\0")
    assert is_refused(purpose, number, bytes(65_536))


@BOTH
def test_t03_a_recorded_operator_gets_nowhere_on_a_new_channel(purpose: str) -> None:
    recorded = hold(DIALLED[purpose]()).messages
    again = Accepting(HOST, recorded[0], bytes(range(7, 39)))
    again.reply()

    with pytest.raises(PeerError):
        again.finish(recorded[2], SECRET)


@BOTH
def test_t03_a_recorded_host_is_refused_by_a_new_operator(purpose: str) -> None:
    recorded = hold(DIALLED[purpose]()).messages
    fresh = DIALLED[purpose](bytes(range(11, 43)))
    fresh.first()

    with pytest.raises(PeerError):
        fresh.last(recorded[1])


@BOTH
def test_t03_a_recorded_frame_opens_on_no_other_channel(purpose: str) -> None:
    first = hold(DIALLED[purpose]())
    frame = first.operator.outbound.seal(RecordKind.DATA, b"rm -r build\r")
    dialled = DIALLED[purpose]()
    accepting = Accepting(HOST, dialled.first(), bytes(range(9, 41)))
    last, _ = dialled.last(accepting.reply())
    second = accepting.finish(last, SECRET)

    with pytest.raises(SealBroken):
        second.inbound.open(frame)


@BOTH
def test_t03_a_frame_does_not_open_in_the_other_direction(purpose: str) -> None:
    held = hold(DIALLED[purpose]())
    frame = held.operator.outbound.seal(RecordKind.DATA, b"an echo")

    with pytest.raises(SealBroken):
        held.operator.inbound.open(frame)


@BOTH
def test_a_message_sent_back_to_its_sender_is_refused(purpose: str) -> None:
    dialled = DIALLED[purpose]()
    first = dialled.first()

    with pytest.raises(PeerError):
        dialled.last(first)


def test_t08_without_the_secret_nobody_joins() -> None:
    guess = bytes(len(SECRET))

    with pytest.raises(HandshakeFailed):
        hold(joining(secret=guess))


def test_t08_an_attach_is_no_join() -> None:
    first = bytearray(opening().first())
    first[0] = 2

    with pytest.raises(PeerError):
        Accepting(HOST, bytes(first), bytes(32))
    with pytest.raises(PeerError):
        Accepting(HOST, b"\1" + joining().first()[1 + INVITE_ID :], bytes(32))


def test_5_1_no_bytes_but_a_handshake_begin_one() -> None:
    for raw in (b"", b"\1", b"\2", b"\1" + bytes(192), b"\2" + bytes(192), b"\xff"):
        with pytest.raises(PeerError):
            Accepting(HOST, raw, bytes(range(32)))
