"""The holder's link to the keeper: keeps what must outlive us deposited there.

When the keeper dies the session does not notice; but while there is no keeper, our own
death would end it. So the link is re-established at once, and a keeper is started if
nobody else has done so. A keeper that was told to stop first tells us to rest: then we
look for none until one connects to us.
"""

import contextlib
import errno
import os
import random
import time
from collections.abc import Callable  # noqa: TC003  # ditto
from socket import socket  # an annotation people read

from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.poll import Poll
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import packets, process_start
from holdfast.linux.stored import folders, session_names
from holdfast.model import holder_orders as orders
from holdfast.model.errors import HoldfastError, NotProven, SessionNotFound
from holdfast.model.events import EventName
from holdfast.model.keeper_messages import Seen
from holdfast.model.reap_words import DRAIN
from holdfast.version import __version__
from holdfast.wire import messages as wire

RETRY = 0.1
"""Seconds between attempts to find a keeper."""

START_EVERY = 10
"""Attempts between two starts of a keeper: about a second, which it needs at worst."""

CLAIM_PATIENCE = 20
"""Attempts after which a keeper is started in spite of others' claims."""

TIMEOUT = 5.0

DOZE_PATIENCE = 1.0
"""Seconds for the keeper to say whether the session may doze. Whatever it says after
that, we may end: all is settled."""

LEAVE_PATIENCE = 2.0
"""Seconds to wait for what is half done before we leave: a program that does not
read its input must not keep old code alive for ever."""


class KeeperLink:
    """Our side of the link."""

    def __init__(
        self,
        descriptors: SessionDescriptors,
        poll: Poll,
        timers: Timers,
        clients: AttachedClients,
    ) -> None:
        self.is_wanted = True
        """False once the session has been forgotten."""

        self.demand_change: Callable[[packets.Packet], None] | None = None
        """Raises the objection to a change that was requested from the keeper."""

        self.glance: Callable[[], Seen] = Seen
        """Says what the session does now."""

        self.leased: Callable[[orders.Lease], None] | None = None
        """Takes until when the session may speak, if it is movable."""

        self.leave_by: float | None = None
        """Until when to make room for another holder; None if we are to stay."""

        self._is_resting = descriptors.is_resting
        self._descriptors = descriptors
        self._clients = clients
        self._poll = poll
        self._timer = timers.add(self.tick)
        self._link: socket | None = None
        self._again_at: float | None = None
        self._exit: int | None = None
        self._claim: int | None = None
        self._attempts = 0

    def begin(self, token: str, exit_status: int | None) -> int | None:
        """Deposit for the first time; return how the leader ended, if that is known.

        The keeper may know what we were not told: it may have ended while we waited
        for our predecessor to leave. A keeper that has died since it had us made is
        looked for later: we hold everything the session needs, and must not die of
        its death.
        """
        self._exit = exit_status
        try:
            self.deposit(token)
        except OSError:
            self._seek(None if self._is_resting else time.monotonic())
        self._keep_name()
        return self._exit

    def deposit(self, token: str = "") -> None:
        """Give the keeper a copy of everything; `token` answers a creation."""
        link = packets.connect(folders.keeper_address(), TIMEOUT)
        self._descriptors.held = self._descriptors.held._replace(
            holder=os.getpid(), version=__version__, consents=True
        )
        packet: packets.Packet = {
            "do": "deposit",
            "id": self._descriptors.session,
            "facts": self._descriptors.facts(),
            "token": token,
            "exit": self._exit,
        }
        try:
            packets.send(link, packet, self._descriptors.fds())
            heard = packets.receive(link)
        except OSError:
            link.close()
            raise
        if heard is None or self._is_refused(heard[0]):
            link.close()
            raise ConnectionResetError("the keeper does not take it")
        self._obey(heard[0])  # It may say something before it answers.
        self._learn_exit(heard[0])
        link.settimeout(0)
        self._link, self._attempts = link, 0
        self._seek(None)
        self._is_resting = False
        self._drop_claim()
        self._poll.watch(link, self._heard)

    def _is_refused(self, answer: packets.Packet) -> bool:
        if answer.get("code") == SessionNotFound.code:
            self.is_wanted = False  # It was forgotten while we were on our way.
        return answer.get("ok") is False

    def _learn_exit(self, facts: packets.Packet) -> None:
        status = facts.get("exit")
        if self._exit is None and isinstance(status, int):
            self._exit = status

    def change(self, facts: packets.Packet) -> None:
        """Tell the keeper what has changed."""
        if facts.get("state") == "exited":
            # By the wall clock: the clean-up may run after a restart.
            ended_ms = self._descriptors.held.ended_ms or time.time_ns() // 1_000_000
            facts = {**facts, "ended_ms": ended_ms}
        self._descriptors.change(facts)
        # Kept here too: there may be no keeper at this moment.
        self._learn_exit(facts)
        if self._link is not None:
            packet = {"do": "facts", "id": self._descriptors.session, **facts}
            with contextlib.suppress(OSError):
                packets.send(self._link, packet)

    def doze(self, left: list[int], idle_ms: int) -> bool:
        """Ask whether the session may doze; True if we are to end now.

        Meanwhile nothing else is looked at, so that what was settled stays so.
        """
        link = self._link
        if link is None or self._is_resting or self.leave_by is not None:
            return False
        link.settimeout(DOZE_PATIENCE)
        try:
            packets.send(link, self._wish_to_doze(idle_ms), left)
            while (heard := packets.receive(link)) is not None:
                if heard[0].get("do") == "doze":
                    return heard[0].get("ok") is True
                self._obey(heard[0])
        except TimeoutError:
            return True
        except OSError:
            pass  # It is gone.
        finally:
            link.settimeout(0)
        self._lose(link)
        return False

    def _wish_to_doze(self, idle_ms: int) -> packets.Packet:
        now = self.glance()
        asked = {"do": "doze", "id": self._descriptors.session, "idle_ms": idle_ms}
        seen = {"doing": now.doing, "output_ms": now.output_ms, "offset": now.offset}
        return {**asked, **seen}

    def knocked(self) -> None:
        """Note that a peer connected: it may be a keeper that has just started."""
        if self._link is None:
            self._seek(time.monotonic())

    def may_leave(self, *, is_busy: bool) -> bool:
        """Tell whether a successor is to take the session up now."""
        if self.leave_by is None:
            return False
        return not is_busy or time.monotonic() >= self.leave_by

    def _seek(self, at: float | None) -> None:
        """Look for a keeper at this time; None while there is one."""
        self._again_at = at
        self._timer.set(at if self.leave_by is None else self.leave_by)

    def tick(self, now: float) -> None:
        """Look for a keeper, if it is time."""
        if self._again_at is None or now < self._again_at:
            return
        self._attempts += 1
        try:
            self.deposit()
        except OSError:
            if self._is_resting:
                self._seek(None)  # It was not the keeper.
                return
            if self._attempts % START_EVERY == 1:
                self._start_keeper()
            self._seek(now + RETRY * random.uniform(0.5, 1.5))  # noqa: S311  # jitter

    def _start_keeper(self) -> None:
        if self._claim is None:
            self._claim = process_start.claim_start()
        # The claimant may be frozen; a keeper too many ends by itself.
        if self._claim is not None or self._attempts > CLAIM_PATIENCE:
            process_start.start_keeper()

    def _drop_claim(self) -> None:
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def _heard(self) -> None:
        assert self._link is not None  # noqa: S101  # it is what was heard
        try:
            heard = packets.receive(self._link)
        except BlockingIOError:
            return
        if heard is not None:
            self._obey(heard[0])
        else:
            self._lose(self._link)

    def _lose(self, link: socket) -> None:
        self._poll.unwatch(link)
        link.close()
        self._link = None
        self._seek(None if self._is_resting else time.monotonic())

    def _obey(  # noqa: C901  # one case for each kind
        self, packet: packets.Packet
    ) -> None:
        match orders.order_from(packet):
            case orders.Forget():
                self.is_wanted = False
                self._keep_name()
            case orders.Rest():
                self._is_resting = True
            case orders.Leave():
                self.leave_by = time.monotonic() + LEAVE_PATIENCE
                self._seek(self._again_at)
            case orders.Prove():
                self._prove()
            case orders.Glance():
                now = self.glance()._replace(id=self._descriptors.session)
                self._say({"do": "seen", **now._asdict()})
            case orders.Consent() as asked:
                self._say_whether(asked)
            case orders.Replaced() as one:
                self._tell_replaced(one)
            case orders.Chosen() as chosen:
                self._descriptors.change(orders.packet_of(chosen))
                self._keep_name()
            case orders.Warned(reaps_ms, why):
                self._warned(reaps_ms, why)
            case orders.Lease() as lease:
                if self.leased is not None:
                    self.leased(lease)
            case None:
                pass  # The answer to something we said.

    def _warned(self, reaps_ms: int, why: str) -> None:
        """Tell that the session is going to be reaped, or is not any more."""
        fields: dict[str, str | int] = {}
        name = EventName.REAP_LIFTED
        if reaps_ms > 0 and why == DRAIN:
            name, fields = EventName.HOST_DRAINING, {"ends_ms": reaps_ms}
        elif reaps_ms > 0:
            name = EventName.REAP_WARNED
            fields = {"reaps_ms": reaps_ms, "why": wire.fitting(why, wire.MAX_TEXT)}
        self._clients.announce(wire.Event(name, self._descriptors.session, fields))

    def _tell_replaced(self, one: orders.Replaced) -> None:
        """Tell that one of our processes hung, and was replaced."""
        fields: dict[str, str | int] = {
            "what": wire.fitting(one.what, wire.MAX_TEXT),
            "pid": one.pid,
            "why": wire.fitting(one.why, wire.MAX_TEXT),
        }
        event = wire.Event(
            EventName.PROCESS_REPLACED, self._descriptors.session, fields
        )
        self._clients.announce_for_a_while(event)

    def _keep_name(self) -> None:
        """Keep the session findable by name while there is no keeper."""
        with contextlib.suppress(HoldfastError):  # The place has become unfit.
            if self.is_wanted:
                name = self._descriptors.record.name
                session_names.keep(self._descriptors.session, name)
            else:
                session_names.drop(self._descriptors.session)

    def _say_whether(self, wanted: orders.Consent) -> None:
        """Tell the keeper whether a request may be granted."""
        told: packets.Packet = {"do": "said", "ticket": wanted.ticket, "ok": True}
        try:
            if wanted.asked is None or self.demand_change is None:
                raise NotProven("")
            self.demand_change(wanted.asked)
        except HoldfastError as error:
            told |= {"ok": False, "code": error.code, "text": str(error)}
            told["facts"] = error.facts
        self._say(told)

    def want_porter(self, link: int) -> None:
        """Have a process made that puts the session to disk, at the end of this link.

        Raises:
            OSError: There is no keeper now.

        """
        if self._link is None:
            raise ConnectionResetError(errno.ENOTCONN, "there is no keeper now")
        asked: packets.Packet = {"do": "port", "id": self._descriptors.session}
        packets.send(self._link, asked, [link])

    def unbegun(self) -> None:
        """Release a session whose recovery was refused: it is as lost as before."""
        self._say({"do": "unbegun", "id": self._descriptors.session})
        self.is_wanted = False

    def _prove(self) -> None:
        """Prove to the keeper that our loop runs: the deposit came before it did."""
        self._say({"do": "proof", "id": self._descriptors.session})

    def _say(self, packet: packets.Packet) -> None:
        """Tell the keeper something, if it is there."""
        if self._link is not None:
            with contextlib.suppress(OSError):
                packets.send(self._link, packet)
