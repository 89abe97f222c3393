from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.local_proof import is_local_proof, local_proof
from holdfast.model.ids import session_id

WEB, DB = session_id(b"\1" * 10), session_id(b"\2" * 10)
TOKEN, NONCE = b"t" * 32, b"n" * 32


def test_whoever_knows_the_token_can_prove_it() -> None:
    assert is_local_proof(TOKEN, WEB, NONCE, local_proof(TOKEN, WEB, NONCE))


@given(other=st.binary(max_size=64))
def test_no_other_token_proves_it(other: bytes) -> None:
    is_same = other.rstrip(b"\0") == TOKEN

    assert is_local_proof(TOKEN, WEB, NONCE, local_proof(other, WEB, NONCE)) == is_same


def test_a_proof_is_good_for_one_session_and_one_nonce() -> None:
    proof = local_proof(TOKEN, WEB, NONCE)

    assert not is_local_proof(TOKEN, DB, NONCE, proof)
    assert not is_local_proof(TOKEN, WEB, b"m" * 32, proof)


@given(proof=st.binary(max_size=64))
def test_what_was_not_made_with_the_token_proves_nothing(proof: bytes) -> None:
    assert not is_local_proof(TOKEN, WEB, NONCE, proof)
