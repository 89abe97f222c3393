from holdfast.crypto.proof import (
    change_proof,
    creation_proof,
    host_token,
    is_change_proof,
    is_creation_proof,
    proven_change,
    proven_creation,
    proven_recovery,
)
from holdfast.model.ids import session_id
from holdfast.model.session_requests import Creation, Recover, Rename, packet_of
from holdfast.wire.creation import change_bytes, proven_bytes, recovery_bytes

WEB, DB = session_id(b"\1" * 10), session_id(b"\2" * 10)
TOKEN, NONCE = b"t" * 32, b"n" * 32


def test_a_creation_is_proven_by_the_token_and_for_one_request() -> None:
    proof = creation_proof(b"token", b"request")

    assert is_creation_proof(b"token", b"request", proof)
    assert not is_creation_proof(b"other", b"request", proof)
    assert not is_creation_proof(b"token", b"another", proof)
    assert not is_creation_proof(b"token", b"request", b"")


def test_a_change_is_proven_apart_from_a_creation() -> None:
    proof = change_proof(b"token", b"request")

    assert is_change_proof(b"token", b"request", proof)
    assert not is_change_proof(b"other", b"request", proof)
    assert not is_change_proof(b"token", b"another", proof)
    assert not is_creation_proof(b"token", b"request", proof)


def test_a_host_has_a_token_that_does_not_tell_its_key() -> None:
    assert host_token(b"seed") == host_token(b"seed") != host_token(b"other")
    assert b"seed" not in host_token(b"seed")


def test_a_request_is_proven_as_it_goes_out() -> None:
    made = proven_creation(Creation(command=("ls",), creator="a_x"), TOKEN)
    renamed = proven_change(Rename(WEB, "shop", "a_x", 7), TOKEN)

    whole, change = packet_of(made), packet_of(renamed)
    assert is_creation_proof(TOKEN, proven_bytes(whole), bytes.fromhex(made.proof))
    assert is_change_proof(TOKEN, change_bytes(change), bytes.fromhex(renamed.proof))
    assert not is_change_proof(
        TOKEN, change_bytes({**change, "name": "x"}), bytes.fromhex(renamed.proof)
    )


def test_a_recovery_is_proven_for_one_session() -> None:
    made = proven_recovery(Recover(recovers=WEB, creator="a_x"), TOKEN)

    proof = bytes.fromhex(made.proof)
    assert is_creation_proof(TOKEN, recovery_bytes(packet_of(made)), proof)
    other = packet_of(made._replace(recovers=DB))
    assert not is_creation_proof(TOKEN, recovery_bytes(other), proof)
