"""How much a holder takes from a client before it has proven who it is."""

import socket
import struct
from collections.abc import Iterator

import pytest

from holdfast.holder.links.connection import Connection
from holdfast.holder.poll import Poll
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    NO_EPOCH,
    actor_id,
    client_id,
)
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode, encode
from holdfast.wire.frames import MAX_UNPROVEN_PAYLOAD, FrameKind, FrameReader

ANNA = Actor(actor_id(b"anna"), ActorKind.HUMAN, "anna")
SMALL = encode(wire.Ping(1))
LARGE_HEADER = struct.pack(">BI", FrameKind.SUBMIT, MAX_UNPROVEN_PAYLOAD + 1)
LARGE = wire.Submit(
    client=client_id(bytes(ENTROPY)),
    sequence=1,
    kind=InputKind.KEYS,
    incarnation=FIRST_INCARNATION,
    epoch=NO_EPOCH,
    payload=bytes(MAX_UNPROVEN_PAYLOAD),
    seen=None,
    waits=False,
)


@pytest.fixture
def ends() -> Iterator[tuple[Connection, socket.socket]]:
    near, far = socket.socketpair()
    poll = Poll()
    yield Connection(near, poll, []), far
    near.close()
    far.close()
    poll.close()


def test_a_large_frame_of_an_unproven_client_is_refused_on_its_header(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, far = ends
    heard: list[Message] = []

    connection.take(SMALL + LARGE_HEADER, lambda _, one: heard.append(one))

    assert heard == [wire.Ping(1)]
    assert connection.is_closed
    (frame,) = FrameReader().feed(far.recv(1 << 12))
    told = decode(frame)
    assert isinstance(told, wire.Goodbye)
    assert told.code == "frame-too-large"


def test_a_large_frame_may_come_right_behind_the_proof(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, _ = ends
    heard: list[Message] = []

    def handle(connection: Connection, message: Message) -> None:
        heard.append(message)
        connection.actor = ANNA

    connection.take(SMALL + encode(LARGE), handle)

    assert heard == [wire.Ping(1), LARGE]
    assert not connection.is_closed
