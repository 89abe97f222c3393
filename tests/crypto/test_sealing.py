import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.noise import CipherState
from holdfast.crypto.sealing import REKEY, Inbound, Outbound
from holdfast.model.errors import (
    ChannelWornOut,
    FrameTooLarge,
    LinkEnded,
    MalformedMessage,
    SealBroken,
    UnexpectedMessage,
)
from holdfast.wire.channel import PAD, Record, RecordKind

KEY = bytes(range(32))
DATA = RecordKind.DATA


def both(count: int = 0) -> tuple[Outbound, Inbound]:
    return Outbound(CipherState(KEY, count)), Inbound(CipherState(KEY, count))


def recorded(number: int) -> list[bytes]:
    outbound, _ = both()
    return [outbound.seal(DATA, f"input {n}".encode()) for n in range(number)]


def opened(messages: list[bytes]) -> list[bytes]:
    _, inbound = both()
    found: list[bytes] = []
    try:
        found.extend(inbound.open(message).data for message in messages)
    except SealBroken:
        found.append(b"broken")
    return found


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=20))
def test_i1_what_is_opened_is_what_was_sealed(spoken: list[bytes]) -> None:
    outbound, inbound = both()

    heard = [inbound.open(outbound.seal(DATA, one)) for one in spoken]

    assert heard == [Record(DATA, one) for one in spoken]


@given(st.integers(1, 8), st.data())
def test_t04_a_dropped_repeated_or_moved_message_is_never_passed_over(
    number: int, data: st.DataObject
) -> None:
    sent = recorded(number)
    order = data.draw(st.lists(st.integers(0, number - 1), max_size=number + 2))

    heard = opened([sent[n] for n in order])

    honest = [f"input {n}".encode() for n in range(number)]
    agreeing = 0
    while agreeing < len(order) and order[agreeing] == agreeing:
        agreeing += 1
    assert heard[:agreeing] == honest[:agreeing]
    assert heard[agreeing:] == ([b"broken"] if agreeing < len(order) else [])


def test_t02_every_flipped_bit_of_a_frame_is_refused() -> None:
    (frame,) = recorded(1)

    for bit in range(len(frame) * 8):
        changed = bytearray(frame)
        changed[bit // 8] ^= 1 << bit % 8
        assert opened([bytes(changed), frame]) == [b"broken"], bit


def test_i2_after_one_that_does_not_open_none_does() -> None:
    first, second = recorded(2)
    _, inbound = both()

    for message in (second, first, second):
        with pytest.raises(SealBroken):
            inbound.open(message)


def test_i3_nothing_follows_an_end() -> None:
    outbound, inbound = both()
    inbound.open(outbound.seal(DATA, b"all of it"))

    assert inbound.open(outbound.seal(RecordKind.END)) == Record(RecordKind.END)
    assert outbound.has_ended
    assert inbound.has_ended
    with pytest.raises(LinkEnded):
        outbound.seal(DATA, b"more")
    with pytest.raises(LinkEnded):
        outbound.seal(RecordKind.END)


def test_i3_a_peer_that_goes_on_after_its_end_is_refused() -> None:
    cipher = CipherState(KEY)
    outbound, inbound = Outbound(cipher), both()[1]
    inbound.open(outbound.seal(RecordKind.END))
    more = Outbound(cipher).seal(DATA, b"more")

    with pytest.raises(UnexpectedMessage):
        inbound.open(more)


@pytest.mark.parametrize("count", [0, REKEY - 2, REKEY, 5 * REKEY - 1])
def test_i4_both_sides_change_keys_after_the_same_message(count: int) -> None:
    outbound, inbound = both(count)

    for number in range(4):
        said = f"message {number}".encode()
        assert inbound.open(outbound.seal(DATA, said)).data == said


def test_i4_the_old_key_opens_nothing_after_the_change() -> None:
    outbound, _ = both(REKEY - 1)
    last = outbound.seal(DATA, b"the last under this key")
    next_one = outbound.seal(DATA, b"the first under the next")

    stuck = CipherState(KEY, REKEY - 1)
    stuck.open(last)
    with pytest.raises(SealBroken):
        stuck.open(next_one)


def test_a_message_longer_than_noise_has_is_not_looked_at() -> None:
    with pytest.raises(FrameTooLarge):
        both()[1].open(bytes(65_536))
    with pytest.raises(SealBroken):
        both()[1].open(bytes(65_535))


def test_what_is_sealed_but_no_record_is_refused() -> None:
    with pytest.raises(MalformedMessage):
        both()[1].open(CipherState(KEY).seal(b"\x09\0\0"))


def test_a_worn_out_channel_says_so() -> None:
    outbound, inbound = both(2**64 - 1)

    with pytest.raises(ChannelWornOut):
        outbound.seal(DATA, b"x")
    with pytest.raises(ChannelWornOut):
        inbound.open(bytes(80))


def test_keys_of_different_lengths_make_messages_of_one_length() -> None:
    outbound, _ = both()
    keys = [b"a", b"\r", b"\x1b[A", b"\x1b[1;5D", "漢".encode(), b"x" * 40]

    assert {len(outbound.seal(DATA, pressed)) for pressed in keys} == {PAD + 16}
