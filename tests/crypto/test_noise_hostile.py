import pytest
from tests.crypto.noise_world import PROLOGUE, key, sides

from holdfast.crypto.noise import IK, XXPSK3, CipherState, KeyPair, Pattern
from holdfast.model.errors import HandshakeFailed, PeerError, SealBroken, WeakKey

PRIME = 2**255 - 19
EACH = pytest.mark.parametrize(
    ("pattern", "number"),
    [(IK, 0), (IK, 1), (XXPSK3, 0), (XXPSK3, 1), (XXPSK3, 2)],
)
BOTH = pytest.mark.parametrize("pattern", [IK, XXPSK3], ids=lambda p: p.name)


def low_order_points() -> list[bytes]:
    # The u of the points whose order divides 8, on the curve and on its twist:
    # 0, 1, -1 and the two roots of the points that double to u = 1, that is of
    # (u^2 - 1)^2 = 4u(u^2 + 486662u + 1).
    eighth = [
        0x00B8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
        0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F,
    ]
    for u in eighth:
        doubled = (u * u - 1) ** 2 - 4 * u * (u * u + 486662 * u + 1)
        assert doubled % PRIME == 0
    us = [0, 1, PRIME - 1, *eighth, PRIME, PRIME + 1]
    return [(u | high << 255).to_bytes(32, "little") for u in us for high in (0, 1)]


def flipped(message: bytes, bit: int) -> bytes:
    changed = bytearray(message)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def messages(pattern: Pattern) -> list[bytes]:
    both = sides(pattern)
    said: list[bytes] = []
    writer, reader = both.initiator, both.responder
    while not both.initiator.is_over:
        said.append(writer.write(b"hello"))
        reader.read(said[-1])
        writer, reader = reader, writer
    return said


def refused(pattern: Pattern, number: int, changed: bytes) -> bool:
    both = sides(pattern)
    writer, reader = both.initiator, both.responder
    for _ in range(number):
        reader.read(writer.write(b"hello"))
        writer, reader = reader, writer
    writer.write(b"hello")
    try:
        reader.read(changed)
    except PeerError:
        return True
    # The high bit of a key is ignored by X25519, and is in the hash nonetheless:
    # whoever hears the next message finds out.
    try:
        writer.read(reader.write(b"hello"))
    except PeerError:
        return True
    return False


@EACH
def test_t05_a_flipped_bit_anywhere_in_a_handshake_is_refused(
    pattern: Pattern, number: int
) -> None:
    said = messages(pattern)

    for bit in range(0, len(said[number]) * 8, 3):
        assert refused(pattern, number, flipped(said[number], bit)), bit


@EACH
def test_t05_every_cut_and_every_longer_handshake_message_is_refused(
    pattern: Pattern, number: int
) -> None:
    whole = messages(pattern)[number]

    for size in range(len(whole)):
        assert refused(pattern, number, whole[:size]), size
        assert refused(pattern, number, whole[size + 1 :]), size
    assert refused(pattern, number, whole + b"\0")


@BOTH
def test_another_prologue_is_refused(pattern: Pattern) -> None:
    both = sides(pattern, prologues=(PROLOGUE, PROLOGUE + b"!"))

    with pytest.raises(HandshakeFailed):
        both.run()


def test_another_shared_secret_is_refused() -> None:
    both = sides(XXPSK3, psks=(bytes(32), bytes(31) + b"\1"))

    with pytest.raises(HandshakeFailed):
        both.run()


def test_a_responder_with_another_key_cannot_read_the_first_message() -> None:
    both = sides(IK, known=key(90).public)

    with pytest.raises(HandshakeFailed):
        both.run()


@pytest.mark.parametrize("point", low_order_points(), ids=bytes.hex)
def test_a_key_of_low_order_makes_no_secret(point: bytes) -> None:
    with pytest.raises(WeakKey):
        key(1).shared_with(point)


@pytest.mark.parametrize("point", low_order_points(), ids=bytes.hex)
def test_an_ephemeral_key_of_low_order_is_refused_by_both_sides(point: bytes) -> None:
    first = messages(IK)[0]
    both = sides(IK)

    with pytest.raises(WeakKey):
        both.responder.read(point + first[32:])
    both = sides(IK)
    both.responder.read(both.initiator.write(b""))
    with pytest.raises(WeakKey):
        both.initiator.read(point + both.responder.write(b"")[32:])


@pytest.mark.parametrize("point", low_order_points()[::2], ids=bytes.hex)
def test_a_known_static_key_of_low_order_is_refused_before_anything_is_said(
    point: bytes,
) -> None:
    with pytest.raises(WeakKey):
        sides(IK, known=point).initiator.write(b"")


@BOTH
def test_a_handshake_that_has_failed_goes_no_further(pattern: Pattern) -> None:
    both = sides(pattern)
    first = both.initiator.write(b"hello")

    with pytest.raises(PeerError):
        both.responder.read(flipped(first, len(first) * 8 - 1))
    with pytest.raises(AssertionError):
        both.responder.read(first)
    with pytest.raises(AssertionError):
        both.responder.write(b"")


def test_a_handshake_cannot_be_used_out_of_turn() -> None:
    both = sides(IK)

    with pytest.raises(AssertionError):
        both.responder.write(b"")
    with pytest.raises(AssertionError):
        both.initiator.agree()


def test_t02_every_flipped_bit_of_a_sealed_message_is_refused() -> None:
    sealed = CipherState(bytes(32)).seal(b"rm -r build\r")

    for bit in range(len(sealed) * 8):
        with pytest.raises(SealBroken):
            CipherState(bytes(32)).open(flipped(sealed, bit))


@pytest.mark.parametrize("size", [0, 1, 12, 15, 16, 27])
def test_a_tag_cut_short_is_refused(size: int) -> None:
    sealed = CipherState(bytes(32)).seal(b"rm -r build\r")

    with pytest.raises(SealBroken):
        CipherState(bytes(32)).open(sealed[:size])


def test_t03_a_message_opens_once_and_only_in_its_place() -> None:
    sealing = CipherState(bytes(32))
    first, second = sealing.seal(b"one"), sealing.seal(b"two")

    replayed = CipherState(bytes(32))
    replayed.open(first)
    with pytest.raises(SealBroken):
        replayed.open(first)
    with pytest.raises(SealBroken):
        CipherState(bytes(32)).open(second)
    with pytest.raises(SealBroken):
        CipherState(bytes(31) + b"\1").open(first)


def test_after_one_message_that_does_not_open_none_does() -> None:
    sealing, opening = CipherState(bytes(32)), CipherState(bytes(32))
    first = sealing.seal(b"one")

    with pytest.raises(SealBroken):
        opening.open(flipped(first, 0))
    with pytest.raises(SealBroken):
        opening.open(first)


def test_keys_have_one_length() -> None:
    with pytest.raises(AssertionError):
        KeyPair(bytes(31))
    with pytest.raises(AssertionError):
        sides(XXPSK3).initiator.set_psk(bytes(31))
