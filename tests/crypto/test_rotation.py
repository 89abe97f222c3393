import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.identity import Identity
from holdfast.crypto.rotation import ROTATION, Rotation, accepted_rotation, rotate
from holdfast.model.errors import RotationRefused

OLD = Identity.from_seed(bytes(range(32)))
NEW = Identity.from_seed(bytes(range(1, 33)))
OTHER = Identity.from_seed(bytes(range(2, 34)))
MADE = rotate(OLD, NEW).to_bytes()


def test_a_rotation_from_the_known_key_is_accepted() -> None:
    found = accepted_rotation(MADE, OLD.public)

    assert len(MADE) == ROTATION
    assert (found.old, found.new) == (OLD.public, NEW.public)
    assert found.to_bytes() == MADE


def test_i1_a_rotation_of_another_key_is_refused() -> None:
    with pytest.raises(RotationRefused, match="another key"):
        accepted_rotation(MADE, OTHER.public)


def test_i3_a_rotation_that_was_taken_is_not_taken_again() -> None:
    with pytest.raises(RotationRefused):
        accepted_rotation(MADE, NEW.public)


def test_i2_nobody_is_given_a_key_without_its_consent() -> None:
    ours = rotate(OLD, OTHER)
    claimed = Rotation(OLD.public, NEW.public, ours.by_old, ours.by_new)

    with pytest.raises(RotationRefused, match="both keys"):
        accepted_rotation(claimed.to_bytes(), OLD.public)


def test_i2_a_new_key_alone_cannot_take_over() -> None:
    theirs = rotate(NEW, OLD)
    forged = Rotation(OLD.public, NEW.public, theirs.by_new, theirs.by_old)

    with pytest.raises(RotationRefused):
        accepted_rotation(forged.to_bytes(), OLD.public)


@given(st.integers(0, ROTATION * 8 - 1))
def test_i2_any_flipped_bit_is_refused(bit: int) -> None:
    changed = bytearray(MADE)
    changed[bit // 8] ^= 1 << bit % 8

    with pytest.raises(RotationRefused):
        accepted_rotation(bytes(changed), OLD.public)


@pytest.mark.parametrize("size", [0, ROTATION - 1, ROTATION + 1])
def test_a_rotation_has_one_length(size: int) -> None:
    with pytest.raises(RotationRefused, match="no rotation"):
        accepted_rotation((MADE * 2)[:size], OLD.public)


def test_a_key_does_not_rotate_to_itself() -> None:
    with pytest.raises(RotationRefused, match="the same"):
        accepted_rotation(rotate(OLD, OLD).to_bytes(), OLD.public)
