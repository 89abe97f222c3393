"""Attaches clients: what each is told of the session, and where its stream starts."""

import time
from collections.abc import Callable

from holdfast.core.session.stream import Resume, StreamWindow, plan_resume
from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import NOBODY
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError, SessionNotFound
from holdfast.model.events import EventName
from holdfast.wire import messages as wire
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind


class Attachment:
    """How clients attach to one session."""

    def __init__(
        self,
        context: Context,
        session: Session,
        requests: Requests,
        display: Display,
        leader: Leader,
        state: Callable[[], str],
    ) -> None:
        """Attach clients; `state` returns what the session is said to be doing."""
        self._descriptors = context.descriptors
        self._clients = context.clients
        self._tally = context.tally
        self._session = session
        self._requests = requests
        self._display = display
        self._leader = leader
        self._state = state

    def attach(self, connection: Connection, asked: wire.Attach) -> None:
        """Attach a client, or tell it why not."""
        window, actor = self._display.window, connection.operator
        if connection.client == asked.client:
            # It is here, and shows the session in another way: nobody has come.
            self._display.view.again(connection)
            return
        # Who names no life means the present one.
        same = asked.incarnation in (None, self._descriptors.incarnation)
        try:
            self._requests.demand(actor.id, Right.OBSERVE)
            if asked.session != self._descriptors.session:
                raise SessionNotFound(asked.session)
            if connection.client is None:
                self._clients.demand_room(actor)
            plan = plan_resume(window, asked.after if same else None)
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.ATTACH))
            self._session.input_handler.refusals.declined(
                actor.id, FrameKind.ATTACH, error
            )
            return
        connection.client, connection.mode = asked.client, asked.mode
        connection.attached_at = time.monotonic()
        self._session.presence.came(connection)
        self._count(connection, asked, plan, is_same=same)
        connection.send(self._attached(window))
        if not same:
            connection.send(self._next_life())
        self._session.presence.brief(connection)
        if self._leader.exit is not None:
            connection.end_with(wire.Exited(self._leader.exit))
        self._display.view.begin(connection, plan, asked)

    def _count(
        self, connection: Connection, asked: wire.Attach, plan: Resume, *, is_same: bool
    ) -> None:
        """Count who has come, and what it found of what was printed meanwhile."""
        counts = self._tally.counts
        counts.add("holdfast_attaches_total", connection.operator.kind.value)
        if asked.after is not None:
            lineage = "unchanged" if is_same else "changed"
            counts.add("holdfast_reattaches_total", lineage)
            if is_same:
                kept = self._display.window.end - plan.at
                counts.add("holdfast_resumed_bytes_total", amount=kept)
            counts.add("holdfast_gap_bytes_total", "reattach", amount=plan.gap)
        self._tally.keep()

    def _next_life(self) -> wire.Event:
        """Return what is told to a client that saw another life of the session."""
        name = EventName.SESSION_RESTORED
        if self._descriptors.record.recovered_ms:
            name = EventName.SESSION_RECOVERED
        fields: dict[str, str | int] = {"incarnation": self._descriptors.incarnation}
        return wire.Event(name, self._descriptors.session, fields)

    def _attached(self, window: StreamWindow) -> wire.Attached:
        turn, size = self._session.driver.intake.turn, self._display.size
        return wire.Attached(
            session=self._descriptors.session,
            name=self._descriptors.record.name,
            incarnation=self._descriptors.incarnation,
            epoch=turn.epoch,
            holder=turn.holder or NOBODY,
            start=window.start,
            end=window.end,
            state=self._state(),
            size=wire.Cells(size.columns, size.rows),
            operators=self._clients.operators(),
        )
