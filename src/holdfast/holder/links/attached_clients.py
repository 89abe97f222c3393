"""The operators attached to this session, with their clients and since when."""

import time
from collections.abc import Iterable

from holdfast.holder.links.connection import Connection
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import SessionFull
from holdfast.model.ids import ActorId, ClientId
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import Message

MAX_KNOWN = 1024
"""Operators whose names are remembered after they have left."""

MAX_CLIENTS = 256
"""Clients attached to one session: what a newcomer can be told of in one message."""

MAX_CLIENTS_EACH = 64
"""Clients of one operator: more windows and devices than a person has."""

KEPT_FOR_HUMANS = 32
"""Places that nobody else gets: agents cannot shut out people who would stop them."""

NEWS = 60.0
"""Seconds in which a newcomer is told what was announced for a while: a client that was
attached to a holder that hung comes back within a few."""

MAX_NEWS = 8

MAX_CONNECTIONS = 2 * MAX_CLIENTS
"""Connections at a time, with those that have not attached: half as many as a
process may usually have files open."""


class AttachedClients:
    """The clients of one session that have attached."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        """All connections, also of clients that have not attached."""

        self.gone: list[Connection] = []
        """Those of them that were hung up on, and are to be closed."""

        self._news: list[tuple[float, Message]] = []
        self._known: dict[ActorId, Actor] = {}

    def meet(self, actor: Actor) -> None:
        """Remember an operator."""
        if len(self._known) >= MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[actor.id] = actor

    def knows(self, wanted: ActorId) -> bool:
        """Tell whether an operator has been here."""
        return wanted in self._known

    def actor(self, wanted: ActorId) -> Actor:
        """Return an operator's record; a stranger counts as an agent without a name."""
        return self._known.get(wanted) or Actor(wanted, ActorKind.AGENT, "")

    def kind_of(self, wanted: ActorId) -> ActorKind:
        """Return the kind of an operator."""
        known = self._known.get(wanted)
        return ActorKind.AGENT if known is None else known.kind

    def demand_room(self, newcomer: Actor) -> None:
        """Do nothing if another client of this operator may attach.

        Raises:
            Unavailable: There are too many clients, its own or in total.

        """
        if len(self.clients_of(newcomer.id)) >= MAX_CLIENTS_EACH:
            raise SessionFull(newcomer.name, MAX_CLIENTS_EACH)
        is_human = newcomer.kind is ActorKind.HUMAN
        limit = MAX_CLIENTS if is_human else MAX_CLIENTS - KEPT_FOR_HUMANS
        if len(list(self.attached())) >= limit:
            raise SessionFull("the session", limit)

    def make_room(self) -> None:
        """End the oldest connection that has not attached, if there are too many.

        The last to come is let in: it may be the one who would stop the others.
        """
        if len(self.connections) > MAX_CONNECTIONS:
            idle = (one for one in self.connections if one.client is None)
            next(idle).hang_up()

    def clients_of(self, actor: ActorId) -> list[Connection]:
        """Return an operator's attached clients."""
        return [
            one
            for one in self.attached()
            if one.actor is not None and one.actor.id == actor
        ]

    def is_first(self, newcomer: Connection) -> bool:
        """Tell whether no other client of this operator's program is attached.

        One program may have several links: one to stay, and one for what it does.
        """
        return all(
            one is newcomer
            or one.program != newcomer.program
            or one.process != newcomer.process
            for one in self.clients_of(newcomer.operator.id)
        )

    def has(self, actor: ActorId, client: ClientId) -> bool:
        """Tell whether a client of an operator is attached, or acts on such a link."""
        return any(
            client in (one.client, *one.clients) for one in self.clients_of(actor)
        )

    def announce(self, message: Message) -> None:
        """Tell all attached clients."""
        for connection in self.attached():
            connection.send(message)

    def announce_for_a_while(self, message: Message) -> None:
        """Tell all clients that are attached, or attach within a minute."""
        since = time.monotonic() - NEWS
        recent = [one for one in self._news if one[0] >= since]
        self._news = [*recent, (time.monotonic(), message)][-MAX_NEWS:]
        self.announce(message)

    def brief(self, newcomer: Connection) -> None:
        """Tell a newcomer what was announced a moment ago."""
        since = time.monotonic() - NEWS
        for at, message in self._news:
            if at >= since:
                newcomer.send(message)

    def tell(self, actor: ActorId, message: Message) -> None:
        """Tell every client of one operator."""
        for connection in self.clients_of(actor):
            connection.send(message)

    def operators(self) -> tuple[wire.Operator, ...]:
        """Return who is here, as a newcomer is told."""
        return tuple(
            wire.Operator(one.actor.id, one.actor.kind, one.actor.name, one.client)
            for one in self.attached()
            if one.actor is not None and one.client is not None
        )[: wire.MAX_OPERATORS]

    def present(self) -> tuple[presence.Present, ...]:
        """Return who is here, with what sort of program, and for how long."""
        now = time.monotonic()
        return tuple(
            presence.Present(
                actor=one.actor.id,
                kind=one.actor.kind,
                name=one.actor.name,
                client=one.client,
                program=one.program,
                mode=one.mode,
                for_ms=round((now - one.attached_at) * 1000),
            )
            for one in self.attached()
            if one.actor is not None and one.client is not None
        )[: wire.MAX_OPERATORS]

    def attached(self) -> Iterable[Connection]:
        """Return every client that watches or acts."""
        return [one for one in self.connections if one.client is not None]
