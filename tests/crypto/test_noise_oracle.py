import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crypto.noise_world import PROLOGUE, PSK, key

from holdfast.crypto.noise import (
    IK,
    XXPSK3,
    CipherState,
    HandshakeState,
    KeyPair,
    Pattern,
)

with warnings.catch_warnings():
    # It was written for an older library, and says so at every import.
    warnings.simplefilter("ignore")
    from noise.connection import (  # type: ignore[import-untyped]  # has none
        Keypair,
        NoiseConnection,
    )

BOTH = pytest.mark.parametrize("pattern", [IK, XXPSK3], ids=lambda p: p.name)
seeds = st.binary(min_size=32, max_size=32)
payloads = st.binary(max_size=300)


class Oracle:
    """Another's implementation, in our words."""

    def __init__(self, pattern: Pattern, static: bytes, *, is_initiator: bool) -> None:
        self._noise = NoiseConnection.from_name(pattern.name.encode())
        if is_initiator:
            self._noise.set_as_initiator()
        else:
            self._noise.set_as_responder()
        self._noise.set_prologue(PROLOGUE)
        self._noise.set_keypair_from_private_bytes(Keypair.STATIC, static)
        if pattern.has_psk:
            self._noise.set_psks(PSK)

    def begin(self, known: bytes | None = None) -> None:
        if known is not None:
            self._noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, known)
        self._noise.start_handshake()

    def write(self, payload: bytes) -> bytes:
        return bytes(self._noise.write_message(payload))

    def read(self, message: bytes) -> bytes:
        return bytes(self._noise.read_message(message))

    def hash(self) -> bytes:
        return bytes(self._noise.get_handshake_hash())

    def seal(self, data: bytes) -> bytes:
        return bytes(self._noise.encrypt(data))

    def open(self, sealed: bytes) -> bytes:
        return bytes(self._noise.decrypt(sealed))

    def rekey(self) -> None:
        self._noise.rekey_inbound_cipher()
        self._noise.rekey_outbound_cipher()


def ours(
    pattern: Pattern, ephemeral: bytes, known: bytes | None, *, is_initiator: bool
) -> HandshakeState:
    made = HandshakeState(
        pattern,
        PROLOGUE,
        key(1),
        KeyPair(ephemeral),
        remote_static=known,
        is_initiator=is_initiator,
    )
    if pattern.has_psk:
        made.set_psk(PSK)
    return made


def talk(
    us: HandshakeState,
    them: Oracle,
    pattern: Pattern,
    payload: bytes,
    *,
    we_begin: bool,
) -> None:
    for number in range(len(pattern.messages)):
        if (number % 2 == 0) is we_begin:
            assert them.read(us.write(payload)) == payload
        else:
            assert us.read(them.write(payload)) == payload
    agreed = us.agree()
    assert agreed.hash == them.hash()
    assert them.open(agreed.sending.seal(payload)) == payload
    assert agreed.receiving.open(them.seal(payload)) == payload
    check_rekeyed(agreed.sending, agreed.receiving, them, payload)


def check_rekeyed(
    sending: CipherState, receiving: CipherState, them: Oracle, payload: bytes
) -> None:
    sending.rekey()
    receiving.rekey()
    them.rekey()
    assert them.open(sending.seal(payload)) == payload
    assert receiving.open(them.seal(payload)) == payload


@BOTH
@given(static=seeds, ephemeral=seeds, payload=payloads)
def test_we_begin_and_another_implementation_understands(
    pattern: Pattern, static: bytes, ephemeral: bytes, payload: bytes
) -> None:
    known = KeyPair(static).public if pattern.knows_responder else None
    us = ours(pattern, ephemeral, known, is_initiator=True)
    them = Oracle(pattern, static, is_initiator=False)
    them.begin()

    talk(us, them, pattern, payload, we_begin=True)


@BOTH
@given(static=seeds, ephemeral=seeds, payload=payloads)
def test_another_implementation_begins_and_we_understand(
    pattern: Pattern, static: bytes, ephemeral: bytes, payload: bytes
) -> None:
    us = ours(pattern, ephemeral, None, is_initiator=False)
    them = Oracle(pattern, static, is_initiator=True)
    them.begin(key(1).public if pattern.knows_responder else None)

    talk(us, them, pattern, payload, we_begin=False)
