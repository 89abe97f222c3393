"""Attaches clients: what each is told of the session, and where its stream begins."""

import time
from collections.abc import Callable

from holdfast.core.session.stream import StreamWindow, plan_resume
from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import NOBODY
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError
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
        self._vaulted = context.vaulted
        self._company = context.company
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
        same = asked.incarnation in (None, self._vaulted.incarnation)
        try:
            self._requests.demand(actor.id, Right.OBSERVE)
            if connection.client is None:
                self._company.demand_room(actor)
            plan = plan_resume(window, asked.after if same else None, None)
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.ATTACH))
            self._session.desk.refusals.declined(actor.id, FrameKind.ATTACH, error)
            return
        connection.client, connection.mode = asked.client, asked.mode
        connection.attached_at = time.monotonic()
        self._session.presence.came(connection)
        connection.send(self._attached(window))
        self._session.presence.brief(connection)
        if self._leader.exit is not None:
            connection.end_with(wire.Exited(self._leader.exit))
        self._display.view.begin(connection, plan, asked)

    def _attached(self, window: StreamWindow) -> wire.Attached:
        turn, size = self._session.driver.intake.turn, self._display.size
        return wire.Attached(
            session=self._vaulted.session,
            name=self._vaulted.record.name,
            incarnation=self._vaulted.incarnation,
            epoch=turn.epoch,
            holder=turn.holder or NOBODY,
            start=window.start,
            end=window.end,
            state=self._state(),
            size=wire.Cells(size.columns, size.rows),
            operators=self._company.operators(),
        )
