"""Holds the leases of this machine's movable sessions at their relays.

The keeper says which sessions are movable; each has a machine (core/relay/lease.py),
which is asked what to do by the clock that runs through suspend. Questions go over the
link to the session's own relay, which was chosen at its birth and is never another.
Each answer's expiry goes to the keeper, and from there to the session's holder: they
enforce it, and need neither this process nor the network for that.
"""

import asyncio
import contextlib
import heapq
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from holdfast.aio.log import log
from holdfast.core.relay import lease
from holdfast.linux import packets
from holdfast.model import errors
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import HostId, Incarnation, SessionId
from holdfast.model.lease_words import LeaseWord, Movable
from holdfast.model.process_status import LeaseStatus
from holdfast.model.session_record import record_of

LOOK_EVERY = 1.0
"""Seconds that are slept at most: sleep does not count while a machine is suspended."""

PATIENCE = 10.0
"""Seconds that an answer is waited for; questions are repeated meanwhile."""

MISSING = 10.0
"""Seconds after which a session is gone that a new keeper has not told of."""

AT_ONCE = 100
"""Leases told to the keeper in one packet."""

AGAIN = 0.05
"""Seconds until a keeper that took no more is told the rest."""

EARLY = 1.0
"""Seconds before an expiry in which a lost relay is dialled without a pause."""

TOLD = 64
"""Leases that a status tells of: those that are in trouble first."""

NOT_LINKED = "its relay cannot be reached"
SILENT = "its relay does not answer"


def boottime() -> float:
    """Return seconds on a clock that only goes forward and runs through suspend."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class LeaseLink(Protocol):
    """A link to a relay, as far as leases are asked over it (aio.relay_client)."""

    async def ask_lease(
        self,
        session: SessionId,
        incarnation: Incarnation | None,
        *,
        seen: Incarnation,
        is_speaking: bool,
    ) -> tuple[Incarnation, float]:
        """Renew a lease, or claim the next incarnation; return it and its ttl."""
        ...

    async def release_lease(self, session: SessionId, life: Incarnation) -> None:
        """Say that we have fenced a session and let go of it."""
        ...

    async def end_lease(self, session: SessionId, life: Incarnation) -> None:
        """Say that a session is over for good."""
        ...

    async def entrust(self, session: SessionId, hosts: Iterable[HostId]) -> None:
        """Say which hosts may claim a session of ours after us."""
        ...


@dataclass(slots=True)
class _Held:
    """One session, and how its lease stands."""

    movable: Movable
    machine: lease.LeaseHolder
    why: str = ""
    successor: int = 0

    @property
    def life(self) -> Incarnation:
        return Incarnation(self.movable.incarnation)


class Leases:
    """The leases that this host holds, or wants to."""

    def __init__(
        self, host: HostId, registration: Callable[[str], LeaseLink | None]
    ) -> None:
        self._host = host
        self._registration = registration
        self._held: dict[SessionId, _Held] = {}
        self._farewells: dict[SessionId, tuple[str, Incarnation, bool]] = {}
        self._granted: dict[SessionId, lease.Granted] = {}
        """What was claimed for sessions whose next life has not begun."""

        self._keeper: socket.socket | None = None
        self._seen: set[SessionId] = set()
        self._words: dict[SessionId, LeaseWord] = {}
        self._flushing: asyncio.TimerHandle | None = None
        self._due: list[tuple[float, SessionId]] = []
        self._sleeps_until = 0.0
        self._woken = asyncio.Event()
        self._group: asyncio.TaskGroup

    async def run(self) -> None:
        """Renew what has to be renewed, until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            while True:
                self._woken.clear()
                now = boottime()
                while self._due and self._due[0][0] <= now:
                    _, session = heapq.heappop(self._due)
                    self._tick(session, now)
                self._say_farewell()
                # Not longer than that: sleep does not count a suspend.
                first = self._due[0][0] if self._due else now + LOOK_EVERY
                self._sleeps_until = min(first, now + LOOK_EVERY)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._sleeps_until - boottime()):
                        await self._woken.wait()

    def _tick(self, session: SessionId, now: float) -> None:
        held = self._held.get(session)
        due = None if held is None else held.machine.next_deadline()
        if held is not None and due is not None and due <= now:
            self._perform(session, held, held.machine.tick(now))
            self._arm(session, held)

    def _arm(self, session: SessionId, held: _Held) -> None:
        """Have a machine asked when it wants to be."""
        due = held.machine.next_deadline()
        if due is not None:
            heapq.heappush(self._due, (due, session))
            if due < self._sleeps_until:
                self._woken.set()

    # ── the keeper ────────────────────────────────────────────────────────

    def keeper_found(self, link: socket.socket) -> None:
        """Take that there is a keeper; it will say which sessions are movable."""
        self._keeper = link
        self._seen.clear()
        asyncio.get_running_loop().call_later(MISSING, self._drop_missing, link)

    def keeper_lost(self) -> None:
        """Take that the keeper is gone. Holders keep to what they were told."""
        self._keeper = None

    def heard(self, raw: bytes) -> None:
        """Take what the keeper says on its link."""
        with contextlib.suppress(ValueError, HoldfastError):
            packet = json.loads(raw)
            if not isinstance(packet, dict) or packet.get("do") != "movable":
                return
            for facts in packet.get("sessions") or ():
                self._take(record_of(Movable, facts))

    def _take(self, told: Movable) -> None:
        session = SessionId(told.id)
        self._seen.add(session)
        held = self._held.get(session)
        if told.over or told.gone:
            self._let_go(session, told, is_over=told.over)
        elif held is None or held.movable.incarnation != told.incarnation:
            self._farewells.pop(session, None)
            held = self._held[session] = _Held(told, self._machine(told))
            self._arm(session, held)
            if held.machine.expires_at is not None and not told.leased:
                self._tell(session, held, held.machine.expires_at)
        else:
            held.movable = told
            mine = held.machine.expires_at
            if mine is not None and mine > told.expires:
                self._tell(session, held, mine)

    def _machine(self, told: Movable) -> lease.LeaseHolder:
        life, now = Incarnation(told.incarnation), boottime()
        granted = self._granted.pop(SessionId(told.id), None)
        if not told.leased and granted is not None and granted.incarnation == life:
            until = granted.asked_at + lease.host_span(granted.ttl)
            known = until if until > now else None
            return lease.LeaseHolder(
                self._host, now, incarnation=life, expires_at=known
            )
        if not told.leased:
            seen = Incarnation(life - 1)
            return lease.LeaseHolder(self._host, now, seen=seen)
        expires = told.expires if told.expires > now else None
        return lease.LeaseHolder(self._host, now, incarnation=life, expires_at=expires)

    def _drop_missing(self, link: socket.socket) -> None:
        if link is not self._keeper:
            return
        for session in self._held.keys() - self._seen:
            log("lease.dropped", session=session, why="nobody holds it any more")
            self._let_go(session, self._held[session].movable, is_over=False)

    def _let_go(self, session: SessionId, told: Movable, *, is_over: bool) -> None:
        """Give a lease back, for good if the session has ended."""
        held = self._held.pop(session, None)
        is_ours = told.leased or (held is not None and held.machine.incarnation)
        if is_ours and not (held is not None and held.successor):
            life = Incarnation(told.incarnation)
            self._farewells[session] = told.authority, life, is_over
        self._woken.set()

    def _tell(self, session: SessionId, held: _Held, expires: float) -> None:
        why = "" if expires else held.why
        word = LeaseWord(session, held.life, expires, why, held.successor)
        self._words[session] = word
        if self._flushing is None:
            loop = asyncio.get_running_loop()
            self._flushing = loop.call_later(0, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        if self._keeper is None:
            return  # The next one asks for everything.
        words = [*self._words.values()]
        try:
            for start in range(0, len(words), AT_ONCE):
                part = words[start : start + AT_ONCE]
                told = [one._asdict() for one in part]
                packets.send(self._keeper, {"do": "leases", "leases": told})
                for one in part:
                    del self._words[SessionId(one.id)]
        except BlockingIOError:
            loop = asyncio.get_running_loop()
            self._flushing = loop.call_later(AGAIN, self._flush)
        except OSError:
            self._words.clear()  # It is gone.

    # ── the relays ────────────────────────────────────────────────────────

    def linked(self, relay: str) -> None:
        """Take that the link to a relay is new."""
        now = boottime()
        for session, held in self._held.items():
            if held.movable.authority == relay:
                effects = held.machine.handle(lease.Reconnected(), now)
                self._perform(session, held, effects)
                self._arm(session, held)
        self._woken.set()

    def redial_by(self, relay: str) -> float | None:
        """Return when to dial a relay, by the loop's clock; None if nothing hurries."""
        ours = [one for one in self._held.values() if one.movable.authority == relay]
        if not ours:
            return None
        now = boottime()
        expiries = [one.machine.expires_at for one in ours]
        coming = [at - EARLY for at in expiries if at is not None and at > now]
        wait = min([lease.RETRY, *(at - now for at in coming)])
        return asyncio.get_running_loop().time() + wait

    def _perform(
        self, session: SessionId, held: _Held, effects: list[lease.Effect]
    ) -> None:
        for effect in effects:
            match effect:
                case lease.Claim() | lease.Renew():
                    self._ask(session, held, effect)
                case lease.Begin(life):
                    self._begin(held, life)
                case lease.SelfFence():
                    held.why = held.why or SILENT
                    log("lease.fenced", session=session, why=held.why)
                    self._tell(session, held, 0.0)
                case lease.Retire(_, by):
                    held.successor = by
                    held.why = f"incarnation {by} of it runs elsewhere"
                    log("lease.retired", session=session, by=by)
                    self._tell(session, held, 0.0)
                case lease.ReportRollback(seen, offered):
                    held.why = f"its relay has forgotten incarnation {seen}"
                    log(
                        "lease.rolled_back", session=session, seen=seen, offered=offered
                    )
                case lease.Unfence() | lease.Release():
                    pass  # The expiry says the one, and `_let_go` the other.

    def _begin(self, held: _Held, life: Incarnation) -> None:
        if life != held.life:
            # What the relay has given out is not what runs here.
            held.why = f"its relay has given out incarnation {life}"
            held.successor = life
            held.machine.handle(lease.GivenUp(), boottime())
            self._tell(SessionId(held.movable.id), held, 0.0)

    def _ask(
        self, session: SessionId, held: _Held, asked: lease.Claim | lease.Renew
    ) -> None:
        link = self._registration(held.movable.authority)
        if link is None:
            held.why = NOT_LINKED
            return
        self._group.create_task(self._answered(session, held, asked, link))

    async def _answered(
        self,
        session: SessionId,
        held: _Held,
        asked: lease.Claim | lease.Renew,
        link: LeaseLink,
    ) -> None:
        asked_at = boottime()
        life: Incarnation | None = None
        is_speaking = False
        if isinstance(asked, lease.Renew):
            life = seen = asked.incarnation
            is_speaking = asked.is_speaking
        else:
            seen = asked.seen
        event: lease.Event | None
        try:
            async with asyncio.timeout(PATIENCE):
                granted, ttl = await link.ask_lease(
                    session, life, seen=seen, is_speaking=is_speaking
                )
            event = lease.Granted(granted, ttl, asked_at)
        except (HoldfastError, OSError, TimeoutError) as error:
            held.why = str(error) or SILENT
            event = refused(error, asked_at)
        if self._held.get(session) is held and event is not None:
            self._heard(session, held, event)

    def _heard(self, session: SessionId, held: _Held, event: lease.Event) -> None:
        if self._is_ours_already(held, event):
            # It was granted to us, and we died before we knew.
            told = held.movable._replace(leased=True, expires=0.0)
            held.machine = self._machine(told)
            self._arm(session, held)
            return
        before = held.machine.expires_at
        self._perform(session, held, held.machine.handle(event, boottime()))
        expires = held.machine.expires_at
        if expires is not None and expires != before:
            held.why = ""
            self._tell(session, held, expires)
        self._arm(session, held)

    def _is_ours_already(self, held: _Held, event: lease.Event) -> bool:
        return (
            held.machine.incarnation is None
            and isinstance(event, lease.Refused)
            and event.holder == self._host
            and event.incarnation == held.life
        )

    def _say_farewell(self) -> None:
        for session, (relay, life, is_over) in [*self._farewells.items()]:
            link = self._registration(relay)
            if link is not None:
                del self._farewells[session]
                say = link.end_lease if is_over else link.release_lease
                self._group.create_task(_said(say(session, life)))

    # ── moves ─────────────────────────────────────────────────────────────

    async def claim(
        self,
        session: SessionId,
        relay: str,
        seen: Incarnation,
        was: Incarnation | None,
        dead: Incarnation = lease.NEVER_LIVED,
    ) -> tuple[Incarnation, float]:
        """Claim the next life of a session that nobody here has; return it.

        `was` is one that was granted to us before, and has not begun; `dead` one that
        ended here: if its lease is still ours, nobody has to wait for it. The second is
        until when it may speak, by the clock that runs through suspend.

        Raises:
            Unavailable: Its relay is not reached, or another host may have it.
            Forbidden: It was not entrusted to us.

        """
        link = self._link_to(session, relay)
        found: tuple[Incarnation, float] | None = None
        asked_at = boottime()
        async with asyncio.timeout(PATIENCE):
            if was is not None:
                with contextlib.suppress(errors.LeaseLost, errors.LeaseHeld):
                    found = await link.ask_lease(
                        session, was, seen=was, is_speaking=False
                    )
            if dead:
                await link.release_lease(session, dead)
            if found is None:
                asked_at = boottime()
                found = await link.ask_lease(
                    session, None, seen=seen, is_speaking=False
                )
        granted, ttl = found
        self._granted[session] = lease.Granted(granted, ttl, asked_at)
        return granted, asked_at + lease.host_span(ttl)

    async def pass_on(
        self,
        session: SessionId,
        relay: str,
        life: Incarnation,
        heirs: Iterable[HostId],
        *,
        releases: bool,
    ) -> None:
        """Say who may claim a session after us; if it stands still, that they may now.

        Returns when the relay has taken it.

        Raises:
            Unavailable: Its relay is not reached, or another host holds it.

        """
        link = self._link_to(session, relay)
        async with asyncio.timeout(PATIENCE):
            # Only the holder may entrust, and who is refused loses the link.
            await self._demand_held(link, session, life, is_speaking=not releases)
            await link.entrust(session, heirs)
            if releases:
                await link.release_lease(session, life)
                # What is asked next on the same link is answered after that.
                await self._demand_held(link, session, life, is_speaking=False)

    async def _demand_held(
        self,
        link: LeaseLink,
        session: SessionId,
        life: Incarnation,
        *,
        is_speaking: bool,
    ) -> None:
        try:
            await link.ask_lease(session, life, seen=life, is_speaking=is_speaking)
        except errors.LeaseLost:
            return  # It was released before.
        except errors.LeaseHeld as held:
            if held.facts["holder"] != self._host:
                raise

    def _link_to(self, session: SessionId, relay: str) -> LeaseLink:
        link = self._registration(relay)
        if link is None:
            raise errors.LeaseNeeded(session, f"{relay} is not reached")
        return link

    # ── what is told of it ────────────────────────────────────────────────

    def status(self) -> tuple[LeaseStatus, ...]:
        """Say how the leases stand: those in trouble first, then by their expiry."""
        now = boottime()
        found = [_told(held, now) for held in self._held.values()]
        return tuple(sorted(found, key=lambda one: one.expires_in)[:TOLD])

    def counts(self) -> tuple[int, int]:
        """Return how many leases there are, and how many are not held."""
        now = boottime()
        silent = [one for one in self._held.values() if not one.machine.may_speak(now)]
        return len(self._held), len(silent)


def refused(error: Exception, asked_at: float) -> lease.Refused | None:
    """Return what a machine is told of a refusal; None if it says nothing of leases."""
    facts = error.facts if isinstance(error, HoldfastError) else {}
    match error:
        case errors.LeaseHeld():
            holder, life = HostId(str(facts["holder"])), facts["incarnation"]
            wait = int(facts["wait_ms"]) / 1000
            return lease.Refused(holder, Incarnation(int(life)), wait, asked_at)
        case errors.LeaseLost():
            life = facts["incarnation"]
            return lease.Refused(None, Incarnation(int(life)), 0.0, asked_at)
        case errors.RolledBack():
            life = facts["offered"]
            return lease.Refused(None, Incarnation(int(life)), 0.0, asked_at)
        case _:
            return None


def _told(held: _Held, now: float) -> LeaseStatus:
    machine, known = held.machine, held.movable
    expires_in = 0.0
    if held.successor or machine.is_over:
        state = "over"
    elif machine.may_speak(now):
        state, expires_in = "held", (machine.expires_at or now) - now
    else:
        state = "claiming" if machine.incarnation is None else "fenced"
    return LeaseStatus(
        known.id,
        known.name,
        known.incarnation,
        known.authority,
        state,
        expires_in,
        held.why,
    )


async def _said(saying: Awaitable[None]) -> None:
    with contextlib.suppress(HoldfastError, OSError):
        await saying
