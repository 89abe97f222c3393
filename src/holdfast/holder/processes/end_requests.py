"""Ends the session on request; or because nobody uses it, unless somebody does.

Who reaps has looked at the session from outside, some time ago. Here it is decided, in
one step that nothing comes between: who attached, typed or printed before it keeps the
session, and who comes later finds it ended, or on disk. While an image is made, that
moment is when it is whole and about to take the session's place.
"""

import signal
import time

from holdfast.core.session.idle_sessions import has_job
from holdfast.holder.context import Context
from holdfast.holder.input.payloads import signal_of
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.observations import Observations
from holdfast.holder.links.porter_link import reap_event
from holdfast.holder.processes.leader import Leader
from holdfast.holder.processes.session_images import Reaping, SessionImages
from holdfast.holder.session import Session
from holdfast.linux import pty
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError, SessionInUse
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import End, Mode
from holdfast.wire.reaps import Reap

_KIND = FrameKind.REAP


class EndRequests:
    """Whether somebody may end one session, and how."""

    def __init__(
        self,
        context: Context,
        session: Session,
        requests: Requests,
        observations: Observations,
        leader: Leader,
        images: SessionImages,
    ) -> None:
        self._context = context
        self._session = session
        self._requests = requests
        self._observations = observations
        self._leader = leader
        self._images = images

    def take(self, connection: Connection, message: Message) -> bool:
        """Do what is asked; False if it is not about the session's end."""
        match message:
            case End():
                self._end(connection, message)
            case Reap():
                self._reap(connection, message)
            case _:
                return False
        return True

    def _end(self, connection: Connection, asked: End) -> None:
        number = asked.signal
        try:
            signal_of(str(number).encode())
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.END))
            return
        if self._requests.end(connection, number):
            self._leader.end(connection, number, leave=asked.leave)

    def _reap(self, connection: Connection, asked: Reap) -> None:
        """Reap it, if somebody asks who may, and nobody uses it."""
        actor = connection.operator.id
        rights = [Right.END, Right.CHECKPOINT] if asked.stop else [Right.END]
        try:
            for right in rights:
                self._requests.demand(actor, right)
        except HoldfastError as error:
            self._session.input_handler.refusals.declined(actor, _KIND, error)
            connection.send(refusal(error, _KIND))
            return
        looked_at = time.monotonic() - asked.quiet_ms / 1000
        if why := self._why_used(connection, looked_at):
            connection.send(refusal(SessionInUse(why), _KIND))
        elif asked.stop:
            reaping = Reaping(
                asked.why,
                asked.idle_ms,
                lambda: self._why_used(connection, looked_at),
            )
            self._images.reap(connection, reaping)
        else:
            self._end_unused(connection, asked)

    def _end_unused(self, connection: Connection, asked: Reap) -> None:
        actor, number = connection.operator.id, int(signal.SIGHUP)
        self._session.interventions.end(
            actor, number, why=asked.why, idle_ms=asked.idle_ms
        )
        self._leader.end(connection, number, leave=False)
        session = self._context.descriptors.session
        event = reap_event(session, actor, asked.why, asked.idle_ms)
        self._context.clients.announce(event)
        connection.send(event)

    def _why_used(self, asker: Connection, looked_at: float) -> str:
        """Return why the session is not to be reaped now; empty if it may be."""
        session, descriptors = self._session, self._context.descriptors
        intake, fence = session.driver.intake, session.fence
        attached = self._context.clients.attached()
        attention = self._context.attention
        reasons = {
            "it has ended": self._leader.exit is not None,
            "its command has not begun": bool(descriptors.start),
            "it is kept": descriptors.record.keep,
            "it is frozen": intake.is_frozen,
            "it is fenced": fence is not None and fence.is_on,
            "somebody is attached": any(
                one is not asker and one.mode is Mode.OPERATE for one in attached
            ),
            "somebody has the turn": intake.turn.holder is not None,
            "something waits for approval": bool(session.notifications.pending),
            "somebody has typed": attention.typed_at > looked_at,
            "it has printed something": attention.printed_at > looked_at,
        }
        for why, is_so in reasons.items():
            if is_so:
                return why
        return "a job runs in the foreground" if self._has_job() else ""

    def _has_job(self) -> bool:
        descriptors = self._context.descriptors
        group = pty.foreground(descriptors.master)
        word = self._observations.state().state
        return has_job(word, is_leader=group in {None, 0, descriptors.record.pid})
