"""What the keeper is asked, and what it answers.

Packets (JSON, linux/packets.py), each answered with `ok`; docs/spec/keeper.md has
the table.
"""

import os
import socket
import time

from holdfast.keeper import checks, code, leftovers
from holdfast.keeper.consents import Consents, Request
from holdfast.keeper.keeper_state import Household, close, no_keeper, refusal
from holdfast.keeper.upgrade import Deposited, Proven
from holdfast.keeper.upgrade_steps import Upgrading
from holdfast.keeper.vault import Deposit, Facts
from holdfast.linux import descriptors, packets
from holdfast.model.errors import (
    HoldfastError,
    HostFull,
    NameTaken,
    NoDescriptorLeft,
    SessionNotFound,
)
from holdfast.model.ids import ENTROPY, SessionId, session_id
from holdfast.model.text import checked_name, same_name
from holdfast.version import __version__
from holdfast.wire.host_requests import refusal as refused

FDS = 8
"""Descriptors of a session at most: terminal, memory, listening socket, pidfd, two of
an exec gate, and two of a command that has not begun."""

SPARE = 64
"""Descriptors for a requester, a nursery, a painter and a judge."""

KNOCK_PATIENCE = 1.0
"""Seconds that a requester waits for the deposits of running holders: they
come within milliseconds, but one of them may be frozen."""

PATIENT = ("list", "create", "rename", "keep", "forget", "upgrade", "down")
"""What a keeper that has just begun cannot answer truly."""


class Requests:
    """Answers requests."""

    def __init__(self, household: Household, upgrading: Upgrading) -> None:
        self.started_at = time.monotonic()
        self.is_closing = False
        """Whether the keeper was told to end."""

        self._most_sessions = checks.most_sessions(os.environ)
        self._household = household
        self._upgrading = upgrading
        self._consents = Consents(household)
        self._coming: dict[str, str] = {}
        self._expected: set[SessionId] = set()
        self._expected_until: float | None = None
        self._postponed: list[tuple[socket.socket, packets.Packet]] = []

    def expect(self, sessions: set[SessionId], now: float) -> None:
        """Answer nobody before these sessions are deposited, or it takes too long."""
        self._expected = sessions
        self._expected_until = now + KNOCK_PATIENCE if sessions else None

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        deadlines = (self._expected_until, self._consents.next_deadline())
        return min((at for at in deadlines if at is not None), default=None)

    def tick(self, now: float) -> None:
        """Answer what was postponed, once everybody is here or it is time."""
        for request in self._consents.overdue(now):
            self._carry_out(request)
        until = self._expected_until
        if until is None:
            return
        if now >= until or self._expected <= self._household.vault.deposits.keys():
            self._expected_until = None
            postponed, self._postponed = self._postponed, []
            for link, packet in postponed:
                self.hear(link, packet, [])

    def hear(self, link: socket.socket, packet: packets.Packet, fds: list[int]) -> None:
        """Answer one packet."""
        self._household.heard(link)
        if packet.get("do") == "deposit":
            self._household.links.send(link, self._deposit(link, packet, fds))
            self._deposited(link, packet.get("facts"))
            return
        if packet.get("do") == "inherit":
            self._household.links.send(link, self._inherit(packet, fds))
            return
        if packet.get("do") == "doze":
            granted = self._doze(link, packet, fds)
            self._household.links.send(link, {**granted, "do": "doze"})
            return
        close(fds)  # Nobody else has any to give.
        if self._expected_until is not None and packet.get("do") in PATIENT:
            self._postponed.append((link, packet))
            return
        try:
            answer = self._answer(link, packet)
        except HoldfastError as error:
            answer = refused(error)
        if answer is not None:
            self._household.links.send(link, answer)

    def _answer(  # noqa: C901, PLR0911, PLR0912  # one case for each request
        self, link: socket.socket, packet: packets.Packet
    ) -> Facts | None:
        match packet.get("do"):
            case "failed":
                return self._failed(link, packet)
            case "proof":
                self._upgrading.happened(Proven(str(packet.get("id"))))
                return None
            case "list":
                return self._list(link)
            case "create":
                return self._create(link, packet)
            case "rename" | "keep" | "forget":
                return self._ask_holder(link, packet)
            case "said":
                self._said(link, packet)
                return None
            case "facts":
                return self._changed(link, packet)
            case "gave-up":
                why = str(packet.get("why"))
                self._household.given_up.note(checks.session_of(packet), why)
                return {"ok": True}
            case "status":
                return self._status()
            case "host":
                return {"ok": self._household.host.hello(link, packet.get("runs"))}
            case "upgrade":
                return self._upgrading.begin(link, packet)
            case "down":
                return self._down()
            case word:
                return refusal("unexpected-message", f"there is no {word!r}")

    def _deposit(
        self, link: socket.socket, packet: packets.Packet, fds: list[int]
    ) -> Facts:
        try:
            session = checks.session_of(packet)
            facts = checks.deposit(packet.get("facts"), fds)
        except HoldfastError as error:
            close(fds)
            return refused(error)
        household, token = self._household, str(packet.get("token"))
        kept = household.vault.deposits.get(session)
        if kept is not None and not checks.is_same(kept.fds, fds):
            close(fds)
            return refusal("not-proven", "these are not its descriptors", actor="")
        if session in household.forgotten:
            close(fds)
            leftovers.remove_files(SessionId(session))
            return refusal("session-not-found", "it was forgotten", session=session)
        household.deposit(link, session, facts, fds)
        # A creation's token is its session's id; any other would be someone else's.
        waiting = None
        if token == session:
            household.births.drop(token)
            waiting = household.waiting.pop(token, None)
        if waiting is not None:
            household.links.send(waiting, {"ok": True, "id": session, **facts})
        household.note_exit(session, packet.get("exit"))
        return {"ok": True, "exit": household.vault.deposits[session].exit}

    def _inherit(self, packet: packets.Packet, fds: list[int]) -> Facts:
        try:
            session = checks.session_of(packet)
            facts = checks.deposit(packet.get("facts"), fds)
        except HoldfastError as error:
            close(fds)
            return refused(error)
        if session in self._household.forgotten:
            close(fds)
            return refusal("session-not-found", "it was forgotten", session=session)
        if self._expected_until is not None:
            # A peer with so much to give has more: nobody is answered in between.
            self._expected_until = time.monotonic() + KNOCK_PATIENCE
        self._household.inherit(session, facts, fds)
        self._household.note_exit(session, packet.get("exit"))
        return {"ok": True}

    def _doze(
        self, link: socket.socket, packet: packets.Packet, fds: list[int]
    ) -> Facts:
        """Let a session doze whose holder asks for it, and is about to go."""
        household = self._household
        try:
            session = checks.session_of(packet)
            left = checks.left(fds)
            idle_ms = checks.idle_of(packet)
        except HoldfastError as error:
            close(fds)
            return refused(error)
        is_due = (
            household.held.get(link) == session
            and not household.vault.deposits[session].is_dozing
            and not self._consents.is_open(session)
            and not self._upgrading.is_on
            and not self.is_closing
        )
        if is_due and household.doze(session, left, idle_ms):
            return {"ok": True}
        close(left)
        return no_keeper("the session cannot doze now")

    def _deposited(self, link: socket.socket, said: object) -> None:
        """Say what comes after the answer, which the holder waits for first."""
        session = self._household.held.get(link)
        if session is None:
            return
        newest = _chosen(self._household.vault.deposits[session])
        if isinstance(said, dict) and not newest.items() <= said.items():
            # It waited for its predecessor to leave, and was not told meanwhile.
            self._household.links.send(link, {"do": "changed", **newest})
        self._consents.deposited(session)
        self._household.tell_replaced(link, session)
        self._household.ask_first(link)
        if self.is_closing:
            self._household.links.send(link, {"do": "rest"})
        self._upgrading.happened(Deposited(session))

    def _failed(self, link: socket.socket, packet: packets.Packet) -> Facts:
        token = str(packet.get("token"))
        household = self._household
        is_born = token in household.vault.deposits
        # What lives has not failed; of anything else only its holder can know.
        if is_born or not household.births.is_of(token, packets.process_of(link)):
            return refusal("not-proven", "its holder did not say so", actor="")
        # Before anybody is told: then nothing of it is to be found any more, but
        # for the record of what somebody was not allowed to start.
        is_kept = packet.get("kept") is True
        remove = leftovers.remove_files if is_kept else leftovers.remove_traces
        remove(SessionId(token))
        household.births.drop(token)
        waiting = household.waiting.pop(token, None)
        if waiting is not None:
            household.links.send(waiting, {**packet, "ok": False})
        return {"ok": True}

    def _list(self, link: socket.socket) -> Facts:
        *pages, last = checks.pages(self._sessions())
        for page in pages:
            packet: Facts = {"ok": True, "sessions": page, "more": True}
            self._household.links.send(link, packet)
        return {"ok": True, "sessions": last, "more": False}

    def _sessions(self) -> list[Facts]:
        return [
            {
                **kept.facts,
                "id": session,
                "exit": kept.exit,
                "held": kept.is_held,
                **self._household.stalled(session),
            }
            for session, kept in self._household.vault.deposits.items()
        ]

    def _create(self, link: socket.socket, packet: packets.Packet) -> Facts | None:
        checks.creation(packet)
        name = packet.get("name")
        if name is not None:
            self._demand_free(checked_name(str(name)))
        self._demand_room()
        if self.is_closing:
            return no_keeper("it is ending")
        # We choose the id, so that we know what to clear away if the holder dies.
        household, token = self._household, session_id(os.urandom(ENTROPY))
        asked: Facts = {**packet, "do": "create", "token": token, "id": token}
        if not household.ask_nursery(self._upgrading.side_of_births, asked, []):
            return no_keeper("there is no nursery")
        household.waiting[token] = link
        household.births.begin(token, time.monotonic())
        if name is not None:
            self._coming[token] = str(name)
        return None  # Answered when the holder reports.

    def _demand_free(self, name: str, session: str = "") -> None:
        """Do nothing if no other session has this name, or is about to have it."""
        births = self._household.births
        self._coming = {
            token: coming for token, coming in self._coming.items() if token in births
        }
        taken = {
            one: kept.record.name
            for one, kept in self._household.vault.deposits.items()
        }
        for other, known in (taken | self._coming).items():
            if other != session and same_name(known, name):
                raise NameTaken(name)

    def _demand_room(self) -> None:
        """Do nothing if another session may be kept, and has descriptors left."""
        household, limit = self._household, descriptors.limit()
        sessions = len(household.vault.deposits) + len(household.waiting)
        if sessions >= self._most_sessions:
            raise HostFull(self._most_sessions)
        links = sum(1 for _ in household.links)
        kept = sum(len(one.fds) for one in household.vault.deposits.values())
        coming = FDS * (len(household.waiting) + 1)
        if kept + coming + links + SPARE > limit:
            raise NoDescriptorLeft(limit)

    def _ask_holder(self, link: socket.socket, packet: packets.Packet) -> Facts | None:
        session = checks.session_of(packet)
        if packet.get("do") != "forget":
            self._demand_changeable(packet)
        if self._consents.must_be_asked(session):
            self._consents.ask(link, session, packet)
            return None  # Answered when the holder has said whether.
        return self._do_change(packet)

    def _said(self, link: socket.socket, packet: packets.Packet) -> None:
        request = self._consents.said(link, packet)
        if request is not None:
            self._carry_out(request)

    def _changed(self, link: socket.socket, packet: packets.Packet) -> Facts:
        if self._household.held.get(link) != checks.session_of(packet):
            return refusal("not-proven", "its holder did not say so", actor="")
        return self._change(packet)

    def _carry_out(self, request: Request) -> None:
        try:
            answer = self._do_change(request.packet)
        except HoldfastError as error:
            answer = refused(error)
        self._household.links.send(request.asker, answer)

    def _do_change(self, packet: packets.Packet) -> Facts:
        if packet.get("do") != "forget":
            return self._change(packet)
        self._household.forget(checks.session_of(packet))
        return {"ok": True}

    def _demand_changeable(self, packet: packets.Packet) -> None:
        """Do nothing if there is such a session, and such a change."""
        session = checks.session_of(packet)
        if session not in self._household.vault.deposits:
            raise SessionNotFound(session)
        changes = checks.changes(packet)
        if "name" in changes:
            self._demand_free(str(changes["name"]), session)

    def _change(self, packet: packets.Packet) -> Facts:
        self._demand_changeable(packet)
        session = checks.session_of(packet)
        kept = self._household.vault.deposits[session]
        kept.put(kept.facts | checks.changes(packet))
        self._household.trustee.note(session)
        self._household.note_exit(session, packet.get("exit"))
        if packet.get("do") != "facts":  # Else the holder has said it itself.
            told: Facts = {"do": "changed", **_chosen(kept)}
            self._household.tell_holder(session, told)
        return {"ok": True}

    def _status(self) -> Facts:
        household, nursery = self._household, self._household.nursery
        present = code.present()
        return {
            "ok": True,
            "version": __version__,
            "pid": os.getpid(),
            "uptime": time.monotonic() - self.started_at,
            "python": present.python,
            "root": present.root,
            "nursery": 0 if nursery is None else nursery.pid,
            "nursery_version": "" if nursery is None else nursery.version,
            "trustee": household.trustee.pid,
            "dozer": household.dozer.pid,
            "painter": 0 if household.painter is None else household.painter.pid,
            "judge": 0 if household.judge is None else household.judge.pid,
            "host": household.host.pid,
            "upgrading": self._upgrading.is_on,
            "stalled": household.watched.everyone_stalled(),
            "replaced": household.replaced.to_facts(),
            "sessions": len(household.vault.deposits),
            "dozing": sum(kept.is_dozing for kept in household.vault.deposits.values()),
            "given_up": household.given_up.facts(),
        }

    def _down(self) -> Facts:
        if self._upgrading.is_on:
            return refusal(
                "upgrade-failed",
                "an upgrade is under way",
                session="",
                why="an upgrade is under way",
            )
        self.is_closing = True
        for session in self._household.vault.deposits:
            self._household.tell_holder(session, {"do": "rest"})
        return {"ok": True, "pid": os.getpid()}


def _chosen(kept: Deposit) -> Facts:
    """Return what of a session somebody has chosen, and may choose again."""
    return {"name": kept.record.name, "keep": kept.record.keep}
