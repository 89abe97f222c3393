"""The shortest way to the primitives leads to the same as the documented one."""

import os
import sys

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto import primitives
from holdfast.crypto.identity import derive
from holdfast.crypto.primitives import public_way, short_way

SEED = b"s" * 32


def test_both_ways_make_the_same_keys_and_seals() -> None:
    short = short_way()
    assert short is not None
    for one, other in zip(short[:4], public_way()[:4], strict=True):
        assert type(one(SEED)) is type(other(SEED))
    assert short[4] is public_way()[4]
    private, verifying, exchange, exchange_public, aead = short
    public = private(SEED).public_key().public_bytes_raw()
    verifying(public).verify(private(SEED).sign(b"m"), b"m")
    theirs = exchange(b"t" * 32).public_key().public_bytes_raw()
    ours = public_way()[2](SEED).exchange(public_way()[3](theirs))
    assert exchange(SEED).exchange(exchange_public(theirs)) == ours
    assert aead(SEED).encrypt(bytes(12), b"m", b"") == public_way()[4](SEED).encrypt(
        bytes(12), b"m", b""
    )


def test_what_is_no_longer_in_its_place_is_taken_from_where_it_is_documented(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.bindings._rust", None)

    assert short_way() is None


def test_only_a_seal_that_does_not_open_is_one() -> None:
    with pytest.raises(InvalidTag) as broken:
        primitives.Aead(SEED).decrypt(bytes(12), os.urandom(32), b"")

    assert primitives.is_invalid_tag(broken.value)
    assert not primitives.is_invalid_tag(ValueError())


@given(
    st.binary(min_size=1, max_size=64),
    st.binary(max_size=64),
    st.binary(max_size=64),
    st.integers(1, 100),
)
def test_what_is_derived_is_what_the_library_derives(
    secret: bytes, info: bytes, salt: bytes, size: int
) -> None:
    by_library = HKDF(algorithm=SHA256(), length=size, salt=salt, info=info)

    assert derive(secret, info, salt, size) == by_library.derive(secret)
