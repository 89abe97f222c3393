import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.write_schema import fingerprint

from holdfast.crypto.keys import SigningKey, verify
from holdfast.model.errors import (
    HoldfastError,
    LeaseHeld,
    MalformedMessage,
    NotReachable,
    PeerError,
    UnwritableMessage,
)
from holdfast.model.ids import ActorId, HostId, Incarnation, SessionId, actor_id
from holdfast.wire import relay_messages as m
from holdfast.wire.relay_messages import MAX_MESSAGE, MAX_PART, MAX_UNPROVEN, Role

FINGERPRINTS = {
    1: "4e86ae2c2bca5fad123020d30db5cb1224f8d6a407d2d8986776e09e09e3f790",
}
VECTORS = json.loads(
    (Path(__file__).parent / "vectors/relay_messages.json").read_text()
)
KEY = bytes(range(32))
NONCE = b"n" * 32
SIGNATURE = b"s" * 64
TICKET = b"t" * 16
ANNA = actor_id(b"\x01" * 32)
HOST = HostId("h_" + "a" * 32)
SESSION = SessionId("s_" + "b" * 16)

MESSAGES: list[m.RelayMessage] = [
    m.Greet(1, NONCE),
    m.Register(KEY, SIGNATURE),
    m.Meet(KEY, TICKET, SIGNATURE),
    m.Reach(KEY, HOST, b"", SIGNATURE),
    m.Reach(KEY, SESSION, b"i" * 32, SIGNATURE),
    m.Registered(HOST),
    m.Joined(HOST),
    m.refusal(NotReachable(HOST)),
    m.Admit(resets=True, actors=(ANNA,), invites=(b"i",)),
    m.Dismiss((ANNA,), (b"i",)),
    m.Publish(resets=False, added=(SESSION,), removed=()),
    m.Knock(TICKET, ANNA, HOST, b""),
    m.Leaving(),
    m.LeaseAsk(1, SESSION, Incarnation(0), Incarnation(7), speaking=False),
    m.LeaseGrant(1, Incarnation(8), 20_000),
    m.lease_refusal(2, LeaseHeld(HOST, 7, 1500)),
    m.LeaseRelease(SESSION, Incarnation(7)),
    m.LeaseEnd(SESSION, Incarnation(7)),
    m.Entrust(SESSION, (HOST,)),
]

PROOFS: list[m.Proof] = [
    m.Register(KEY, SIGNATURE),
    m.Meet(KEY, TICKET, SIGNATURE),
    m.Reach(KEY, HOST, b"", SIGNATURE),
]

each = pytest.mark.parametrize("message", MESSAGES, ids=lambda one: type(one).__name__)


@each
def test_i1_what_is_written_is_read_as_it_was(message: m.RelayMessage) -> None:
    written = m.encode(message)

    assert m.decode(written) == message
    assert m.encode(m.decode(written)) == written


@each
def test_a_message_that_is_cut_anywhere_is_refused(message: m.RelayMessage) -> None:
    written = m.encode(message)

    for end in range(len(written)):
        with pytest.raises(PeerError):
            m.decode(written[:end])


@each
def test_a_message_with_anything_behind_it_is_refused(
    message: m.RelayMessage,
) -> None:
    with pytest.raises(PeerError):
        m.decode(m.encode(message) + b"\xc0")


@given(st.binary(max_size=200))
def test_i2_no_bytes_raise_anything_but_a_peer_error(stream: bytes) -> None:
    try:
        message = m.decode(stream)
    except PeerError:
        return

    assert m.encode(message) == stream


@given(st.sampled_from(MESSAGES), st.integers(0), st.integers(0, 255))
def test_i2_a_changed_byte_is_another_message_or_none(
    message: m.RelayMessage, place: int, value: int
) -> None:
    written = bytearray(m.encode(message))
    written[place % len(written)] = value

    try:
        read = m.decode(bytes(written))
    except PeerError:
        return
    assert m.encode(read) == bytes(written)


@pytest.mark.parametrize(
    "spelling",
    [
        {"version": 1, "is": "greet", "nonce": NONCE},
        {"is": "greet", "nonce": NONCE, "version": 1},
        {"is": "greet", "version": 1.0, "nonce": NONCE},
        {"is": "greet", "version": 1, "nonce": NONCE, "more": 1},
        {"is": "greet", "version": 1},
        {"is": "greet", "version": 1, "nonce": b"short"},
        {"is": "greet", "version": -1, "nonce": NONCE},
        {"is": "greet", "version": 2**63, "nonce": NONCE},
        {"is": "greeted", "version": 1, "nonce": NONCE},
        {"version": 1, "nonce": NONCE},
        ["greet", 1, NONCE],
        "greet",
        None,
        {},
    ],
    ids=repr,
)
def test_t65_another_spelling_of_a_message_is_refused(spelling: object) -> None:
    written = msgspec.msgpack.encode(spelling)

    with pytest.raises(PeerError):
        m.decode(written)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(PeerError):
        m.decode(b"\x91" * 10_000)


@pytest.mark.parametrize(
    "message",
    [
        m.Reach(KEY, "h_short", b"", SIGNATURE),
        m.Reach(KEY, HOST + "\n", b"", SIGNATURE),
        m.Reach(KEY, "a_" + "a" * 32, b"", SIGNATURE),
        m.Reach(KEY, HOST, b"i" * 33, SIGNATURE),
        m.Reach(KEY[1:], HOST, b"", SIGNATURE),
        m.Reach(KEY, HOST, b"", SIGNATURE[1:]),
        m.Meet(KEY, TICKET[1:], SIGNATURE),
        m.Admit(resets=False, actors=(ANNA,) * (MAX_PART + 1), invites=()),
        m.Admit(resets=False, actors=(ActorId("nobody"),), invites=()),
        m.Admit(resets=False, actors=(), invites=(b"",)),
        m.LeaseGrant(1, Incarnation(0), 1),
    ],
    ids=repr,
)
def test_what_is_out_of_bounds_is_neither_written_nor_read(
    message: m.RelayMessage,
) -> None:
    with pytest.raises(UnwritableMessage):
        m.encode(message)
    with pytest.raises(MalformedMessage):
        m.decode(msgspec.msgpack.encode(message))


def test_the_largest_message_fits_a_link() -> None:
    most = m.Admit(resets=True, actors=(ANNA,) * MAX_PART, invites=(b"i" * 32,) * 800)

    assert len(m.encode(most)) <= MAX_MESSAGE


@pytest.mark.parametrize("proof", PROOFS, ids=lambda one: type(one).__name__)
def test_every_proof_fits_what_a_stranger_may_send(proof: m.Proof) -> None:
    assert len(m.encode(proof)) <= MAX_UNPROVEN


def test_a_message_longer_than_allowed_is_not_looked_at() -> None:
    written = m.encode(m.Leaving())

    with pytest.raises(MalformedMessage):
        m.decode(written, limit=len(written) - 1)


fields = st.binary(max_size=8)


@given(
    st.sampled_from(Role),
    st.sampled_from(Role),
    st.lists(fields, min_size=2, max_size=4),
    st.lists(fields, min_size=2, max_size=4),
)
def test_i3_two_statements_are_equal_only_if_every_part_is(
    role: Role, other: Role, ours: list[bytes], theirs: list[bytes]
) -> None:
    mine = m.statement(role, "relay", ours[0], *ours[1:])
    yours = m.statement(other, "relay", theirs[0], *theirs[1:])

    assert (mine == yours) == ((role, ours) == (other, theirs))


@pytest.mark.parametrize("case", VECTORS["messages"], ids=lambda c: c["fields"]["is"])
def test_the_vectors_are_read_and_written_as_they_are(case: dict[str, str]) -> None:
    written = bytes.fromhex(case["bytes"])

    assert m.encode(m.decode(written)) == written


@pytest.mark.parametrize("case", VECTORS["refused"], ids=lambda case: case["why"])
def test_the_vectors_that_are_no_messages_are_refused(case: dict[str, str]) -> None:
    with pytest.raises(PeerError):
        m.decode(bytes.fromhex(case["bytes"]))


@pytest.mark.parametrize("case", VECTORS["statements"], ids=lambda case: case["role"])
def test_the_vectors_of_statements_are_signed_as_they_say(case: dict[str, str]) -> None:
    key = SigningKey.from_seed(bytes.fromhex(case["seed"]))
    wishes = map(bytes.fromhex, case["wishes"])
    nonce = bytes.fromhex(case["nonce"])

    stated = m.statement(Role(case["role"]), case["relay"], nonce, *wishes)

    assert stated.hex() == case["statement"]
    assert key.sign(stated).hex() == case["signature"]


def test_the_vectors_have_every_message() -> None:
    found = {case["fields"]["is"] for case in VECTORS["messages"]}

    assert found == {kind.__struct_config__.tag for kind in get_args(m.RelayMessage)}


def test_the_messages_change_only_together_with_the_version() -> None:
    shape = msgspec.json.schema(m.RelayMessage)

    assert fingerprint(shape) == FINGERPRINTS[m.VERSION]


def test_a_signature_is_good_for_one_link_relay_role_and_wish() -> None:
    key = SigningKey.from_seed(b"k" * 32)
    signed = key.sign(m.statement(Role.OPERATOR, "a.example", NONCE, HOST.encode()))

    for role, name, nonce, wish in [
        (Role.HOST, "a.example", NONCE, HOST.encode()),
        (Role.OPERATOR, "b.example", NONCE, HOST.encode()),
        (Role.OPERATOR, "a.example", b"N" * 32, HOST.encode()),
        (Role.OPERATOR, "a.example", NONCE, SESSION.encode()),
        (Role.OPERATOR, "a.example:1", NONCE, HOST.encode()),
    ]:
        assert not verify(key.public, m.statement(role, name, nonce, wish), signed)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda one: type(one).__name__)
def test_a_proof_states_its_role_and_what_it_asks_for(proof: m.Proof) -> None:
    stated = m.stated(proof, "relay.example", NONCE)

    assert b"relay.example" in stated
    assert NONCE in stated
    if isinstance(proof, m.Meet):
        assert TICKET in stated
    if isinstance(proof, m.Reach):
        assert HOST.encode() in stated


@pytest.mark.parametrize("error", [NotReachable(HOST), LeaseHeld(HOST, 7, 1500)])
def test_a_refusal_is_the_same_error_at_the_other_end(error: HoldfastError) -> None:
    told = m.error_from(m.refusal(error))
    told_of_lease = m.error_from(m.lease_refusal(1, error))

    assert type(told) is type(told_of_lease) is type(error)
    assert told.facts == told_of_lease.facts == error.facts
