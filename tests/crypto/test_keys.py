import copy
import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.keys import SigningKey, verify
from holdfast.model.errors import MalformedKey

VECTORS = json.loads((Path(__file__).parent / "vectors/ed25519.json").read_text())
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, PRIME) % PRIME

KEY = SigningKey.from_seed(bytes(range(32)))
MESSAGE = b"take the turn"
SIGNED = KEY.sign(MESSAGE)


def low_order_keys() -> list[bytes]:
    # Doubling a point of order 8 gives one with y = 0; from the doubling law
    # that is d*y^4 + 2*y^2 - 1 = 0, a quadratic in y^2.
    root = square_root(1 + CURVE_D)
    squares = [(sign * root - 1) * pow(CURVE_D, -1, PRIME) % PRIME for sign in (1, -1)]
    eighth = [square_root(one) for one in squares if pow(one, PRIME // 2, PRIME) == 1]
    ys = [0, 1, PRIME - 1, *eighth, *(PRIME - y for y in eighth)]
    return [
        (y | sign << 255).to_bytes(32, "little")
        for y in (*ys, PRIME, PRIME + 1)
        for sign in (0, 1)
    ]


def square_root(square: int) -> int:
    root = pow(square, (PRIME + 3) // 8, PRIME)
    if root * root % PRIME != square % PRIME:
        root = root * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    assert root * root % PRIME == square % PRIME
    return root


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda v: v["name"])
def test_agrees_with_the_standard(vector: dict[str, str]) -> None:
    key = SigningKey.from_seed(bytes.fromhex(vector["seed"]))
    message = bytes.fromhex(vector["message"])
    signature = bytes.fromhex(vector["signature"])

    assert key.public.hex() == vector["public"]
    assert key.sign(message) == signature
    assert verify(key.public, message, signature)
    assert not verify(key.public, message + b"\0", signature)


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=100))
def test_what_a_key_signs_its_public_half_verifies(seed: bytes, message: bytes) -> None:
    key = SigningKey.from_seed(seed)

    assert verify(key.public, message, key.sign(message))
    assert not verify(KEY.public, message, key.sign(message))


@given(st.integers(0, 128 * 8 - 1))
def test_one_flipped_bit_is_refused(bit: int) -> None:
    whole = int.from_bytes(KEY.public + SIGNED + MESSAGE.ljust(32), "big") ^ (1 << bit)
    flipped = whole.to_bytes(128, "big")

    assert not verify(flipped[:32], flipped[96:], flipped[32:96])


@given(st.binary(max_size=70), st.binary(max_size=5), st.binary(max_size=70))
def test_no_bytes_raise_or_verify_by_chance(
    public: bytes, message: bytes, signature: bytes
) -> None:
    assert verify(public, message, signature) is False


@pytest.mark.parametrize("wrong", [None, "text", 7, [], {}, object(), True, 1.5])
def test_anything_but_bytes_is_refused(wrong: object) -> None:
    assert verify(wrong, MESSAGE, SIGNED) is False  # type: ignore[arg-type]
    assert verify(KEY.public, wrong, SIGNED) is False  # type: ignore[arg-type]
    assert verify(KEY.public, MESSAGE, wrong) is False  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 31, 33, 63, 65])
def test_a_key_or_signature_of_another_length_is_refused(size: int) -> None:
    assert not verify((KEY.public * 3)[:size], MESSAGE, SIGNED)
    assert not verify(KEY.public, MESSAGE, (SIGNED * 2)[:size])


@pytest.mark.parametrize("public", low_order_keys(), ids=bytes.hex)
def test_a_key_of_low_order_is_refused(public: bytes) -> None:
    everything = [
        point + bytes(32) for point in (public, *low_order_keys(), b"\1" + bytes(31))
    ]

    assert not any(verify(public, MESSAGE, signature) for signature in everything)


def test_there_are_eight_points_of_low_order() -> None:
    ys = {int.from_bytes(key, "little") % 2**255 for key in low_order_keys()}

    assert len({y for y in ys if y < PRIME}) == 5


@pytest.mark.parametrize("y", [PRIME + 3, 2**255 - 1])
def test_a_second_spelling_of_a_key_is_refused(y: int) -> None:
    assert not verify(y.to_bytes(32, "little"), MESSAGE, SIGNED)


def test_a_second_spelling_of_a_signature_is_refused() -> None:
    scalar = int.from_bytes(SIGNED[32:], "little") + ORDER
    malleated = SIGNED[:32] + scalar.to_bytes(32, "little")

    assert verify(KEY.public, MESSAGE, SIGNED)
    assert not verify(KEY.public, MESSAGE, malleated)


def test_a_signature_of_zeroes_is_refused() -> None:
    assert not verify(KEY.public, MESSAGE, bytes(64))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(MalformedKey):
        SigningKey.from_seed(bytes(size))


def test_a_signing_key_shows_nothing_secret() -> None:
    seed = bytes(range(100, 132))

    shown = repr(SigningKey.from_seed(seed)) + str(SigningKey.from_seed(seed))

    assert seed.hex() not in shown
    assert repr(seed) not in shown


def test_a_signing_key_cannot_be_pickled_or_copied() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(KEY)
    with pytest.raises(TypeError):
        copy.copy(KEY)
    with pytest.raises(TypeError):
        copy.deepcopy(KEY)
