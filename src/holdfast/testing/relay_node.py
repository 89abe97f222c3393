"""A simulated relay: the real lease registry, a store, and a switchboard."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.core.relay import lease, lease_registry
from holdfast.model.errors import HoldfastError, LeaseHeld, LeaseLost
from holdfast.model.ids import ActorId, HostId, Incarnation, SessionId
from holdfast.testing.ledger import Ledger
from holdfast.testing.world import Machine, World, demand

if TYPE_CHECKING:
    from holdfast.testing.holder_node import HolderNode
    from holdfast.testing.host_node import HostNode
    from holdfast.testing.operator_node import OperatorNode

TTL = 4.0
"""Short, so that many leases run out in a short simulated time."""


class RelayNode:
    """The one relay of the world."""

    def __init__(self, world: World, ledger: Ledger) -> None:
        self.world = world
        self.ledger = ledger
        self.machine = Machine(world, "relay")
        self.hosts: dict[str, HostNode] = {}
        self.operators: list[ActorId] = []
        self.store: dict[SessionId, lease_registry.Record] = {}
        self.disk_is_full = False
        self.was_rolled_back = False
        self._newest = dict(self.store)
        self._asks: dict[int, tuple[HostNode, SessionId, float]] = {}
        self._ask_id = 0
        self.life = 0
        self._granted_at: dict[SessionId, tuple[Incarnation, float]] = {}
        self._restart()

    # ── life ──────────────────────────────────────────────────────────────

    def kill(self) -> None:
        """Die and start again with what the store holds."""
        self.world.reached["relay killed"] += 1
        self._restart()

    def snapshot(self) -> dict[SessionId, lease_registry.Record]:
        """Copy the store, as a backup would."""
        return dict(self.store)

    def roll_back(self, snapshot: dict[SessionId, lease_registry.Record]) -> None:
        """Start again from an old copy of the store."""
        self.world.reached["relay rolled back"] += 1
        self.was_rolled_back = self.ledger.forgives_return = True
        self.store = dict(snapshot)
        self._restart()

    def restore_newest(self) -> None:
        """Undo a roll-back: start again from the newest store there was."""
        self.store = dict(self._newest)
        self._restart()

    def _restart(self) -> None:
        self.life += 1
        self._asks.clear()
        self._granted_at.clear()
        now = self.machine.clock().now
        self.registry = lease_registry.LeaseRegistry(self.store.values(), now, ttl=TTL)

    # ── leases ────────────────────────────────────────────────────────────

    def asked(
        self,
        host: "HostNode",
        question: lease_registry.Asked,
        asked_at: float,
        life: int,
    ) -> None:
        """Take a host's question about a lease.

        It came over a connection, and connections end with the relay's life.
        """
        if life != self.life:
            self.world.reached["question to a former relay"] += 1
            return
        self._ask_id += 1
        self._asks[self._ask_id] = (host, question.session, asked_at)
        numbered = replace(question, ask_id=self._ask_id)
        self._perform(self.registry.handle(numbered, self.machine.clock().now))

    def invalidate(self, session: SessionId) -> None:
        """Give up on the host that holds a session."""
        self.world.reached["lease invalidated"] += 1
        event = lease_registry.Invalidated(session)
        self._perform(self.registry.handle(event, self.machine.clock().now))
        demand(self.route(session) is None, "I2", "routed to an invalidated lease")

    def route(self, session: SessionId) -> lease_registry.Route | None:
        """Return where a session's operators are joined to, and check it."""
        now = self.machine.clock().now
        route = self.registry.route(session, now)
        if route is not None:
            granted = self._granted_at.get(session)
            demand(granted is not None, "I2", "routed without a grant since the start")
            assert granted is not None
            incarnation, at = granted
            demand(incarnation == route.incarnation, "I2", "routed to an older life")
            demand(now < at + lease.relay_span(TTL), "I2", "routed on a dead lease")
        return route

    def tick(self) -> None:
        """Let expiries be noticed."""
        self._perform(self.registry.tick(self.machine.clock().now))

    def _perform(self, effects: list[lease_registry.Effect]) -> None:
        for effect in effects:
            match effect:
                case lease_registry.Persist(token, record):
                    args = (self.life, token, record)
                    self.machine.after(
                        self.world.rng.uniform(0.001, 0.05), self._persist, *args
                    )
                case lease_registry.Grant():
                    self._grant(effect)
                case lease_registry.Refuse(ask_id, error):
                    self._refuse(ask_id, error)
                case lease_registry.ReportRollback():
                    self.world.reached["rollback seen by the relay"] += 1
                case _:
                    pass

    def _persist(self, life: int, token: int, record: lease_registry.Record) -> None:
        if life != self.life:
            return
        now = self.machine.clock().now
        if self.disk_is_full:
            self.world.reached["relay's disk full"] += 1
            self._perform(
                self.registry.handle(lease_registry.PersistFailed(token), now)
            )
            return
        self.store[record.session] = record
        newest = self._newest.get(record.session)
        if newest is None or newest.incarnation <= record.incarnation:
            self._newest[record.session] = record
        if self.world.rng.random() < 0.02:
            self.world.reached["relay killed between store and answer"] += 1
            self.kill()
            return
        self._perform(self.registry.handle(lease_registry.Persisted(token), now))

    def _grant(self, grant: lease_registry.Grant) -> None:
        host, session, asked_at = self._asks.pop(grant.ask_id)
        stored = self.store.get(session)
        demand(
            stored is not None and stored.incarnation == grant.incarnation,
            "I3",
            "granted before it was durable",
        )
        if not self.was_rolled_back:
            self.ledger.granted(session, grant.incarnation, grant.host)
        now = self.machine.clock().now
        self._granted_at[session] = (grant.incarnation, now)
        event = lease.Granted(grant.incarnation, grant.ttl, asked_at)
        self.world.send("relay", host.machine, host.lease_answered, session, event)

    def _refuse(self, ask_id: int, error: HoldfastError) -> None:
        host, session, asked_at = self._asks.pop(ask_id)
        self.world.reached[f"lease refused: {error.code}"] += 1
        event: lease.Event
        match error:
            case LeaseHeld():
                facts = error.facts
                event = lease.Refused(
                    HostId(str(facts["holder"])),
                    Incarnation(int(facts["incarnation"])),
                    int(facts["wait_ms"]) / 1000,
                    asked_at,
                )
            case LeaseLost():
                incarnation = Incarnation(int(error.facts["incarnation"]))
                event = lease.Refused(None, incarnation, 0.0, asked_at)
            case _:
                return
        self.world.send("relay", host.machine, host.lease_answered, session, event)

    # ── the switchboard ───────────────────────────────────────────────────

    def join(self, session: SessionId) -> "HolderNode | None":
        """Return whom an operator that dials now is joined to."""
        if self.machine.is_frozen():
            return None
        route = self.route(session)
        return None if route is None else self.hosts[route.host].dial(session)

    def forward(
        self,
        session: SessionId,
        what: str,
        operator: "OperatorNode",
        args: tuple[Any, ...],
        channel: "HolderNode",
    ) -> None:
        """Carry an operator's message to wherever the session speaks now."""
        route = self.route(session)
        if route is None:
            self.world.reached["no route"] += 1
            return
        host = self.hosts[route.host]
        message = (session, what, operator, args, channel)
        self.world.send("relay", host.machine, host.receive, *message)

    def forward_back(
        self,
        operator: "OperatorNode",
        action: Callable[..., None],
        args: tuple[Any, ...],
    ) -> None:
        """Carry a host's message to an operator."""
        self.world.send("relay", operator.machine, action, *args)
