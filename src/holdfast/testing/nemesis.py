"""The faults of a run.

Every seed enables a random subset of the faults (a swarm), so that rare
combinations get depth instead of everything always happening at once.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.testing.relay_node import TTL

if TYPE_CHECKING:
    from holdfast.testing.cluster import Cluster

ON, OFF = True, False

FAULT_PACE = 2.0
"""Mean true seconds between two faults."""


class Nemesis:
    """Does harm, at random, until told to stop."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._rng = cluster.world.rng
        self._is_active = True
        every = self._faults()
        self._enabled = [name for name in every if self._rng.random() < 0.45]
        self._apply_standing_faults()
        self._world.after(self._rng.expovariate(1 / FAULT_PACE), self._strike)

    def stop(self) -> None:
        """Do no more harm."""
        self._is_active = False

    def _faults(self) -> dict[str, Callable[[], None]]:
        return {
            "kill a holder": self._kill_holder,
            "failpoints": self._nothing,
            "kill the relay": self._cluster.relay.kill,
            "host dies": self._host_dies,
            "freeze a host": self._freeze_host,
            "freeze the relay": self._freeze_relay,
            "cut a host off": self._cut_host,
            "cut one way": self._cut_one_way,
            "swizzle": self._swizzle,
            "cut an operator off": self._cut_operator,
            "relay rolls back": self._roll_back,
            "relay's disk fills": self._relay_disk_full,
            "disk fills": self._disk_full,
            "disk is slow": self._disk_slow,
            "disk fails": self._disk_fails,
            "wall clock steps": self._step_clock,
            "program hangs": self._program_hangs,
            "operator crashes": self._operator_crashes,
            "operator leaves": self._operator_leaves,
            "viewer stops reading": self._viewer_stops,
            "revoke": self._revoke,
            "invalidate": self._invalidate,
            "spurious claim": self._spurious_claim,
            "lossy network": self._nothing,
            "duplicating network": self._nothing,
            "reordering network": self._nothing,
            "slow network": self._nothing,
        }

    def _strike(self) -> None:
        if not self._is_active:
            return
        if self._enabled:
            self._faults()[self._rng.choice(self._enabled)]()
        self._world.after(self._rng.expovariate(1 / FAULT_PACE), self._strike)

    def _apply_standing_faults(self) -> None:
        if "lossy network" in self._enabled:
            self._world.loss = 0.03
        if "duplicating network" in self._enabled:
            self._world.duplication = 0.03
        self._world.reorders = "reordering network" in self._enabled
        if "slow network" in self._enabled:
            self._world.slowness = 0.01
        if "failpoints" in self._enabled:
            for host in self._cluster.hosts:
                host.failpoint_rate = 0.002

    def _nothing(self) -> None:
        """Do no more than was done at the start."""

    def _kill_holder(self) -> None:
        host = self._rng.choice(self._cluster.hosts)
        for holder in list(host.holders.values()):
            if not host.machine.is_frozen():
                host.kill_holder(holder)

    def _host_dies(self) -> None:
        host = self._rng.choice(self._cluster.hosts)
        if host.machine.is_up:
            host.die()
            self._world.after(self._rng.uniform(0.5, 2 * TTL), host.boot)

    def _freeze_host(self) -> None:
        self._world.reached["host frozen"] += 1
        host = self._rng.choice(self._cluster.hosts)
        host.machine.freeze(self._rng.uniform(0.1, 3) * TTL)

    def _freeze_relay(self) -> None:
        self._world.reached["relay frozen"] += 1
        self._cluster.relay.machine.freeze(self._rng.uniform(0.1, 3) * TTL)

    def _cut_host(self) -> None:
        self._world.reached["host partitioned"] += 1
        name = self._rng.choice(self._cluster.hosts).machine.name
        self._cut_for_a_while(name, "relay")
        self._cut_for_a_while("relay", name)

    def _cut_one_way(self) -> None:
        self._world.reached["one-way partition"] += 1
        name = self._rng.choice(self._cluster.hosts).machine.name
        pair = self._rng.choice(((name, "relay"), ("relay", name)))
        self._cut_for_a_while(*pair)

    def _swizzle(self) -> None:
        """Clog every host, one after another, and release them in another order."""
        self._world.reached["swizzle"] += 1
        hosts = list(self._cluster.hosts)
        self._rng.shuffle(hosts)
        for host in hosts:
            self._cut_for_a_while(host.machine.name, "relay")
            self._cut_for_a_while("relay", host.machine.name)

    def _cut_operator(self) -> None:
        name = self._rng.choice(self._cluster.operators).machine.name
        self._cut_for_a_while(name, "relay")
        self._cut_for_a_while("relay", name)

    def _cut_for_a_while(self, source: str, to: str) -> None:
        self._world.cut(source, to)
        delay = self._rng.uniform(0.1, 2) * TTL
        self._world.after(delay, self._world.heal, source, to)

    def _roll_back(self) -> None:
        relay = self._cluster.relay
        snapshot = relay.snapshot()
        delay = self._rng.uniform(1, 3) * TTL
        self._world.after(delay, relay.roll_back, snapshot)
        self._world.after(2.5 * delay, relay.restore_newest)

    def _relay_disk_full(self) -> None:
        relay = self._cluster.relay
        relay.disk_is_full = True
        self._world.after(
            self._rng.uniform(0.5, 8), setattr, relay, "disk_is_full", OFF
        )

    def _disk_full(self) -> None:
        host = self._rng.choice(self._cluster.hosts)
        host.set_disk_full(full=True)
        self._world.after(self._rng.uniform(0.2, 6), self._disk_free, host.machine.name)

    def _disk_free(self, name: str) -> None:
        self._cluster.relay.hosts[name].set_disk_full(full=False)

    def _disk_slow(self) -> None:
        host = self._rng.choice(self._cluster.hosts)
        host.disk_is_slow = True
        self._world.after(self._rng.uniform(0.2, 6), setattr, host, "disk_is_slow", OFF)

    def _disk_fails(self) -> None:
        for left in self._rng.choice(self._cluster.hosts).remains.values():
            left.log.is_failing = True
            self._world.after(0.5, setattr, left.log, "is_failing", OFF)

    def _step_clock(self) -> None:
        self._world.reached["wall clock stepped"] += 1
        host = self._rng.choice(self._cluster.hosts)
        host.machine.step_wall_clock(self._rng.choice((-3600.0, 3600.0)))

    def _program_hangs(self) -> None:
        for left in self._rng.choice(self._cluster.hosts).remains.values():
            left.terminal.is_reading = False
            delay = self._rng.uniform(0.2, 6)
            self._world.after(delay, setattr, left.terminal, "is_reading", ON)

    def _operator_crashes(self) -> None:
        self._rng.choice(self._cluster.operators).crash()

    def _operator_leaves(self) -> None:
        self._world.reached["operator away"] += 1
        operator = self._rng.choice(self._cluster.operators)
        operator.machine.freeze(self._rng.uniform(1, 12))
        for host in self._cluster.hosts:
            for holder in host.holders.values():
                if holder.is_alive and not host.machine.is_frozen():
                    holder.depart(operator.actor)

    def _viewer_stops(self) -> None:
        operator = self._rng.choice(self._cluster.operators)
        operator.is_reading = False
        delay = self._rng.uniform(1, 20)
        self._world.after(delay, setattr, operator, "is_reading", ON)

    def _revoke(self) -> None:
        by = self._cluster.operators[0].actor
        victim = self._cluster.revocable.actor
        for host in self._cluster.hosts:
            for holder in host.holders.values():
                if holder.may_speak() and not host.machine.is_frozen():
                    holder.revoke(victim, by)

    def _invalidate(self) -> None:
        self._cluster.relay.invalidate(self._rng.choice(self._cluster.sessions))

    def _spurious_claim(self) -> None:
        self._world.reached["spurious claim"] += 1
        host = self._rng.choice(self._cluster.hosts)
        host.claim(self._rng.choice(self._cluster.sessions))
