"""Several hosts, one relay, many operators, and an adversary.

A run has two parts. For ACTIVE seconds all operators act and faults are injected.
Then the nemesis stops, everything is healed, nobody does anything new, and for QUIET
seconds the world must come to rest: every input answered, every viewer caught
up, one incarnation of each session alive and routed, one log that verifies.
"""

from holdfast.core.book.logbook import Receipt, verify
from holdfast.core.input.serializer import QUEUE_BYTES
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.testing.capsule_crowd import CapsuleCrowd
from holdfast.testing.drain_crowd import DrainCrowd
from holdfast.testing.history import search_check, witness_check
from holdfast.testing.holder_node import HolderNode
from holdfast.testing.holder_remains import sign
from holdfast.testing.host_node import HostNode
from holdfast.testing.idle_crowd import IdleCrowd
from holdfast.testing.ledger import Ledger
from holdfast.testing.nemesis import Nemesis
from holdfast.testing.operator_node import OperatorNode
from holdfast.testing.relay_node import RelayNode
from holdfast.testing.volume import Replica
from holdfast.testing.world import World, demand

ACTIVE = 40.0
QUIET = 60.0

HOSTS = 3
SESSIONS = 2
CROWD = 4
CAPSULES = 3

EVERYTHING = frozenset(Right)
AGENT = frozenset({Right.OBSERVE, Right.INPUT, Right.TAKE})
OBSERVER = frozenset({Right.OBSERVE, Right.TAKE})
"""May have the turn, and still not write: the two are looked at apart."""


class Cluster:
    """One simulated world, ready to run."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self.ledger = Ledger()
        self.relay = RelayNode(self.world, self.ledger)
        self.sessions = [SessionId(f"s_{n}") for n in range(SESSIONS)]
        self.replicas = {session: Replica() for session in self.sessions}
        self.hosts = [
            HostNode(self.world, self.ledger, f"h{n}", self.replicas)
            for n in range(HOSTS)
        ]
        for host in self.hosts:
            host.relay = self.relay
            self.relay.hosts[host.machine.name] = host
        self.operators = self._operators()
        self.revocable = self.operators[-1]
        self._granted: dict[SessionId, bool] = {}
        for session, host in zip(self.sessions, self.hosts, strict=False):
            host.claim(session)

    def run(self) -> None:
        """Run both parts, and check everything.

        Raises:
            Violation: An invariant does not hold.

        """
        nemesis = Nemesis(self)
        self._supervise()
        self._sample()
        self._programs()
        crowds = [IdleCrowd(host.machine, CROWD) for host in self.hosts[1:]]
        drains = [DrainCrowd(host.machine) for host in self.hosts]
        capsules = [CapsuleCrowd(host.machine, CAPSULES) for host in self.hosts]
        for operator in self.operators:
            operator.live()
            operator.insist()
        self.world.run(ACTIVE)
        nemesis.stop()
        for capsule in capsules:
            capsule.rest()
        self._heal()
        self.world.run(ACTIVE + QUIET)
        self._check_rest()
        for crowd in crowds:
            crowd.close()
        for drain in drains:
            drain.close()
        for capsule in capsules:
            capsule.close()

    # ── who there is ──────────────────────────────────────────────────────

    def _operators(self) -> list[OperatorNode]:
        names = ("human0", "human1", "agent0", "agent1", "observer", "local", "intern")
        found = []
        for name in names:
            operator = OperatorNode(self.world, self.ledger, name, self.sessions)
            operator.relay = self.relay
            operator.may_seize = name.startswith("human") or name == "local"
            operator.cheats = name == "agent1"
            found.append(operator)
        found[5].local_host = self.hosts[0]
        self.relay.operators = [operator.actor for operator in found]
        return found

    def _rights(self, operator: OperatorNode) -> frozenset[Right]:
        if operator.may_seize:
            return EVERYTHING
        return OBSERVER if operator.machine.name == "observer" else AGENT

    # ── what goes on by itself ────────────────────────────────────────────

    def _supervise(self) -> None:
        """Grant rights at birth; re-home what nobody routes to."""
        for session in self.sessions:
            holder = self._speaker(session)
            if holder is not None and session not in self._granted:
                self._granted[session] = True
                self._grant(holder)
            lost = self.relay.machine.is_up and self.relay.route(session) is None
            if lost and self.world.rng.random() < 0.3:
                self.world.rng.choice(self.hosts).claim(session)
        self.relay.tick()
        self.world.after(1.0, self._supervise)

    def _grant(self, holder: HolderNode) -> None:
        for operator in self.operators:
            rights = self._rights(operator)
            if Right.INPUT in rights:
                account = self.ledger.account(holder.left.session)
                account.writers[operator.actor] = True
            holder.grant(operator.actor, Envelope(rights))

    def _sample(self) -> None:
        """Look at all hosts at once, as nobody in the world can."""
        for session in self.sessions:
            speakers = [
                host.holders[session]
                for host in self.hosts
                if session in host.holders and host.holders[session].may_speak()
            ]
            demand(len(speakers) <= 1, "I2", f"{session} lives {len(speakers)} times")
            for holder in speakers:
                queued = holder.intake.serializer.queued_bytes
                demand(queued <= QUEUE_BYTES, "I9", "the line is too long")
            self.relay.route(session)
        self.world.after(0.1, self._sample)

    def _programs(self) -> None:
        for host in self.hosts:
            for session, holder in list(host.holders.items()):
                left = host.remains[session]
                if host.machine.is_frozen() or not host.machine.is_up:
                    continue
                if left.runs:
                    if self.world.now < ACTIVE:
                        left.terminal.print(self.world.rng.choice((0, 8, 60)))
                    left.terminal.consume()
                if holder.is_asleep and left.terminal.has_output:
                    host.wake(holder)
                elif holder.is_alive:
                    holder.pump()
        self.world.after(0.05, self._programs)

    def _speaker(self, session: SessionId) -> HolderNode | None:
        for host in self.hosts:
            holder = host.holders.get(session)
            if holder is not None and holder.may_speak():
                return holder
        return None

    # ── the end ───────────────────────────────────────────────────────────

    def _heal(self) -> None:
        self.world.heal_all()
        self.relay.disk_is_full = False
        self.relay.restore_newest()
        for operator in self.operators:
            operator.is_resting = operator.is_reading = True
        for host in self.hosts:
            host.failpoint_rate, host.lets_doze = 0.0, False
            if not host.machine.is_up:
                host.boot()
            host.disk_is_slow = False
            host.set_disk_full(full=False)
            for left in host.remains.values():
                left.log.is_failing = False
                left.terminal.is_reading = True
        self._put_right()

    def _put_right(self) -> None:
        """Do what a person would: thaw, and restart what trusts its disk no more."""
        for session in self.sessions:
            holder = self._speaker(session)
            if holder is None or holder.host.machine.is_frozen():
                continue
            if holder.intake.serializer.broken is not None:
                holder.host.kill_holder(holder)
            elif holder.left.is_frozen:
                holder.freeze_or_thaw(self.operators[0], True)  # noqa: FBT003
        self.world.after(5.0, self._put_right)

    def _check_rest(self) -> None:
        self.ledger.close()
        for session in self.sessions:
            holder = self._speaker(session)
            demand(holder is not None, "I10", f"{session} did not come back")
            assert holder is not None
            route = self.relay.route(session)
            demand(
                route is not None and route.incarnation == holder.left.incarnation,
                "I2",
                f"{session} is not routed to the one that lives",
            )
            self._check_operators(session, holder)
            self._check_log(session)
            history = [
                operation
                for operator in self.operators
                for operation in operator.history
                if operation.session == session
            ]
            witness_check(history)
            shown = [known for _, known in self.ledger.account(session).terminal]
            history.sort(key=lambda operation: operation.called_at)
            first = self.world.rng.randrange(max(len(history) - 199, 1))
            search_check(history[first : first + 200], shown)
            self.world.reached["acknowledged"] += len(history)

    def _check_operators(self, session: SessionId, holder: HolderNode) -> None:
        for operator in self.operators:
            if operator.local_host not in (None, holder.host):
                continue  # It sits at a host where the session no longer lives.
            view = operator.views[session]
            demand(
                not view.open, "I10", f"{operator.actor} waits for {list(view.open)}"
            )
            demand(
                view.expected == holder.window.end,
                "I6",
                f"{operator.actor} saw {view.expected} of {holder.window.end} bytes",
            )

    def _check_log(self, session: SessionId) -> None:
        lines = self.replicas[session].lines
        receipts = [
            receipt
            for operator in self.operators
            for receipt in operator.views[session].receipts
        ]
        verify(lines, session, receipts, _is_signed)
        if receipts:
            self._check_tampering(lines, session, receipts)

    def _check_tampering(
        self, lines: list[bytes], session: SessionId, receipts: list[Receipt]
    ) -> None:
        last = max(receipt.head.index for receipt in receipts)
        at = self.world.rng.randrange(last)
        edited = lines[at].replace(b'"at":', b'"at":1')
        forgeries = {
            "an entry removed": lines[:at] + lines[at + 1 :],
            "an entry repeated": lines[: at + 1] + lines[at:],
            "two entries swapped": [
                *lines[:at],
                lines[at + 1],
                lines[at],
                *lines[at + 2 :],
            ],
            "an entry edited": [*lines[:at], edited, *lines[at + 1 :]],
        }
        for what, forged in forgeries.items():
            demand(not _verifies(forged, session, []), "I7", f"nobody saw {what}")
        cut = lines[:last]
        demand(not _verifies(cut, session, receipts), "I7", "nobody saw the tail cut")


def _verifies(lines: list[bytes], session: SessionId, receipts: list[Receipt]) -> bool:
    try:
        verify(lines, session, receipts, _is_signed)
    except HoldfastError:
        return False
    return True


def _is_signed(message: bytes, signature: bytes) -> bool:
    return sign(message) == signature
