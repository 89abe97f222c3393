import socket
from collections.abc import Iterator

import pytest

from holdfast.holder.company import (
    KEPT_FOR_HUMANS,
    MAX_CLIENTS,
    MAX_CLIENTS_EACH,
    MAX_CONNECTIONS,
    Company,
)
from holdfast.holder.connection import Connection
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import SessionFull
from holdfast.model.ids import ENTROPY, actor_id, client_id

AGENTS_PLACES = MAX_CLIENTS - KEPT_FOR_HUMANS


@pytest.fixture
def connections() -> Iterator[list[Connection]]:
    made: list[Connection] = []
    yield made
    for connection in made:
        connection.close()


def operator(number: int, kind: ActorKind = ActorKind.AGENT) -> Actor:
    return Actor(actor_id(bytes([number])), kind, f"{kind}{number}")


def connect(connections: list[Connection]) -> Connection:
    link, other = socket.socketpair()
    other.close()
    connections.append(Connection(link))
    return connections[-1]


def attach(connections: list[Connection], actor: Actor) -> None:
    connection = connect(connections)
    connection.actor, connection.client = actor, client_id(bytes(ENTROPY))


def refused(company: Company, actor: Actor) -> dict[str, object]:
    with pytest.raises(SessionFull) as caught:
        company.demand_room(actor)
    return {**caught.value.facts}


def test_t23_one_operator_has_so_many_clients_and_no_more(
    connections: list[Connection],
) -> None:
    company = Company(connections)
    for _ in range(MAX_CLIENTS_EACH):
        company.demand_room(operator(1))
        attach(connections, operator(1))

    full = refused(company, operator(1))

    assert full == {"whose": "agent1", "limit": MAX_CLIENTS_EACH}
    company.demand_room(operator(2))


def test_t23_agents_cannot_take_the_places_of_people(
    connections: list[Connection],
) -> None:
    company = Company(connections)
    for number in range(AGENTS_PLACES):
        company.demand_room(operator(number % 8))
        attach(connections, operator(number % 8))

    full = refused(company, operator(9))

    assert full == {"whose": "the session", "limit": AGENTS_PLACES}
    for _ in range(KEPT_FOR_HUMANS):
        company.demand_room(operator(10, ActorKind.HUMAN))
        attach(connections, operator(10, ActorKind.HUMAN))
    everybody = refused(company, operator(11, ActorKind.HUMAN))
    assert everybody == {"whose": "the session", "limit": MAX_CLIENTS}


def test_t23_connections_that_never_attach_make_room_for_the_next(
    connections: list[Connection],
) -> None:
    company = Company(connections)
    attach(connections, operator(1))
    while len(connections) < MAX_CONNECTIONS:
        connect(connections)
    company.make_room()
    assert not any(one.is_closed for one in connections)

    newest = connect(connections)
    company.make_room()

    assert [one.is_closed for one in connections[:3]] == [False, True, False]
    assert not newest.is_closed
