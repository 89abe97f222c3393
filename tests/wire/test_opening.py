import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import (
    HoldfastError,
    MalformedMessage,
    PeerError,
    SessionLeft,
    SessionNotFound,
    UnwritableMessage,
)
from holdfast.wire.opening import (
    HOST,
    MAX_OPENING,
    Declined,
    Open,
    Opened,
    OpeningMessage,
    declined,
    decode,
    encode,
    error_from,
)

SESSION = "s_" + "a" * 16
MESSAGES = [
    Open(1, HOST),
    Open(1, SESSION),
    Opened(1),
    Declined("session-not-found", "no such session", {"a": 1, "b": "x"}),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_i1_a_message_is_read_as_it_was_written(message: OpeningMessage) -> None:
    assert decode(encode(message)) == message


@given(st.binary(max_size=100))
def test_i2_no_bytes_raise_anything_but_a_peer_error(raw: bytes) -> None:
    with contextlib.suppress(PeerError):
        assert encode(decode(raw)) == raw


@pytest.mark.parametrize(
    "target", ["", "hosts", "host\n", "s_", SESSION + "a", SESSION + "\n", "S_AAAA"]
)
def test_there_is_nothing_else_to_open(target: str) -> None:
    written = msgspec.msgpack.encode({"is": "open", "version": 1, "target": target})

    with pytest.raises(MalformedMessage):
        decode(written)
    with pytest.raises(UnwritableMessage):
        encode(Open(1, target))


@pytest.mark.parametrize("version", [0, 2, -1, 2**63])
def test_another_version_is_refused(version: int) -> None:
    written = msgspec.msgpack.encode({"is": "opened", "version": version})

    with pytest.raises(MalformedMessage):
        decode(written)


def test_a_message_is_written_one_way_only() -> None:
    turned = msgspec.msgpack.encode({"version": 1, "is": "opened"})
    facts = {"is": "declined", "code": "x", "text": "", "facts": {"b": 1, "a": 1}}

    with pytest.raises(MalformedMessage, match="one way"):
        decode(turned)
    with pytest.raises(MalformedMessage, match="one way"):
        decode(msgspec.msgpack.encode(facts))


def test_a_message_over_the_limit_is_not_looked_at() -> None:
    with pytest.raises(MalformedMessage, match="bytes"):
        decode(bytes(MAX_OPENING + 1))


def test_a_refusal_is_the_same_error_on_the_other_side() -> None:
    heard = decode(encode(declined(SessionNotFound(SESSION))))

    assert isinstance(heard, Declined)
    error = error_from(heard)
    assert type(error) is SessionNotFound
    assert error.facts == SessionNotFound(SESSION).facts


def test_where_a_session_went_is_told_whole() -> None:
    word = "w" * 1000

    heard = decode(encode(declined(SessionLeft(SESSION, "to beta", word))))

    assert isinstance(heard, Declined)
    assert error_from(heard).facts["word"] == word


def test_a_refusal_with_more_than_fits_is_cut() -> None:
    facts: dict[str, str | int] = {f"n_{n:03}": "🙂" * 5000 for n in range(40)}
    error = HoldfastError.told(
        "🙂" * 5000, {**facts, "a_high": 2**80, "a_low": -(2**80)}
    )

    written = encode(declined(error))

    assert len(written) <= MAX_OPENING
    heard = decode(written)
    assert isinstance(heard, Declined)
    assert len(heard.facts) == 16
    assert heard.facts["a_high"] == -int(heard.facts["a_low"]) == 2**53 - 1
