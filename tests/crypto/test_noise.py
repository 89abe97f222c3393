import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crypto.noise_world import PATTERNS, VECTORS, key, sides

from holdfast.crypto.identity import derive
from holdfast.crypto.noise import (
    IK,
    MAX_COUNT,
    MAX_MESSAGE,
    XXPSK3,
    CipherState,
    HandshakeState,
    KeyPair,
    Pattern,
    SymmetricState,
    digest,
    hkdf,
)
from holdfast.model.errors import ChannelWornOut, HandshakeFailed, SealBroken

PRIMITIVES = json.loads((Path(__file__).parent / "vectors/primitives.json").read_text())
BOTH = pytest.mark.parametrize("pattern", [IK, XXPSK3], ids=lambda p: p.name)


@pytest.mark.parametrize("vector", PRIMITIVES["x25519"]["vectors"])
def test_secrets_are_shared_as_rfc_7748_has_it(vector: dict[str, str]) -> None:
    pair = KeyPair(bytes.fromhex(vector["scalar"]))

    shared = pair.shared_with(bytes.fromhex(vector["point"]))

    assert shared.hex() == vector["output"]


@pytest.mark.parametrize("vector", PRIMITIVES["hkdf"]["vectors"])
def test_secrets_are_derived_as_rfc_5869_has_it(vector: dict[str, str]) -> None:
    secret, salt, info, output = (
        bytes.fromhex(vector[name]) for name in ("secret", "salt", "info", "output")
    )

    assert derive(secret, info, salt, len(output)) == output
    if not info:
        assert b"".join(hkdf(salt, secret, 3)).startswith(output)
        assert hkdf(salt, secret, 2) == hkdf(salt, secret, 3)[:2]


@pytest.mark.parametrize("vector", PRIMITIVES["aes_256_gcm"]["vectors"])
def test_messages_are_sealed_as_the_makers_of_gcm_have_it(
    vector: dict[str, str],
) -> None:
    secret, plain, sealed = (
        bytes.fromhex(vector[name]) for name in ("key", "plain", "sealed")
    )

    assert CipherState(secret).seal(plain) == sealed
    assert CipherState(secret).open(sealed) == plain


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["protocol_name"])
def test_agrees_with_the_published_vectors(vector: dict[str, Any]) -> None:
    def raw(name: str) -> bytes:
        return bytes.fromhex(vector[name])

    pattern = PATTERNS[vector["protocol_name"]]
    known = raw("init_remote_static") if vector["init_remote_static"] else None
    initiator = HandshakeState(
        pattern,
        raw("prologue"),
        KeyPair(raw("init_static")),
        KeyPair(raw("init_ephemeral")),
        remote_static=known,
        is_initiator=True,
    )
    responder = HandshakeState(
        pattern,
        raw("prologue"),
        KeyPair(raw("resp_static")),
        KeyPair(raw("resp_ephemeral")),
        is_initiator=False,
    )
    if pattern.has_psk:
        initiator.set_psk(raw("psk"))
        responder.set_psk(raw("psk"))
    spoken = [
        (bytes.fromhex(said["payload"]), said["ciphertext"])
        for said in vector["messages"]
    ]
    count = len(pattern.messages)
    writer, reader = initiator, responder
    for payload, ciphertext in spoken[:count]:
        message = writer.write(payload)
        assert message.hex() == ciphertext
        assert reader.read(message) == payload
        writer, reader = reader, writer
    one, other = initiator.agree(), responder.agree()
    assert one.hash == other.hash == raw("handshake_hash")
    for number, (payload, ciphertext) in enumerate(spoken[count:], count):
        ours, theirs = (one, other) if number % 2 == 0 else (other, one)
        sealed = ours.sending.seal(payload)
        assert sealed.hex() == ciphertext
        assert theirs.receiving.open(sealed) == payload


@BOTH
def test_both_sides_end_with_the_same_hash_and_keys(pattern: Pattern) -> None:
    one, other = sides(pattern).run()

    assert one.hash == other.hash
    assert one.remote_static == key(40).public
    assert other.remote_static == key(1).public
    assert other.receiving.open(one.sending.seal(b"there")) == b"there"
    assert one.receiving.open(other.sending.seal(b"back")) == b"back"


@BOTH
def test_what_one_side_seals_it_cannot_open_itself(pattern: Pattern) -> None:
    one, _ = sides(pattern).run()

    with pytest.raises(SealBroken):
        one.receiving.open(one.sending.seal(b"an echo"))


@BOTH
def test_a_static_key_is_known_as_soon_as_it_was_said(pattern: Pattern) -> None:
    both = sides(pattern)
    before = both.initiator.remote_static

    both.run()

    assert (before is None) is (pattern is XXPSK3)
    assert both.initiator.remote_static == key(40).public


@given(st.lists(st.binary(max_size=200), max_size=10))
def test_what_is_sealed_opens_in_its_order(spoken: list[bytes]) -> None:
    sealing, opening = CipherState(bytes(32)), CipherState(bytes(32))

    assert [opening.open(sealing.seal(one)) for one in spoken] == spoken
    assert sealing.count == opening.count == len(spoken)


def test_what_is_sealed_along_must_be_there_when_it_is_opened() -> None:
    sealed = CipherState(bytes(32)).seal(b"data", b"along")

    assert CipherState(bytes(32)).open(sealed, b"along") == b"data"
    with pytest.raises(SealBroken):
        CipherState(bytes(32)).open(sealed)


def test_no_count_seals_twice_and_the_last_one_is_kept_for_rekeying() -> None:
    state = CipherState(bytes(32), MAX_COUNT - 1)
    last = state.seal(b"the last")

    with pytest.raises(ChannelWornOut):
        state.seal(b"one more")
    opening = CipherState(bytes(32), MAX_COUNT - 1)
    assert opening.open(last) == b"the last"
    with pytest.raises(ChannelWornOut):
        opening.open(last)


def test_rekeying_keeps_the_count_and_changes_the_key() -> None:
    sealing, opening = CipherState(bytes(32)), CipherState(bytes(32))
    opening.open(sealing.seal(b"before"))
    sealing.rekey()
    after = sealing.seal(b"after")

    with pytest.raises(SealBroken):
        CipherState(bytes(32), 1).open(after)
    opening.rekey()
    assert opening.open(after) == b"after"
    assert opening.count == 2


def test_a_state_without_a_key_hides_nothing_yet() -> None:
    one, other = SymmetricState("Noise_NN"), SymmetricState("Noise_NN")

    sent = one.seal_and_hash(b"in clear")

    assert sent == b"in clear"
    assert other.open_and_hash(sent) == b"in clear"
    assert one.hash == other.hash


def test_a_name_longer_than_a_hash_is_hashed() -> None:
    name = "Noise_" + "x" * 27

    assert SymmetricState(name).hash == digest(name.encode())
    assert SymmetricState(name[:-1]).hash == name[:-1].encode()


@BOTH
def test_a_message_over_the_limit_is_not_looked_at(pattern: Pattern) -> None:
    with pytest.raises(HandshakeFailed):
        sides(pattern).responder.read(bytes(MAX_MESSAGE + 1))


@BOTH
def test_a_message_may_be_as_long_as_that(pattern: Pattern) -> None:
    room = MAX_MESSAGE - len(sides(pattern).initiator.write(b""))
    both = sides(pattern)
    longest = both.initiator.write(bytes(room))

    assert len(longest) == MAX_MESSAGE
    assert both.responder.read(longest) == bytes(room)


def test_nothing_secret_is_shown() -> None:
    secret = bytes(range(1, 33))

    shown = repr(KeyPair(secret)) + repr(CipherState(secret))

    assert secret.hex() not in shown
    assert repr(secret) not in shown


def test_what_is_no_message_at_all_is_a_mistake_of_ours_and_breaks_nothing() -> None:
    sealed = CipherState(bytes(32)).seal(b"data")
    opening = CipherState(bytes(32))

    with pytest.raises(TypeError):
        opening.open("data")  # type: ignore[arg-type]
    assert opening.open(sealed) == b"data"
