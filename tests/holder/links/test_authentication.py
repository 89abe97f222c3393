"""Who comes to a session, or asks for one: nobody without a proof of it."""

import json
import socket
import time
from collections.abc import Iterator

import pytest

from holdfast.client import current_operator
from holdfast.client.proven_requests import change_proven, proven
from holdfast.client.wanted_session import proven_facts
from holdfast.crypto.local_proof import local_proof
from holdfast.crypto.proof import change_proof, creation_proof, host_token
from holdfast.holder.links import authentication
from holdfast.holder.links.connection import Connection
from holdfast.holder.poll import Poll
from holdfast.linux.packets import Packet
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotProven, UnexpectedMessage, UnknownOperator
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_requests import Creation, Rename, packet_of
from holdfast.wire import messages as wire
from holdfast.wire.creation import HOST, change_bytes, proven_bytes

SESSION = SessionId("s_" + "a" * 16)
STRANGER = ActorId("a_" + "x" * 32)
HOUR_MS = 3_600_000


@pytest.fixture
def anna(own_folders: None) -> Enrolled:
    del own_folders
    return current_operator.ourselves()


@pytest.fixture
def bert(anna: Enrolled) -> Enrolled:
    del anna
    return current_operator.enrol("bert", ActorKind.HUMAN)


def start(creator: Enrolled, /, **other: object) -> Packet:
    asked = Creation("x", ("ls",), "/")
    made = proven(asked, creator.actor.id, creator.token())
    return {**json.loads(json.dumps(packet_of(made))), **other}


def change(asker: str, token: bytes, /, **other: object) -> Packet:
    asked = change_proven(Rename(SESSION, "new"), asker, token)
    return {**packet_of(asked), **other}


# ── who asks for a session ────────────────────────────────────────────────────


def test_who_proves_it_asks_for_a_session_and_each_proof_counts_once(
    anna: Enrolled, bert: Enrolled
) -> None:
    asked = start(anna)

    assert authentication.creator_of(asked).actor == anna.actor
    with pytest.raises(NotProven):
        authentication.creator_of(asked)
    assert authentication.creator_of(start(anna)).actor == anna.actor
    assert authentication.creator_of(start(bert)).actor == bert.actor


def test_a_request_for_a_session_is_of_who_proves_it_and_as_it_was_proven(
    anna: Enrolled, bert: Enrolled
) -> None:
    for asked in (
        start(anna, creator=bert.actor.id),
        start(anna, command=["rm"]),
        start(anna, proof=""),
        start(anna, proof="no digits"),
        start(anna, proof=None),
        start(anna, creator=""),
    ):
        with pytest.raises(NotProven):
            authentication.creator_of(asked)
    with pytest.raises(UnknownOperator):
        authentication.creator_of(start(anna, creator=STRANGER))


@pytest.mark.parametrize("age", [HOUR_MS, -HOUR_MS])
def test_an_old_proof_of_a_start_is_none(anna: Enrolled, age: int) -> None:
    whole = start(anna, asked_ms=time.time_ns() // 1_000_000 - age)
    whole["proof"] = creation_proof(anna.token(), proven_bytes(whole)).hex()

    with pytest.raises(NotProven):
        authentication.creator_of(whole)


# ── who asks for a change ─────────────────────────────────────────────────────


def test_a_change_is_asked_for_by_an_operator_or_by_the_host(anna: Enrolled) -> None:
    by_anna = authentication.asker_of(change(anna.actor.id, anna.token()))
    by_host = authentication.asker_of(change(HOST, host_token(host_seed())))

    assert by_anna is not None
    assert by_anna.actor == anna.actor
    assert by_host is None


def test_a_change_is_of_who_proves_it_and_as_it_was_proven(
    anna: Enrolled, bert: Enrolled
) -> None:
    for asked in (
        change(anna.actor.id, bert.token()),
        change(HOST, anna.token()),
        change(anna.actor.id, anna.token(), name="other"),
        change(anna.actor.id, anna.token(), proof=""),
        change(anna.actor.id, anna.token(), asker=""),
    ):
        with pytest.raises(NotProven):
            authentication.asker_of(asked)
    with pytest.raises(UnknownOperator):
        authentication.asker_of(change(STRANGER, anna.token()))


@pytest.mark.parametrize("age", [HOUR_MS, -HOUR_MS])
def test_an_old_proof_of_a_change_is_none(anna: Enrolled, age: int) -> None:
    asked_ms = time.time_ns() // 1_000_000 - age
    whole = change(anna.actor.id, anna.token(), asked_ms=asked_ms)
    whole["proof"] = change_proof(anna.token(), change_bytes(whole)).hex()

    with pytest.raises(NotProven):
        authentication.asker_of(whole)


# ── who attaches ──────────────────────────────────────────────────────────────


@pytest.fixture
def connection(anna: Enrolled) -> Iterator[Connection]:
    del anna
    near, far = socket.socketpair()
    made = Connection(near, Poll(), [])
    made.nonce = b"n" * 32
    yield made
    made.close()
    far.close()


def claimed(operator: Enrolled, nonce: bytes = b"n" * 32) -> wire.Identify:
    proof = local_proof(operator.token(), SESSION, nonce)
    return wire.Identify(operator.actor.id, proof)


def test_who_proves_it_is_let_in_once_by_one_nonce(
    connection: Connection, anna: Enrolled
) -> None:
    claim = claimed(anna)

    assert authentication.identify(connection, SESSION, claim).actor == anna.actor
    with pytest.raises(NotProven):
        authentication.identify(connection, SESSION, claim)


def test_a_wrong_proof_uses_up_the_nonce(
    connection: Connection, anna: Enrolled, bert: Enrolled
) -> None:
    wrong = wire.Identify(anna.actor.id, claimed(bert).proof)
    with pytest.raises(NotProven):
        authentication.identify(connection, SESSION, wrong)
    with pytest.raises(NotProven):
        authentication.identify(connection, SESSION, claimed(anna))


def test_a_stranger_is_not_known(connection: Connection, anna: Enrolled) -> None:
    stranger = wire.Identify(STRANGER, claimed(anna).proof)
    with pytest.raises(UnknownOperator):
        authentication.identify(connection, SESSION, stranger)


def test_manners_are_a_hello_then_a_name_then_the_rest(
    connection: Connection, anna: Enrolled
) -> None:
    for message in (wire.Ping(1), claimed(anna), wire.Take()):
        with pytest.raises(UnexpectedMessage):
            authentication.demand_manners(connection, message)
    connection.is_welcome = True
    authentication.demand_manners(connection, wire.Ping(1))
    authentication.demand_manners(connection, claimed(anna))
    with pytest.raises(UnexpectedMessage):
        authentication.demand_manners(connection, wire.Take())
    connection.actor = anna.actor
    authentication.demand_manners(connection, wire.Take())


def test_a_proof_for_another_life_starts_nothing_else(anna: Enrolled) -> None:
    asked: Packet = {"recovers": SESSION, "name": "web"}
    proof = proven_facts(asked, anna.actor.id, anna.token())
    made: Packet = {**proof, "recover": True, "id": SESSION}

    for wrong in (
        {**made, "recover": False, "command": ["sh"]},
        {**made, "id": "s_" + "b" * 16},
        {**made, "env": {"PATH": "/tmp"}},  # noqa: S108  # no file is there
    ):
        with pytest.raises(NotProven):
            authentication.creator_of(wrong)
    assert authentication.creator_of(made) == anna
    with pytest.raises(NotProven):
        authentication.creator_of(made)  # Once.
