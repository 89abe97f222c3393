"""The keeper's state: deposits, links, nurseries, service sockets.

Decisions (requests, the upgrade) are made elsewhere; this is what there is
and what can be done with it.
"""

import selectors
import socket
import time
from collections.abc import Callable

from holdfast.keeper import code, leftovers, upgrade
from holdfast.keeper.backoff import Backoff
from holdfast.keeper.births import Births
from holdfast.keeper.given_up import GivenUp
from holdfast.keeper.host_watch import HostLink
from holdfast.keeper.links import Hear, Links
from holdfast.keeper.nursery import Nursery
from holdfast.keeper.replaced import Replaced
from holdfast.keeper.service_sockets import ServiceSocket
from holdfast.keeper.trustee_link import DOZER, TrusteeLink
from holdfast.keeper.vault import Deposit, Facts, Vault
from holdfast.keeper.watched import Means, Watched
from holdfast.linux import packets, processes, session_lock
from holdfast.linux.replacements import Replacement, kill
from holdfast.linux.watchdog import LOOK, MAX_CPU
from holdfast.model import holder_orders as orders

MAX_FORGOTTEN = 1000
"""Ids remembered: more than there are holders on their way at any moment."""

HEIR_PATIENCE = 2.0
"""Seconds for a holder that lives to deposit with a new keeper: twenty times what it
needs. Only then is it taken for one that hangs."""

NURSERY_PATIENT = 3
"""Deaths of the nursery in a row that are answered at once."""

NURSERY_CALM = 1.0
"""Seconds of life after which its death is an accident again; one whose code cannot
be loaded dies within a few tenths."""

NURSERY_MAX_DELAY = 5.0
"""Seconds between attempts to start a nursery, at the worst."""

UNHURRIED = 30.0
"""Seconds of processor time for a nursery that is not asked, or not ready yet."""


class KeeperState:
    """Everything the keeper has."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        hear: Hear,
        happened: Callable[[upgrade.Event], None],
    ) -> None:
        self.vault = Vault()
        self.selector = selector
        self.replaced = Replaced()
        self.watched = Watched(self.was_replaced)
        self.trustee = TrusteeLink(self.vault, selector, self.watched)
        self.dozer = TrusteeLink(
            self.vault, selector, self.watched, DOZER, self._dozer_said
        )
        self.host = HostLink(selector, self.watched, self.vault)
        self.links = Links(selector, hear, self._link_ended)
        self.host.leases.tell_holder = self.tell_holder
        self.host.leases.tell_trustee = self.trustee.tell_expiries
        self.host.reap_notices.tell_holder = self.tell_holder
        self.host.send = self.links.send
        self.births = Births(selector, self._born_dead)
        self.given_up = GivenUp()
        self.held: dict[socket.socket, str] = {}
        """Which session's holder is at the other end of a link."""

        self.waiting: dict[str, socket.socket] = {}
        """Who waits for a session to be made, by token."""

        self.recovering: set[str] = set()
        """Sessions that had lives before: what is left of those is not removed."""

        self.forgotten: dict[str, None] = {}
        """Sessions that must not come back with a holder that was on its way."""

        self.nursery: Nursery | None = None
        self.next_nursery: Nursery | None = None
        """During an upgrade, the one with the new code."""

        self.side_of: Callable[[str], upgrade.Side] = lambda _: upgrade.Side.OLD
        self.painter: ServiceSocket | None = None
        self.judge: ServiceSocket | None = None
        self._happened = happened
        self._nursery_backoff = Backoff(
            NURSERY_PATIENT, NURSERY_CALM, NURSERY_MAX_DELAY
        )

    # ── time ──────────────────────────────────────────────────────────────

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        deadlines = (
            self.vault.next_deadline(),
            self.births.next_deadline(),
            self.trustee.next_deadline(),
            self.dozer.next_deadline(),
            self.watched.next_deadline() if self.next_nursery is None else None,
            self.host.next_deadline(),
            self._nursery_backoff.restart_at,
            *(service.next_deadline() for service in self.service_sockets()),
        )
        return min((at for at in deadlines if at is not None), default=None)

    def tick(self, now: float) -> None:
        """Do what is due."""
        if self._nursery_backoff.take_due(now):
            self.start_nursery()
        for service in self.service_sockets():
            service.tick(now)
        self.trustee.tick(now)
        self.dozer.tick(now)
        self.host.tick(now)
        if self.next_nursery is None:  # An upgrade has deadlines of its own.
            self.watched.tick(now)
        self.births.tick(now)
        self._replace_the_dead(now)

    def service_sockets(self) -> list[ServiceSocket]:
        """Return the service_sockets that there are."""
        return [
            service for service in (self.painter, self.judge) if service is not None
        ]

    # ── holders ───────────────────────────────────────────────────────────

    def deposit(
        self, link: socket.socket, session: str, facts: Facts, fds: list[int]
    ) -> None:
        """Keep what a holder brings over a link that stays open."""
        for older in self.links_of(session):
            # There is one holder of a session: the newest who has all of it.
            del self.held[older]
            if older is not link:
                kill_peer(older)
                self.links.close(older)
                self._happened(upgrade.Left(session))
        packets.close(self.vault.deposit(session, facts, fds, time.monotonic()))
        self.dozer.note(session)
        # Before clients are told that there is a session: from here on, it stays.
        self.trustee.note(session, is_anew=True)
        self.hold(link, session)
        self.births.deposited(session, self.vault.deposits[session].held.holder)
        self.host.leases.deposited(session)

    def hold(self, link: socket.socket, session: str) -> None:
        """Note that a session's holder is at the other end of a link, and watch it."""
        self.held[link] = session
        means = Means(
            "holder",
            lambda: self.order(link, orders.Prove()),
            lambda: kill_peer(link),
        )
        self.watched.watch(session, packets.process_of(link), means, every=LOOK)

    def ask_first(self, link: socket.socket) -> None:
        """Ask a new holder for a proof: until it gives one it may be reading a book."""
        self.order(link, orders.Prove())

    def stalled(self, session: str) -> Facts:
        """Return what to say of a session whose holder does not answer; or nothing."""
        why = self.watched.stalled(session)
        if not why or self.vault.deposits[session].exit is not None:
            return {}
        return {"state": "stalled", "stalled": why}

    def was_replaced(self, one: Replacement) -> None:
        """Note that a holdfast process hung and was killed; tell the sessions."""
        self.replaced.note(one)
        for link, session in list(self.held.items()):
            # The holder that was killed hears nothing more: its successor does.
            if session != one.session:
                self.tell_replaced(link, session)

    def tell_replaced(self, link: socket.socket, session: str) -> None:
        """Tell a holder what was replaced and it has not been told of."""
        created = self.vault.deposits[session].record.created_ms
        for one in self.replaced.news(session, created):
            self.order(link, one)

    def heard(self, link: socket.socket) -> None:
        """Note that the peer of a link has said something."""
        session = self.held.get(link)
        if session is not None:
            self.watched.answered(session)

    def inherit(self, session: str, facts: Facts, fds: list[int]) -> None:
        """Keep what the trustee of a dead keeper brings, unless we have it."""
        now = time.monotonic()
        kept = Deposit(facts, fds, now)
        is_held = _is_held(kept)
        if is_held or not kept.is_dozing:
            kept.put({**facts, "dozing": False, "idle_ms": 0})
            at = now + HEIR_PATIENCE if is_held else now
        else:
            at = None
        if self.vault.inherit(session, kept, at):
            self.host.leases.deposited(session)
            self.trustee.note(session, is_anew=True)
            self.dozer.note(session, is_anew=True)
        else:
            packets.close(fds)

    def links_of(self, session: str) -> list[socket.socket]:
        """Return the link to a session's holder, if there is one."""
        return [link for link, held in self.held.items() if held == session]

    def tell_holder(self, session: str, order: orders.HolderOrder) -> None:
        """Say something to a session's holder, if there is one."""
        for link in self.links_of(session):
            self.order(link, order)

    def order(self, link: socket.socket, order: orders.HolderOrder) -> None:
        """Say something to the holder at the other end of a link."""
        self.links.send(link, orders.packet_of(order))

    def let_rest(self, link: socket.socket) -> None:
        """Tell a holder that we end, and that it is to look for no other keeper."""
        self.order(link, orders.Rest())

    def chosen(self, session: str) -> orders.Chosen:
        """Return the facts of a session that users chose, and may change."""
        record = self.vault.deposits[session].record
        return orders.Chosen(record.name, record.keep)

    def forget(self, session: str, *, is_over: bool = True) -> None:
        """Drop a session; its holder ends. It comes back only if it is not over."""
        # Also one we do not know: its holder may be on its way to a new keeper.
        self.tell_holder(session, orders.Forget())
        for link in self.links_of(session):
            del self.held[link]
        self.births.kill(session)
        self.watched.drop(session)
        self.replaced.drop(session)
        self.host.leases.forgotten(session)
        packets.close(self.vault.forget(session))
        self.trustee.note(session)
        self.dozer.note(session)
        leftovers.remove_files(session)
        if is_over:
            leftovers.remove_record(session)
            self.forgotten[session] = None
        if len(self.forgotten) > MAX_FORGOTTEN:
            del self.forgotten[next(iter(self.forgotten))]
        self._happened(upgrade.Forgotten(session))

    def kill_holder(self, session: str) -> bool:
        """Kill the holder of a session, or one about to be; False if there is no link.

        Without a link nobody will tell that it is gone: another is planned here.
        """
        links = self.links_of(session)
        self.births.kill(session)
        for link in links:
            kill_peer(link)
        if not links:
            self.wake(session)
            self.vault.hurry(session, time.monotonic())
        return bool(links)

    def note_exit(self, session: str, status: object) -> None:
        """Keep how a session's leader ended, once."""
        kept = self.vault.deposits.get(session)
        if kept is not None and isinstance(status, int) and kept.exit is None:
            kept.exit = status
            self.trustee.note(session)
            self.host.leases.ended(session)
            if not kept.has_exited:
                self.wake(session)  # A holder has to write it down.

    # ── what dozes ────────────────────────────────────────────────────────

    def doze(self, session: str, left: list[int], idle_ms: int, **seen: object) -> bool:
        """Let a session doze, of which a holder leaves all this; False if it cannot.

        What was `seen` of it last is among its facts as long as it does.

        Once this returns True, three processes have everything. Otherwise what was
        left is still the caller's.
        """
        if not self.trustee.pid or session in self.births:
            return False
        self.vault.doze(session, left, idle_ms, **seen)
        self.dozer.note(session, is_anew=True)
        if not self.dozer.pid:
            self.vault.rouse(session)
            return False
        self.trustee.note(session, is_anew=True)
        leftovers.mark_dozing(session)
        return True

    def wake(self, session: str) -> None:
        """Start a holder for a session, if it dozes."""
        if self.vault.wake(session, time.monotonic()):
            # First: its heir must not leave it without a holder.
            self.trustee.note(session)
            self.dozer.note(session)

    def _dozer_said(self, packet: packets.Packet) -> None:
        if packet.get("do") == "woke":
            self.wake(str(packet.get("id")))

    def _link_ended(self, link: socket.socket) -> None:
        for token in [one for one, asker in self.waiting.items() if asker is link]:
            del self.waiting[token]
        self.host.ended(link)
        session = self.held.pop(link, None)
        if session is not None:
            self.watched.rest(session)
            self.vault.holder_died(session, time.monotonic())
            self._happened(upgrade.Left(session))

    def _born_dead(self, key: str, why: str) -> None:
        self.given_up.note(key, why)
        asker = self.waiting.pop(key, None)
        if asker is not None:
            self.links.send(asker, no_keeper("the new holder died"))
        if key not in self.vault.deposits:
            leftovers.end_orphans(key)
            if key not in self.recovering:
                leftovers.remove_traces(key)
        self.vault.replacement_failed(key, time.monotonic())
        self._happened(upgrade.BornDead(key))

    def _replace_the_dead(self, now: float) -> None:
        for session in self.vault.due(now):
            if session in self.births:
                continue  # Its death, or its taking too long, plans another.
            evict(self.vault.deposits[session])
            if not self._make_successor(session, now):
                self.vault.replacement_failed(session, now)

    def prepare_successor(self, session: str) -> None:
        """Start a successor while the holder is there; it waits for the grip.

        So the holder can leave knowing that the dozer has all that it has. Where one
        of the two does not know of grips, the successor is made after it has left.
        """
        nursery = self._nursery_of(self.side_of(session))
        kept = self.vault.deposits.get(session)
        if kept is None or nursery is None or not nursery.waits:
            return
        if session_lock.taken_by(kept.memory):
            self._make_successor(session, time.monotonic())

    def holders(self) -> tuple[int, ...]:
        """Return the pid of every holder, by the kernel's word."""
        kept = self.vault.deposits.values()
        return tuple(pid for one in kept if (pid := session_lock.taken_by(one.memory)))

    def _make_successor(self, session: str, now: float) -> bool:
        kept = self.vault.deposits[session]
        side = self.side_of(session)
        nursery = self._nursery_of(side)
        facts, fds = kept.facts, kept.fds
        if nursery is not None and not nursery.dozes:
            # Older code would take what was left for something else.
            facts, fds = {**facts, "left": 0}, kept.plain_fds
        packet: Facts = {"do": "adopt", "id": session, "facts": facts}
        is_asked = self.ask_nursery(side, {**packet, "exit": kept.exit}, fds)
        if is_asked:
            self.births.begin(session, now)
        return is_asked

    # ── nurseries ─────────────────────────────────────────────────────────

    def start_nursery(self) -> None:
        """Start the nursery with our own code; try again later if that fails."""
        self.nursery = self.new_nursery(code.present())
        self._nursery_backoff.born(time.monotonic())
        try:
            self.nursery.start()
        except OSError:
            self.nursery = None
            self._nursery_backoff.died(time.monotonic())
        else:
            self.watch_nursery(self.nursery)

    def watch_nursery(self, nursery: Nursery) -> None:
        """Watch the nursery; one that is loading, or older, may take its time."""
        means = Means("nursery", nursery.ping, lambda: kill(nursery.pid))
        most = MAX_CPU if nursery.pings else UNHURRIED
        self.watched.watch("nursery", nursery.pid, means, max_cpu=most)

    def new_nursery(self, which: code.Code) -> Nursery:
        """Return a nursery of some code, not started yet."""
        return Nursery(which, self.selector, self._heard_nursery, self._nursery_ended)

    def ask_nursery(
        self, side: upgrade.Side, packet: packets.Packet, fds: list[int]
    ) -> bool:
        """Ask a nursery for a holder; False if it cannot be asked now."""
        nursery = self._nursery_of(side)
        return nursery is not None and nursery.ask(packet, fds)

    def _nursery_of(self, side: upgrade.Side) -> Nursery | None:
        return self.nursery if side is upgrade.Side.OLD else self.next_nursery

    def _heard_nursery(
        self, nursery: Nursery, packet: packets.Packet, fds: list[int]
    ) -> None:
        if nursery is self.nursery:
            self.watched.answered("nursery")
        match packet:
            case {"do": "ready", "version": str(version)}:
                nursery.version = version
                nursery.waits = bool(packet.get("waits"))
                nursery.pings = bool(packet.get("pings"))
                nursery.dozes = bool(packet.get("dozes"))
                packets.close(fds)
                nursery.ping()  # It learns that we answer, and watches us.
                if nursery is self.nursery:
                    self.watch_nursery(nursery)
                if nursery is self.next_nursery:
                    self._happened(upgrade.NurseryReady(dozes=nursery.dozes))
            case {"do": "forked", "key": str(key), "pid": int(pid)} if len(fds) == 1:
                self.births.forked(key, pid, fds[0])
            case {"do": "ping"}:
                packets.close(fds)
                nursery.ask({"do": "pong"}, [])
            case {"do": "stillborn", "key": str(key)}:
                packets.close(fds)
                self.births.died(key, "could not be watched")
            case _:
                packets.close(fds)

    def _nursery_ended(self, nursery: Nursery) -> None:
        if nursery is self.next_nursery:
            self.next_nursery = None
            self._happened(upgrade.NurseryFailed("has died"))
            return
        self.nursery = None
        self.watched.rest("nursery")
        now = time.monotonic()
        self._nursery_backoff.died(now)
        # Whatever it was asked for and had not done yet is asked for again.
        for key in self.births.unborn():
            self.births.died(key, "was not made: its nursery has died")

    # ── children ──────────────────────────────────────────────────────────

    def collect_children(self) -> dict[int, int]:
        """Collect the exit statuses of child processes, and return them."""
        ended = processes.reap()
        now = time.monotonic()
        for pid, status in ended.items():
            for service in self.service_sockets():
                service.ended(pid, now)
            for session, kept in self.vault.deposits.items():
                if kept.record.pid == pid:
                    self.note_exit(session, status)
        return ended


def kill_peer(link: socket.socket) -> None:
    """Kill the process at the other end of a link, which lives as long as it."""
    # One in another namespace has no number here: 0 would be our whole group.
    kill(packets.process_of(link))


def evict(kept: Deposit) -> None:
    """Kill the process that still holds a session that is to get another holder.

    A link that ended means a dead holder; one that lives has lost its link, and
    would not let its successor begin.
    """
    kill(session_lock.taken_by(kept.memory))


def _is_held(kept: Deposit) -> bool:
    """Tell whether the holder that deposited these lives, as far as can be known."""
    if session_lock.taken_by(kept.memory):
        return True
    if kept.is_dozing:
        return False
    # A holder of older code takes no grip, but it has a number.
    return processes.is_alive(kept.held.holder)


def refusal(error_code: str, text: str, /, **facts: object) -> Facts:
    """Return an answer that says no, and why."""
    return {"ok": False, "code": error_code, "text": text, "facts": facts}


def no_keeper(why: str) -> Facts:
    """Return the answer to what could not be done now."""
    return refusal("no-keeper", f"the keeper cannot do that now: {why}", why=why)
