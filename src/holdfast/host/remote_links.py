"""The host's links to relays and remote operators.

One uplink for each relay that is written down in the file `relays`; without any,
a relay of our own on loopback, so that everything works on one machine. An operator who
was let in has a bridge. Once a second, and on request, the
folders of operators and invitations are looked at: relays are told whom we admit,
and one who is not known any more is hung up on (T17 for the wire between).
"""

import asyncio
import contextlib
from collections import Counter
from functools import partial

from holdfast.aio.log import log
from holdfast.aio.relay_client import Knocked, Registration
from holdfast.crypto.identity import Identity
from holdfast.host import guests
from holdfast.host.arrivals import Arrivals
from holdfast.host.bridge import Bridge
from holdfast.host.embedded import EmbeddedRelay
from holdfast.host.lease_driver import Leases
from holdfast.host.uplink import Uplink
from holdfast.linux.stored import invites, relays
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import HoldfastError, Revoked
from holdfast.model.ids import actor_id, host_id
from holdfast.model.process_status import HostStatus, RemoteOperator, Traffic

LOOK_EVERY = 1.0
"""Seconds until a change of the folders is noticed by itself."""

SWEEP_EVERY = 600.0
"""Seconds between two looks for invitations that have expired."""

MAX_BRIDGES = 1024
"""Operators' channels at a time: each costs a connection and some memory."""

MAX_BRIDGES_EACH = 64
"""Channels of one operator: more windows and devices than a person has."""


MAX_UNPROVEN = 64
"""Channels in which nobody has proven a key yet: all that a hostile relay gets by
knocking and knocking."""


class Links:
    """All that leads from here to elsewhere."""

    def __init__(self) -> None:
        self._us = Identity.from_seed(host_seed())
        self._uplinks: dict[str, tuple[Uplink, asyncio.Task[None]]] = {}
        self._bridges: dict[Bridge, asyncio.Task[None]] = {}
        self._embedded = EmbeddedRelay(host_id(self._us.public))
        self._looking = asyncio.Event()
        self._group: asyncio.TaskGroup
        self._totals: Counter[str] = Counter()
        self.leases = Leases(host_id(self._us.public), self._registration)
        """Those of this machine's movable sessions."""

        self._arrivals = Arrivals(self.leases)

    async def run(self) -> None:
        """Keep everything up until cancelled. Cancelling closes all links."""
        async with asyncio.TaskGroup() as self._group:
            self._group.create_task(self._sweep_from_time_to_time())
            self._group.create_task(self.leases.run())
            await self._look_from_time_to_time()

    def look(self) -> None:
        """Look at the folders now: they have just changed."""
        self._looking.set()

    def status(self) -> HostStatus:
        """Say how the links do; the rest of it is not ours to say."""
        here = [bridge for bridge in self._bridges if bridge.public_key]
        return HostStatus(
            host=host_id(self._us.public),
            public_key=self._us.public.hex(),
            static_key=self._us.static_public.hex(),
            relay=self._embedded.pid,
            links=tuple(uplink.status() for uplink, _ in self._uplinks.values()),
            leases=self.leases.status(),
            lease_count=self.leases.counts()[0],
            fenced_count=self.leases.counts()[1],
            operators=tuple(map(_operator, here[:MAX_BRIDGES_EACH])),
            traffic=Traffic(
                self._totals["came"],
                self._totals["turned_away"],
                self._totals["not_met"],
                self._total("bytes_in"),
                self._total("bytes_out"),
            ),
        )

    def _total(self, name: str) -> int:
        here: int = sum(getattr(bridge, name) for bridge in self._bridges)
        return self._totals[name] + here

    # ── whom we admit ─────────────────────────────────────────────────────

    async def _look_from_time_to_time(self) -> None:
        last: tuple[int, ...] | None = None
        expiry: float | None = None
        while True:
            self._looking.clear()
            try:
                found = guests.trace()
                # A promise runs out without any file being changed.
                if found != last or (expiry is not None and guests.wall() >= expiry):
                    self._choose_relays()
                    await self._tell()
                    expiry = guests.next_expiry()
                    last = found
            except (HoldfastError, OSError) as error:
                log("looking.failed", why=str(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._looking.wait()

    async def _tell(self) -> None:
        admitted, sessions = guests.admitted(), guests.sessions_here()
        for uplink, _ in self._uplinks.values():
            await uplink.admit(admitted)
            await uplink.publish(sessions)
        for bridge in [*self._bridges]:
            # A guest who comes by an invitation is not known before it has joined.
            if bridge.session is None:
                continue
            if actor_id(bridge.public_key) not in admitted.actors:
                log("operator.cut", actor=actor_id(bridge.public_key))
                await bridge.cut(Revoked.code)

    async def _sweep_from_time_to_time(self) -> None:
        while True:
            with contextlib.suppress(HoldfastError, OSError):
                await asyncio.to_thread(invites.sweep, guests.wall())
            await asyncio.sleep(SWEEP_EVERY)

    # ── relays ────────────────────────────────────────────────────────────

    def _choose_relays(self) -> None:
        wanted = relays.written_down()
        if wanted:
            self._embedded.stop()
        else:
            wanted = [self._embedded.start(self._group)]
        for gone in [*self._uplinks.keys() - {*wanted}]:
            self._uplinks.pop(gone)[1].cancel()
        for relay in wanted:
            if relay not in self._uplinks:
                uplink = Uplink(relay, self._us, self._came)
                uplink.linked = self.leases.linked
                by = partial(self.leases.redial_by, relay)
                task = self._group.create_task(uplink.run(by))
                self._uplinks[relay] = uplink, task

    def _registration(self, relay: str) -> Registration | None:
        uplink, _ = self._uplinks.get(relay, (None, None))
        return None if uplink is None else uplink.registration

    # ── operators ─────────────────────────────────────────────────────────

    def _came(self, knock: Knocked) -> None:
        proven = [one.public_key for one in self._bridges if one.public_key]
        of_one = sum(actor_id(key) == knock.actor for key in proven)
        unproven = len(self._bridges) - len(proven)
        if (
            len(self._bridges) >= MAX_BRIDGES
            or unproven >= MAX_UNPROVEN
            or of_one >= MAX_BRIDGES_EACH
        ):
            # Counted and not logged: a relay can knock as often as it likes.
            self._totals["turned_away"] += 1
            return
        bridge = Bridge(self._us, self._tell, self._arrivals)
        task = self._group.create_task(self._serve(bridge, knock))
        self._bridges[bridge] = task
        task.add_done_callback(lambda _: self._left(bridge))

    async def _serve(self, bridge: Bridge, knock: Knocked) -> None:
        try:
            carrier = await knock.answer()
        except (HoldfastError, OSError):
            self._totals["not_met"] += 1  # Counted, as above.
            return
        self._totals["came"] += 1
        await bridge.run(carrier)

    def _left(self, bridge: Bridge) -> None:
        del self._bridges[bridge]
        self._totals["bytes_in"] += bridge.bytes_in
        self._totals["bytes_out"] += bridge.bytes_out


def _operator(bridge: Bridge) -> RemoteOperator:
    """Say who came, to which session, and how much went over it."""
    actor = bridge.actor or actor_id(bridge.public_key)
    return RemoteOperator(actor, bridge.session, bridge.bytes_in, bridge.bytes_out)
