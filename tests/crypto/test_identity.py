import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.identity import (
    STATEMENT,
    Identity,
    Role,
    invite_psk,
    stated,
    statement,
)
from holdfast.crypto.keys import SigningKey, verify
from holdfast.model.errors import HandshakeFailed, MalformedKey, WrongIdentity

SEED = bytes(range(32))
US = Identity.from_seed(SEED)
THEM = Identity.from_seed(bytes(range(1, 33)))
PROLOGUE = b"holdfast channel 1\nh_x\nattach\n"


@given(st.binary(min_size=32, max_size=32))
def test_the_same_seed_makes_the_same_keys(seed: bytes) -> None:
    one, other = Identity.from_seed(seed), Identity.from_seed(seed)

    assert (one.public, one.static_public) == (other.public, other.static_public)
    assert one.public == SigningKey.from_seed(seed).public
    assert one.public != one.static_public


def test_the_static_key_is_the_one_that_the_specification_has() -> None:
    assert US.static_public.hex() == (
        "25f6b82f022b8cea7b921a5f5a7f423fee44a1c6421960829cbeef8fed7b4133"
    )


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(MalformedKey):
        Identity.from_seed(bytes(size))


def test_what_an_identity_signs_its_public_key_verifies() -> None:
    assert verify(US.public, b"take", US.sign(b"take"))


@pytest.mark.parametrize("role", Role)
def test_a_statement_says_who_owns_a_static_key(role: Role) -> None:
    said = statement(US, role, PROLOGUE)

    assert len(said) == STATEMENT
    assert stated(said, role, PROLOGUE, US.static_public) == US.public


def test_a_statement_is_for_one_static_key_only() -> None:
    said = statement(US, Role.HOST, PROLOGUE)

    with pytest.raises(WrongIdentity):
        stated(said, Role.HOST, PROLOGUE, THEM.static_public)


def test_a_statement_is_for_one_role_only() -> None:
    said = statement(US, Role.HOST, PROLOGUE)

    with pytest.raises(WrongIdentity):
        stated(said, Role.OPERATOR, PROLOGUE, US.static_public)


def test_a_statement_is_for_one_host_and_purpose_only() -> None:
    said = statement(US, Role.HOST, PROLOGUE)

    with pytest.raises(WrongIdentity):
        stated(said, Role.HOST, PROLOGUE.replace(b"attach", b"join"), US.static_public)


def test_a_statement_names_nobody_but_its_signer() -> None:
    said = THEM.public + statement(US, Role.HOST, PROLOGUE)[32:]

    with pytest.raises(WrongIdentity):
        stated(said, Role.HOST, PROLOGUE, US.static_public)


@pytest.mark.parametrize("size", [0, STATEMENT - 1, STATEMENT + 1])
def test_a_statement_of_another_length_says_nothing(size: int) -> None:
    with pytest.raises(HandshakeFailed):
        stated(bytes(size), Role.HOST, PROLOGUE, US.static_public)


def test_an_invitation_has_a_secret_of_its_own_for_each_id() -> None:
    first, second = invite_psk(bytes(16), b"a" * 16), invite_psk(bytes(16), b"b" * 16)

    assert len(first) == 32
    assert first != second
    assert first != invite_psk(bytes(15) + b"\1", b"a" * 16)


def test_an_identity_shows_nothing_secret_and_cannot_be_copied() -> None:
    assert SEED.hex() not in repr(US)
    with pytest.raises(TypeError):
        pickle.dumps(US)
    with pytest.raises(TypeError):
        copy.copy(US)
