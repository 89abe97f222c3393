"""A simulated host: a machine with holders, a disk, and a link to the relay."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.core.book.logbook import Receipt
from holdfast.core.relay import lease, lease_registry
from holdfast.model.ids import HostId, Incarnation, SessionId
from holdfast.testing.holder_node import HolderNode
from holdfast.testing.holder_remains import HolderRemains, receipt_of
from holdfast.testing.ledger import Ledger
from holdfast.testing.simulated_terminal import Terminal
from holdfast.testing.volume import LogFile, Refused, Replica
from holdfast.testing.world import Machine, World, demand

if TYPE_CHECKING:
    from holdfast.testing.operator_node import OperatorNode
    from holdfast.testing.relay_node import RelayNode

RESTART = (0.01, 0.2)
"""Seconds until the keeper has a new holder in place of a dead one."""

Replicas = dict[SessionId, Replica]


class HostNode:
    """One machine on which sessions live."""

    def __init__(
        self, world: World, ledger: Ledger, name: str, replicas: Replicas
    ) -> None:
        self.world = world
        self.ledger = ledger
        self.machine = Machine(world, name)
        self.id = HostId(name)
        self.relay: RelayNode | None = None
        self.disk_is_slow = False
        self.disk_is_full = False
        self.failpoint_rate = 0.0
        self.lets_doze = True
        self.remains: dict[SessionId, HolderRemains] = {}
        self.holders: dict[SessionId, HolderNode] = {}
        self.claims: dict[SessionId, lease.LeaseHolder] = {}
        self._replicas = replicas

    # ── sessions ──────────────────────────────────────────────────────────

    def claim(self, session: SessionId) -> None:
        """Ask to live as the next incarnation of a session."""
        if session in self.claims or not self.machine.is_up:
            return
        if session in self.holders and not self.holders[session].lease.is_over:
            return
        seen = self._replicas[session].incarnation
        now = self.machine.clock().now
        self.claims[session] = lease.LeaseHolder(self.id, now, seen=seen)
        self.machine.after(0, self._tick_claim, session, self.claims[session])

    def kill_holder(self, holder: HolderNode) -> None:
        """Kill a holder; the keeper notices and starts another."""
        if not holder.is_alive:
            return
        holder.kill()
        self.world.reached["holder killed"] += 1
        delay = self.world.rng.uniform(*RESTART)
        self.machine.after(delay, self._replace, holder)

    def doze(self, holder: HolderNode) -> None:
        """Let a holder go whose session dozes, until something wakes another."""
        demand(not holder.left.is_frozen, "I4", "a session dozes that is frozen")
        demand(holder.may_speak(), "I2", "a session dozes that may not be reached")
        holder.is_alive, holder.is_asleep = False, True
        self.world.reached["dozed"] += 1
        deadline = holder.lease.next_deadline()
        if deadline is not None:
            delay = max(deadline - self.machine.clock().now, 0)
            self.machine.after(delay, self.wake, holder)

    def wake(self, holder: HolderNode) -> None:
        """Have another holder made, if the session still dozes."""
        if holder.is_asleep and self.holders.get(holder.left.session) is holder:
            self._replace(holder)

    def dial(self, session: SessionId) -> HolderNode | None:
        """Return who answers a connection; one that dozes is woken."""
        found = self.holders.get(session)
        is_awake = self.machine.is_up and not self.machine.is_frozen()
        if found is not None and found.is_asleep and is_awake:
            self.wake(found)
        return self.holders.get(session)

    def discard(self, holder: HolderNode) -> None:
        """Drop a life that is over; its session lives elsewhere."""
        holder.is_alive = False
        if self.holders.get(holder.left.session) is holder:
            del self.holders[holder.left.session]
            del self.remains[holder.left.session]

    def die(self) -> None:
        """Lose power, and everything that was not durable."""
        self.machine.die()
        self.world.reached["host died"] += 1
        for holder in self.holders.values():
            holder.is_alive = False
        for left in self.remains.values():
            self.world.reached["unsynced log lost"] += bool(
                left.log.tear(self.world.rng)
            )
            left.note = left.lease_expires_at = None
        self.holders.clear()
        self.claims.clear()

    def boot(self) -> None:
        """Start again, with no session running."""
        if self.machine.is_up:
            return
        self.machine.start()
        self.disk_is_full = self.disk_is_slow = False

    def set_disk_full(self, *, full: bool) -> None:
        """Let the disk take nothing, or something again."""
        self.disk_is_full = full
        for left in self.remains.values():
            left.log.is_full = full

    def _replace(self, dead: HolderNode) -> None:
        left = dead.left
        if self.holders.get(left.session) is not dead:
            return
        try:
            self.holders[left.session] = HolderNode(self, left, born=False)
        except Refused as error:
            if str(error) == "fenced":
                self.world.reached["fenced by the store"] += 1
                self.discard(dead)
                return
            # What cannot be made durable is not taken up; try again.
            self.machine.after(0.2, self._replace, dead)

    def _begin(
        self, session: SessionId, incarnation: Incarnation, until: float
    ) -> None:
        replica = self._replicas[session]
        if incarnation <= replica.incarnation:
            # The session's own log proves that this number has lived already:
            # the relay has forgotten it.
            self.world.reached["reused incarnation refused by a host"] += 1
            return
        left = self.remains.get(session)
        old = self.holders.pop(session, None)
        if old is not None:
            old.is_alive = False
        log = LogFile(replica, incarnation)
        if left is not None and left.log.incarnation == replica.incarnation:
            # Nobody lived elsewhere since: what this disk kept may be used,
            # though a crash may have left its end torn.
            self.world.reached["log taken up from a crashed disk"] += 1
            log.raw = left.log.raw
        log.is_full = self.disk_is_full
        replica.begin(incarnation)
        capacity = self.world.rng.choice((16, 64, 1024))
        memory = bytearray(self.world.rng.choice((256, 1024)))
        left = HolderRemains(session, incarnation, log, Terminal(capacity), memory)
        left.lease_expires_at = until
        self.remains[session] = left
        self.holders[session] = HolderNode(self, left, born=True)

    # ── the relay ─────────────────────────────────────────────────────────

    def ask_lease(
        self,
        session: SessionId,
        incarnation: Incarnation | None,
        seen: Incarnation,
        *,
        is_speaking: bool = False,
    ) -> None:
        """Send the relay a question about a lease."""
        assert self.relay is not None
        question = lease_registry.Asked(
            session, self.id, incarnation, 0, seen, is_speaking
        )
        args = (self, question, self.machine.clock().now, self.relay.life)
        self.world.send(self.machine.name, self.relay.machine, self.relay.asked, *args)

    def lease_answered(self, session: SessionId, event: lease.Event) -> None:
        """Take the relay's answer."""
        claim = self.claims.get(session)
        if claim is not None:
            now = self.machine.clock().now
            self._perform_claim(session, claim, claim.handle(event, now))
        elif (holder := self.dial(session)) is not None and holder.is_alive:
            holder.lease_event(event)

    def _tick_claim(self, session: SessionId, claim: lease.LeaseHolder) -> None:
        if self.claims.get(session) is not claim:
            return
        now = self.machine.clock().now
        self._perform_claim(session, claim, claim.tick(now))
        deadline = claim.next_deadline()
        if self.claims.get(session) is claim and deadline is not None:
            delay = max(deadline - now, 0) + 1e-3
            self.machine.after(delay, self._tick_claim, session, claim)

    def _perform_claim(
        self, session: SessionId, claim: lease.LeaseHolder, effects: list[lease.Effect]
    ) -> None:
        for effect in effects:
            match effect:
                case lease.Claim(seen):
                    self.ask_lease(session, None, seen)
                case lease.Begin(incarnation):
                    del self.claims[session]
                    assert claim.expires_at is not None
                    self._begin(session, incarnation, claim.expires_at)
                case lease.ReportRollback():
                    self.world.reached["rollback seen by a host"] += 1
                case _:
                    pass

    # ── operators ─────────────────────────────────────────────────────────

    def receive(
        self,
        session: SessionId,
        what: str,
        operator: "OperatorNode",
        args: tuple[Any, ...],
        channel: HolderNode,
    ) -> None:
        """Take an operator's message for a session that lives here."""
        if channel.is_alive and self.holders.get(session) is channel:
            getattr(channel, what)(operator, *args)
        else:
            self.world.reached["channel ended"] += 1

    def reply(
        self, operator: "OperatorNode", action: Callable[..., None], *args: object
    ) -> None:
        """Send an operator something, the way it came."""
        if operator.local_host is self:
            operator.machine.after(0.0005, action, *args)
            return
        assert self.relay is not None
        forwarded = (operator, action, args)
        self.world.send(
            self.machine.name, self.relay.machine, self.relay.forward_back, *forwarded
        )

    def receipt(self, session: SessionId, index: int) -> Receipt:
        """Return a signed head for an acknowledged entry."""
        return receipt_of(self._replicas[session].lines, index, session)
