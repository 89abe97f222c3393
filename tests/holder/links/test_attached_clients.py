import socket
import time
from collections.abc import Iterator

import pytest

from holdfast.holder.links.attached_clients import (
    KEPT_FOR_HUMANS,
    MAX_CLIENTS,
    MAX_CLIENTS_EACH,
    MAX_CONNECTIONS,
    MAX_KNOWN,
    MAX_NEWS,
    NEWS,
    AttachedClients,
)
from holdfast.holder.links.connection import MAX_ACTING, Connection
from holdfast.holder.poll import Poll
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import SessionFull
from holdfast.model.ids import ENTROPY, SessionId, actor_id, client_id
from holdfast.wire import messages as wire

AGENTS_PLACES = MAX_CLIENTS - KEPT_FOR_HUMANS


@pytest.fixture
def connections() -> Iterator[list[Connection]]:
    made: list[Connection] = []
    yield made
    for connection in made:
        connection.close()


def operator(number: int, kind: ActorKind = ActorKind.AGENT) -> Actor:
    return Actor(actor_id(bytes([number])), kind, f"{kind}{number}")


def clients_with(connections: list[Connection]) -> AttachedClients:
    clients = AttachedClients()
    clients.connections = connections
    return clients


def connect(connections: list[Connection]) -> Connection:
    link, other = socket.socketpair()
    other.close()
    connections.append(Connection(link, Poll(), []))
    return connections[-1]


def attach(connections: list[Connection], actor: Actor) -> None:
    connection = connect(connections)
    connection.actor, connection.client = actor, client_id(bytes(ENTROPY))


def refused(clients: AttachedClients, actor: Actor) -> dict[str, object]:
    with pytest.raises(SessionFull) as caught:
        clients.demand_room(actor)
    return {**caught.value.facts}


def test_t23_one_operator_has_so_many_clients_and_no_more(
    connections: list[Connection],
) -> None:
    clients = clients_with(connections)
    for _ in range(MAX_CLIENTS_EACH):
        clients.demand_room(operator(1))
        attach(connections, operator(1))

    full = refused(clients, operator(1))

    assert full == {"whose": "agent1", "limit": MAX_CLIENTS_EACH}
    clients.demand_room(operator(2))


def test_t23_agents_cannot_take_the_places_of_people(
    connections: list[Connection],
) -> None:
    clients = clients_with(connections)
    for number in range(AGENTS_PLACES):
        clients.demand_room(operator(number % 8))
        attach(connections, operator(number % 8))

    full = refused(clients, operator(9))

    assert full == {"whose": "the session", "limit": AGENTS_PLACES}
    for _ in range(KEPT_FOR_HUMANS):
        clients.demand_room(operator(10, ActorKind.HUMAN))
        attach(connections, operator(10, ActorKind.HUMAN))
    everybody = refused(clients, operator(11, ActorKind.HUMAN))
    assert everybody == {"whose": "the session", "limit": MAX_CLIENTS}


def test_t23_connections_that_never_attach_make_room_for_the_next(
    connections: list[Connection],
) -> None:
    clients = clients_with(connections)
    attach(connections, operator(1))
    while len(connections) < MAX_CONNECTIONS:
        connect(connections)
    clients.make_room()
    assert not any(one.is_closed for one in connections)

    newest = connect(connections)
    clients.make_room()

    assert [one.is_closed for one in connections[:3]] == [False, True, False]
    assert not newest.is_closed


def test_a_program_is_news_with_its_first_link_and_not_with_a_further_one(
    connections: list[Connection],
) -> None:
    clients, actor = clients_with(connections), operator(1)
    attach(connections, actor)
    attach(connections, actor)
    first, second = connections

    assert not clients.is_first(second)
    connections.remove(second)
    assert clients.is_first(first)
    second.close()


@pytest.mark.parametrize("changed", ["operator", "program", "process"])
def test_another_operator_program_or_process_is_news(
    connections: list[Connection], changed: str
) -> None:
    clients = clients_with(connections)
    attach(connections, operator(1))
    attach(connections, operator(2 if changed == "operator" else 1))
    newcomer = connections[-1]
    if changed == "program":
        newcomer.program = "mcp"
    if changed == "process":
        newcomer.process += 1

    assert clients.is_first(newcomer)


def test_a_client_is_there_by_its_own_id_and_operator(
    connections: list[Connection],
) -> None:
    clients = clients_with(connections)
    attach(connections, operator(1))
    here, other = client_id(bytes(ENTROPY)), client_id(b"x" * ENTROPY)

    assert clients.has(operator(1).id, here)
    assert not clients.has(operator(1).id, other)
    assert not clients.has(operator(2).id, here)


def hear(connections: list[Connection]) -> socket.socket:
    """Attach a client, and return its side of the link."""
    ours, theirs = socket.socketpair()
    connections.append(Connection(ours, Poll(), []))
    connections[-1].actor = operator(1)
    connections[-1].client = client_id(bytes(ENTROPY))
    theirs.settimeout(0)
    return theirs


def heard(link: socket.socket) -> int:
    try:
        return link.recv(65536).count(b"process.replaced")
    except BlockingIOError:
        return 0


def test_what_is_announced_for_a_while_is_told_to_newcomers_as_well(
    connections: list[Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = clients_with(connections)
    event = wire.Event("process.replaced", SessionId("s_" + "a" * 16), {"pid": 7})
    with hear(connections) as first, hear(connections) as second:
        clients.announce_for_a_while(event)
        assert (heard(first), heard(second)) == (1, 1)

        clients.brief(connections[1])
        assert (heard(first), heard(second)) == (0, 1)

        for _ in range(2 * MAX_NEWS):
            clients.announce_for_a_while(event)
        heard(second)
        clients.brief(connections[1])
        assert heard(second) == MAX_NEWS

        later = time.monotonic() + 2 * NEWS
        monkeypatch.setattr(time, "monotonic", lambda: later)
        clients.brief(connections[1])
        assert heard(second) == 0


def test_a_link_acts_for_the_clients_that_came_last(
    connections: list[Connection],
) -> None:
    clients, actor = clients_with(connections), operator(1)
    attach(connections, actor)
    first, *others = (client_id(bytes([n]) * ENTROPY) for n in range(1, MAX_ACTING + 2))
    assert connections[0].acts_for(first) == []
    assert clients.has(actor.id, first)
    assert clients.has(actor.id, client_id(bytes(ENTROPY)))
    assert not clients.has(operator(2).id, first)

    gone = [one for other in others for one in connections[0].acts_for(other)]

    assert gone == [first]
    assert not clients.has(actor.id, first)
    assert connections[0].acts_for(others[0]) == []
    assert connections[0].clients[-1] == others[0]


def test_t23_so_many_are_remembered_and_the_first_is_forgotten_first() -> None:
    clients = AttachedClients()
    everybody = [
        Actor(actor_id(number.to_bytes(2)), ActorKind.HUMAN, f"anna{number}")
        for number in range(MAX_KNOWN + 1)
    ]

    for one in everybody:
        clients.meet(one)

    assert not clients.knows(everybody[0].id)
    assert clients.actor(everybody[0].id).kind is ActorKind.AGENT
    assert all(clients.actor(one.id) == one for one in everybody[1:])
