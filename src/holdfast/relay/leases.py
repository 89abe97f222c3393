"""Drive the leases of movable sessions against a store and the clock.

core/relay/lease_registry.py makes the decisions; here it meets the disk, in a thread
of its own, and the hosts' links. A store that cannot tell what it has written
ends the relay (spec/leases.md, section 5.4).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from holdfast.aio.log import log
from holdfast.core.relay import lease_registry as registry
from holdfast.core.relay.lease_heirs import Heirs
from holdfast.core.relay.peer_joins import Link
from holdfast.model.errors import HoldfastError, NotEntrusted, RelayFull, StoreFailed
from holdfast.model.ids import HostId, SessionId
from holdfast.ports.lease_store import LeaseStore
from holdfast.relay.numbers import Numbers
from holdfast.wire import relay_messages as wire

MAX_WRITES = 256
"""Writes that wait for the disk; at the bound claims are refused, not kept."""

LEASES_PER_HOST = 1024
"""Sessions that one host may have leases for: a claim of a new one is kept for
good, and a key costs nothing to make."""


def boottime() -> float:
    """Return seconds on a clock that only goes forward and runs through suspend."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Leases:
    """The leases of one relay."""

    def __init__(
        self,
        store: LeaseStore,
        send: Callable[[Link, bytes], None],
        unroute: Callable[[SessionId], None],
        fail: Callable[[BaseException], None],
        numbers: Numbers,
        ttl: float = registry.TTL,
    ) -> None:
        kept = store.load()
        self._store = store
        self._send = send
        self._unroute = unroute
        self._fail = fail
        self._numbers = numbers
        self._registry = registry.LeaseRegistry(kept.records, boottime(), ttl=ttl)
        self._heirs = Heirs(kept.heirs)
        self._owners = {record.session: record.host for record in kept.records}
        self._owned = Counter(self._owners.values())
        self._asking: dict[int, tuple[Link, int]] = {}
        self._ask_count = 0
        self._writes = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="leases")

    def route(self, session: SessionId) -> tuple[bool, HostId | None]:
        """Return whether a session has a lease, and who holds it now."""
        if self._registry.holder(session) is None:
            return False, None
        route = self._registry.route(session, boottime())
        return True, None if route is None else route.host

    def held_count(self) -> int:
        """Return how many sessions have a host that may speak for them now."""
        return self._registry.routed_count(boottime())

    def tick(self) -> None:
        """Cut the routes that ran out. To be called every second or so."""
        now = boottime()
        deadline = self._registry.next_deadline()
        if deadline is not None and deadline <= now:
            self._perform(self._registry.tick(now))

    def close(self) -> None:
        """Wait for what is being written, and let go of the store."""
        self._thread.shutdown(wait=True)
        self._store.close()

    def heard(
        self,
        link: Link,
        host: HostId,
        said: wire.LeaseAsk | wire.LeaseRelease | wire.LeaseEnd | wire.Entrust,
    ) -> None:
        """Take what a host said about a lease."""
        match said:
            case wire.LeaseAsk():
                self._ask(link, host, said)
            case wire.LeaseRelease():
                self._handle(registry.Released(said.session, host, said.life))
            case wire.LeaseEnd():
                self._handle(registry.Ended(said.session, host, said.life))
            case wire.Entrust():
                self._entrust(link, host, said)

    def _ask(self, link: Link, host: HostId, said: wire.LeaseAsk) -> None:
        holder = self._registry.holder(said.session)
        if not self._heirs.may_ask(said.session, host, holder):
            former = self._registry.superseded(said.session, said.life, boottime())
            self._refuse(link, said.ask, former or NotEntrusted(said.session))
            return
        is_new = not said.life or holder is None
        if is_new and (full := self._full(said.session, host)):
            self._refuse(link, said.ask, full)
            return
        self._ask_count += 1
        self._asking[self._ask_count] = (link, said.ask)
        self._handle(
            registry.Asked(
                said.session,
                host,
                said.life or None,
                self._ask_count,
                said.seen,
                said.speaking,
            )
        )

    def _full(self, session: SessionId, host: HostId) -> RelayFull | None:
        if self._writes >= MAX_WRITES:
            return RelayFull("claims", MAX_WRITES)
        if session not in self._owners and self._owned[host] >= LEASES_PER_HOST:
            return RelayFull("leases of one host", LEASES_PER_HOST)
        return None

    def _entrust(self, link: Link, host: HostId, said: wire.Entrust) -> None:
        if self._registry.holder(said.session) != host or self._writes >= MAX_WRITES:
            self._send(link, wire.encode(wire.refusal(NotEntrusted(said.session))))
            return
        hosts = frozenset(said.hosts)
        self._heirs.entrust(said.session, hosts)
        self._write(self._store.entrust, said.session, hosts)

    def _handle(self, event: registry.Event) -> None:
        self._perform(self._registry.handle(event, boottime()))

    def _perform(self, effects: list[registry.Effect]) -> None:
        for effect in effects:
            match effect:
                case registry.Persist():
                    self._persist(effect)
                case registry.Forget():
                    self._heirs.forget(effect.session)
                    self._own(effect.session, None)
                    self._write(self._store.forget, effect.session)
                case registry.Grant():
                    self._grant(effect)
                case registry.Refuse():
                    link, ask = self._asking.pop(effect.ask_id)
                    self._refuse(link, ask, effect.error)
                case registry.Unroute():
                    self._unroute(effect.session)
                case registry.ReportRollback():
                    log("lease.rolled_back", seen=effect.seen, known=effect.known)

    def _grant(self, grant: registry.Grant) -> None:
        link, ask = self._asking.pop(grant.ask_id)
        self._numbers.add("lease_answers_total", "granted")
        ttl = int(grant.ttl * 1000)
        self._send(link, wire.encode(wire.LeaseGrant(ask, grant.incarnation, ttl)))

    def _refuse(self, link: Link, ask: int, error: HoldfastError) -> None:
        self._numbers.add("lease_answers_total", error.code)
        self._send(link, wire.encode(wire.lease_refusal(ask, error)))

    # ── the disk ──────────────────────────────────────────────────────────

    def _own(self, session: SessionId, host: HostId | None) -> None:
        former = self._owners.pop(session, None)
        if former is not None:
            self._owned[former] -= 1
        if host is not None:
            self._owners[session] = host
            self._owned[host] += 1

    def _persist(self, effect: registry.Persist) -> None:
        def settled(error: BaseException | None) -> None:
            if error is None:
                self._own(effect.record.session, effect.record.host)
                self._handle(registry.Persisted(effect.token))
            else:
                self._handle(registry.PersistFailed(effect.token))

        self._write(self._store.put, effect.record, settled=settled)

    def _write(
        self,
        write: Callable[..., None],
        *values: object,
        settled: Callable[[BaseException | None], None] | None = None,
    ) -> None:
        self._writes += 1

        def done(future: asyncio.Future[None]) -> None:
            self._writes -= 1
            error = None if future.cancelled() else future.exception()
            if error is not None and not isinstance(error, StoreFailed):
                # Nobody knows what is on the disk now: only reading it tells.
                self._fail(error)
            elif settled is not None and not future.cancelled():
                settled(error)

        loop = asyncio.get_running_loop()
        loop.run_in_executor(self._thread, write, *values).add_done_callback(done)
