"""The requests to the keeper, and its answers.

Packets (JSON, linux/packets.py), each answered with `ok`; docs/spec/keeper.md has
the table.
"""

import os
import socket
import time

from holdfast.keeper import checks, code, leftovers
from holdfast.keeper.consents import Consents, Request, refusal_of
from holdfast.keeper.glances import Glances
from holdfast.keeper.keeper_state import KeeperState, no_keeper, refusal
from holdfast.keeper.upgrade import Deposited, Proven
from holdfast.keeper.upgrade_steps import Upgrading
from holdfast.keeper.vault import Facts
from holdfast.linux import descriptors, packets
from holdfast.model import errors
from holdfast.model import keeper_messages as told
from holdfast.model.ids import ENTROPY, SessionId, parse_session_id, session_id
from holdfast.model.process_status import KeeperStatus
from holdfast.model.session_record import as_facts
from holdfast.model.session_requests import (
    Creation,
    Down,
    Forget,
    Keep,
    ListSessions,
    ProvenChange,
    Recover,
    Rename,
    Status,
    Upgrade,
)
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

PATIENT = (ListSessions, Creation, Recover, Rename, Keep, Forget, Upgrade, Down)
"""What a keeper that has just begun cannot answer truly."""


class Requests:
    """Answers requests."""

    def __init__(self, keeper_state: KeeperState, upgrading: Upgrading) -> None:
        self.started_at = time.monotonic()
        self.is_closing = False
        """Whether the keeper was told to end."""

        self._most_sessions = checks.most_sessions(os.environ)
        self._keeper_state = keeper_state
        self._upgrading = upgrading
        self._consents = Consents(keeper_state)
        self._glances = Glances(keeper_state, self._send_list)
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
        deadlines = (
            self._expected_until,
            self._consents.next_deadline(),
            self._glances.next_deadline(),
        )
        return min((at for at in deadlines if at is not None), default=None)

    def tick(self, now: float) -> None:
        """Answer postponed requests, once all holders are here or the time is up."""
        for request in self._consents.overdue(now):
            self._carry_out(request)
        self._glances.tick(now)
        until = self._expected_until
        if until is None:
            return
        if now >= until or self._expected <= self._keeper_state.vault.deposits.keys():
            self._expected_until = None
            postponed, self._postponed = self._postponed, []
            for link, packet in postponed:
                self.hear(link, packet, [])

    def hear(self, link: socket.socket, packet: packets.Packet, fds: list[int]) -> None:
        """Answer one packet."""
        self._keeper_state.heard(link)
        asked: told.KeeperMessage | None = None
        answer: Facts | None
        try:
            asked = told.message_from(packet)
            if isinstance(asked, told.Deposit | told.Inherit | told.Doze):
                answer = self._take_in(link, asked, fds)
            elif isinstance(asked, told.Port):
                answer = None
                self._port(link, asked, fds)
            else:
                packets.close(fds)  # Nobody else has any to give.
                fds = []
                answer = self._answer(link, packet, asked)
        except errors.HoldfastError as error:
            packets.close(fds)
            answer = refused(error)
        if isinstance(asked, told.Doze):
            answer = {**(answer or {}), "do": "doze"}
        if answer is not None:
            self._keeper_state.links.send(link, answer)
        if isinstance(asked, told.Deposit):
            self._deposited(link, asked.facts)

    def _take_in(
        self,
        link: socket.socket,
        asked: told.Deposit | told.Inherit | told.Doze,
        fds: list[int],
    ) -> Facts:
        session = parse_session_id(asked.id)
        match asked:
            case told.Deposit():
                return self._deposit(link, session, asked, fds)
            case told.Inherit():
                return self._inherit(session, asked, fds)
            case told.Doze():
                return self._doze(link, session, asked, fds)

    def _answer(  # noqa: C901, PLR0911, PLR0912, PLR0915  # one case for each request
        self, link: socket.socket, packet: packets.Packet, asked: told.KeeperMessage
    ) -> Facts | None:
        if self._expected_until is not None and isinstance(asked, PATIENT):
            self._postponed.append((link, packet))
            return None
        match asked:
            case told.Failed():
                return self._failed(link, asked)
            case told.Proof(session):
                self._upgrading.happened(Proven(session))
                return None
            case ListSessions(look):
                return None if look and self._glances.begin(link) else self._list(link)
            case told.Seen():
                self._glances.said(link, asked)
                return None
            case Creation(name):
                return self._create(link, packet, name)
            case Recover():
                return self._recover(link, packet, asked)
            case Rename() | Keep() | Forget():
                return self._ask_holder(link, packet, asked)
            case told.Said():
                if (request := self._consents.said(link, asked)) is not None:
                    self._carry_out(request)
                return None
            case told.Changed(session):
                if self._keeper_state.held.get(link) != parse_session_id(session):
                    raise errors.NotProven("")
                return self._change(asked)
            case told.Unbegun(session):
                if self._keeper_state.held.get(link) != parse_session_id(session):
                    raise errors.NotProven("")
                self._keeper_state.forget(session, is_over=False)
                return None
            case told.GaveUp(session, why):
                self._keeper_state.given_up.note(parse_session_id(session), why)
                return {"ok": True}
            case Status():
                return {"ok": True, **as_facts(self._status())}
            case told.HostIsThere(runs):
                return self._host_is_there(link, runs)
            case told.Leases():
                self._take_leases(link, asked)
                return None
            case told.Warned():
                self._take_warnings(link, asked)
                return None
            case Upgrade(python, root):
                return self._upgrading.begin(link, code.Code(python, root))
            case Down():
                return self._down()
            case _:
                raise errors.UnexpectedMessage(type(asked).__name__, "asking a keeper")

    def _take_leases(self, link: socket.socket, said: told.Leases) -> None:
        if link is not self._keeper_state.host.link:
            raise errors.NotProven("")
        self._keeper_state.host.leases.told(said.leases)

    def _take_warnings(self, link: socket.socket, said: told.Warned) -> None:
        if link is not self._keeper_state.host.link:
            raise errors.NotProven("")
        self._keeper_state.host.reap_notices.told(said.sessions)

    def _host_is_there(self, link: socket.socket, runs: str) -> Facts:
        is_new = link is not self._keeper_state.host.link
        is_known = self._keeper_state.host.hello(link, runs)
        if is_new and is_known:
            self._keeper_state.host.leases.greet()
        return {"ok": is_known}

    def _deposit(
        self,
        link: socket.socket,
        session: SessionId,
        asked: told.Deposit,
        fds: list[int],
    ) -> Facts:
        facts = checks.deposit(asked.facts, fds)
        keeper_state, token = self._keeper_state, asked.token
        kept = keeper_state.vault.deposits.get(session)
        if kept is not None and not checks.is_same(kept.fds, fds):
            raise errors.NotProven("")
        if session in keeper_state.forgotten:
            # Forgotten while it was orphaned; what it has just made goes too.
            leftovers.remove_files(session)
            raise errors.SessionNotFound(session)
        keeper_state.deposit(link, session, facts, fds)
        # A creation's token is its session's id; any other would be someone else's.
        waiting = None
        if token == session:
            keeper_state.births.drop(token)
            waiting = keeper_state.waiting.pop(token, None)
        if waiting is not None:
            keeper_state.links.send(waiting, {"ok": True, "id": session, **facts})
        keeper_state.note_exit(session, asked.exit)
        return {"ok": True, "exit": keeper_state.vault.deposits[session].exit}

    def _inherit(
        self, session: SessionId, asked: told.Inherit, fds: list[int]
    ) -> Facts:
        facts = checks.deposit(asked.facts, fds)
        if session in self._keeper_state.forgotten:
            raise errors.SessionNotFound(session)
        kept = self._keeper_state.vault.deposits.get(session)
        if kept is not None and not checks.is_same(kept.fds, fds):
            raise errors.NotProven("")
        if self._expected_until is not None:
            # A peer with so much to give has more: nobody is answered in between.
            self._expected_until = time.monotonic() + KNOCK_PATIENCE
        self._keeper_state.inherit(session, facts, fds)
        self._keeper_state.note_exit(session, asked.exit)
        return {"ok": True}

    def _doze(
        self, link: socket.socket, session: SessionId, asked: told.Doze, fds: list[int]
    ) -> Facts:
        """Let a session doze whose holder asks for it, and is about to go."""
        keeper_state, left = self._keeper_state, checks.left(fds)
        is_due = (
            keeper_state.held.get(link) == session
            and not keeper_state.vault.deposits[session].is_dozing
            and not self._consents.is_open(session)
            and not self._upgrading.is_on
            and not self.is_closing
        )
        seen: Facts = {"doing": asked.doing, "output_ms": asked.output_ms}
        seen["offset"] = asked.offset
        if is_due and keeper_state.doze(session, left, asked.idle_ms, **seen):
            self._glances.gone(session)
            return {"ok": True}
        packets.close(left)
        return no_keeper("the session cannot go to sleep now")

    def _port(self, link: socket.socket, asked: told.Port, fds: list[int]) -> None:
        """Have a porter made for a holder; it hears it from the link if there is none.

        No birth waits for it, and nobody replaces it: what it leaves, the holder mends.
        """
        if self._keeper_state.held.get(link) != parse_session_id(asked.id):
            raise errors.NotProven("")
        packet: Facts = {"do": "port"}
        side = self._upgrading.side_of_births
        if len(fds) == 1 and not self.is_closing:
            self._keeper_state.ask_nursery(side, packet, fds)
        packets.close(fds)

    def _deposited(self, link: socket.socket, said: object) -> None:
        """Say what comes after the answer, which the holder waits for first."""
        session = self._keeper_state.held.get(link)
        if session is None:
            return
        newest = self._keeper_state.chosen(session)
        if isinstance(said, dict) and not newest._asdict().items() <= said.items():
            # It waited for its predecessor to leave, and was not told meanwhile.
            self._keeper_state.order(link, newest)
        self._consents.deposited(session)
        self._keeper_state.tell_replaced(link, session)
        self._keeper_state.ask_first(link)
        if self.is_closing:
            self._keeper_state.let_rest(link)
        self._upgrading.happened(Deposited(session))

    def _failed(self, link: socket.socket, asked: told.Failed) -> Facts:
        token, keeper_state = asked.token, self._keeper_state
        is_born = token in keeper_state.vault.deposits
        # What lives has not failed; of anything else only its holder can know.
        if is_born or not keeper_state.births.is_of(token, packets.process_of(link)):
            raise errors.NotProven("")
        # Before the client is told: then nothing of it can be found any more,
        # except the record of a start that was not allowed.
        if token not in keeper_state.recovering:  # Another may have what is left.
            remove = leftovers.remove_files if asked.kept else leftovers.remove_traces
            remove(SessionId(token))
        keeper_state.births.drop(token)
        waiting = keeper_state.waiting.pop(token, None)
        if waiting is not None:
            keeper_state.links.send(waiting, refusal_of(asked))
        return {"ok": True}

    def _list(self, link: socket.socket) -> Facts:
        *pages, last = checks.pages(self._sessions())
        for page in pages:
            packet: Facts = {"ok": True, "sessions": page, "more": True}
            self._keeper_state.links.send(link, packet)
        return {"ok": True, "sessions": last, "more": False}

    def _send_list(self, link: socket.socket) -> None:
        self._keeper_state.links.send(link, self._list(link))

    def _sessions(self) -> list[Facts]:
        return [
            {
                **kept.facts,
                "id": session,
                "exit": kept.exit,
                "held": kept.is_held,
                **self._glances.of(session),
                **self._keeper_state.stalled(session),
            }
            for session, kept in self._keeper_state.vault.deposits.items()
        ]

    def _create(
        self, link: socket.socket, packet: packets.Packet, name: str | None
    ) -> Facts | None:
        checks.creation(packet)
        if name is not None:
            self._demand_free(checked_name(name))
        self._demand_room()
        if packet.get("movable") and self._keeper_state.host.link is None:
            raise errors.NotMovable("no host is running here to renew its lease")
        if self.is_closing:
            return no_keeper("it is ending")
        # We choose the id, so that we know what to clear away if the holder dies.
        token = session_id(os.urandom(ENTROPY))
        self._coming |= {} if name is None else {token: name}
        return self._have_born(link, {**packet, "recover": False}, token)

    def _recover(
        self, link: socket.socket, packet: packets.Packet, asked: Recover
    ) -> Facts | None:
        """Start the next incarnation of a session, unless the last one still runs."""
        session, keeper_state = parse_session_id(asked.recovers), self._keeper_state
        checks.creation(packet)
        kept = keeper_state.vault.deposits.get(session)
        if kept is not None:
            raise errors.StillAlive(kept.record.incarnation, "here")
        if session in keeper_state.births:
            raise errors.StillAlive(0, "being recovered")
        if asked.image or asked.takes:
            keeper_state.forgotten.pop(session, None)  # It comes back from its image.
        if session in keeper_state.forgotten:
            raise errors.SessionNotFound(session)
        name = checked_name(asked.name or "")
        self._demand_free(name)
        self._demand_room()
        if self.is_closing:
            return no_keeper("it is ending")
        keeper_state.recovering.add(session)
        self._coming[session] = name
        return self._have_born(link, {**packet, "recover": True}, session)

    def _have_born(
        self, link: socket.socket, packet: packets.Packet, token: SessionId
    ) -> Facts | None:
        keeper_state = self._keeper_state
        asked: Facts = {**packet, "do": "create", "token": token, "id": token}
        if not keeper_state.ask_nursery(self._upgrading.side_of_births, asked, []):
            return no_keeper("there is no nursery")
        keeper_state.waiting[token] = link
        keeper_state.births.begin(token, time.monotonic())
        return None  # Answered when the holder reports.

    def _demand_free(self, name: str, session: str = "") -> None:
        """Do nothing if no other session has this name, or is about to have it."""
        births = self._keeper_state.births
        self._coming = {
            token: coming for token, coming in self._coming.items() if token in births
        }
        taken = {
            one: kept.record.name
            for one, kept in self._keeper_state.vault.deposits.items()
        }
        for other, known in (taken | self._coming).items():
            if other != session and same_name(known, name):
                raise errors.NameTaken(name)

    def _demand_room(self) -> None:
        """Do nothing if another session may be kept, and has descriptors left."""
        keeper_state, limit = self._keeper_state, descriptors.limit()
        sessions = len(keeper_state.vault.deposits) + len(keeper_state.waiting)
        if sessions >= self._most_sessions:
            raise errors.HostFull(self._most_sessions)
        links = sum(1 for _ in keeper_state.links)
        kept = sum(len(one.fds) for one in keeper_state.vault.deposits.values())
        coming = FDS * (len(keeper_state.waiting) + 1)
        if kept + coming + links + SPARE > limit:
            raise errors.NoDescriptorLeft(limit)

    def _ask_holder(
        self, link: socket.socket, packet: packets.Packet, asked: ProvenChange
    ) -> Facts | None:
        session = parse_session_id(asked.id)
        if not isinstance(asked, Forget):
            self._demand_changeable(session, checks.changes(asked))
        if self._consents.must_be_asked(session):
            self._consents.ask(link, session, asked, packet)
            return None  # Answered when the holder has said whether.
        return self._do_change(asked)

    def _carry_out(self, request: Request) -> None:
        try:
            answer = self._do_change(request.asked)
        except errors.HoldfastError as error:
            answer = refused(error)
        self._keeper_state.links.send(request.asker, answer)

    def _do_change(self, asked: ProvenChange) -> Facts:
        if not isinstance(asked, Forget):
            return self._change(asked)
        self._keeper_state.forget(parse_session_id(asked.id))
        return {"ok": True}

    def _demand_changeable(self, session: SessionId, changes: Facts) -> None:
        """Do nothing if there is such a session, and it may have this name."""
        if session not in self._keeper_state.vault.deposits:
            raise errors.SessionNotFound(session)
        if "name" in changes:
            self._demand_free(str(changes["name"]), session)

    def _change(self, asked: Rename | Keep | told.Changed) -> Facts:
        session, changes = parse_session_id(asked.id), checks.changes(asked)
        self._demand_changeable(session, changes)
        kept = self._keeper_state.vault.deposits[session]
        kept.put(kept.facts | changes)
        self._keeper_state.trustee.note(session)
        if isinstance(asked, told.Changed):  # The holder has said it itself.
            self._keeper_state.note_exit(session, asked.exit)
        else:
            self._keeper_state.tell_holder(session, self._keeper_state.chosen(session))
        return {"ok": True}

    def _status(self) -> KeeperStatus:
        keeper_state, nursery = self._keeper_state, self._keeper_state.nursery
        present = code.present()
        return KeeperStatus(
            version=__version__,
            pid=os.getpid(),
            uptime=time.monotonic() - self.started_at,
            python=present.python,
            root=present.root,
            nursery=0 if nursery is None else nursery.pid,
            nursery_version="" if nursery is None else nursery.version,
            trustee=keeper_state.trustee.pid,
            dozer=keeper_state.dozer.pid,
            painter=0 if keeper_state.painter is None else keeper_state.painter.pid,
            judge=0 if keeper_state.judge is None else keeper_state.judge.pid,
            host=keeper_state.host.pid,
            upgrading=self._upgrading.is_on,
            stalled=keeper_state.watched.everyone_stalled(),
            replaced=keeper_state.replaced.status(),
            sessions=len(keeper_state.vault.deposits),
            dozing=sum(kept.is_dozing for kept in keeper_state.vault.deposits.values()),
            given_up=keeper_state.given_up.status(),
            holders=keeper_state.holders(),
        )

    def _down(self) -> Facts:
        if self._upgrading.is_on:
            return refusal(
                "upgrade-failed",
                "an upgrade is under way",
                session="",
                why="an upgrade is under way",
            )
        self.is_closing = True
        for session in self._keeper_state.vault.deposits:
            for link in self._keeper_state.links_of(session):
                self._keeper_state.let_rest(link)
        return {"ok": True, "pid": os.getpid()}
