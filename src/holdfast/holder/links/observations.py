"""Answers what an observer may ask, attached or not."""

from typing import TypedDict

from holdfast.core.session.stream import StreamWindow
from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.connection import Connection
from holdfast.holder.output.attach_view import AttachView
from holdfast.holder.processes.leader import Leader
from holdfast.holder.processes.reports import reports_on
from holdfast.holder.provenance import blame
from holdfast.holder.session import Session
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError
from holdfast.wire.blame import BlameRequest
from holdfast.wire.codec import Message, refusal
from holdfast.wire.commands import CommandRequest
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import GraphRequest
from holdfast.wire.preflights import PreflightRequest
from holdfast.wire.screens import ScreenRequest

KINDS: dict[type[Message], FrameKind] = {
    ScreenRequest: FrameKind.SCREEN_REQUEST,
    StateRequest: FrameKind.STATE_REQUEST,
    GraphRequest: FrameKind.GRAPH_REQUEST,
    CommandRequest: FrameKind.COMMAND_REQUEST,
    BlameRequest: FrameKind.BLAME_REQUEST,
    PreflightRequest: FrameKind.PREFLIGHT_REQUEST,
}
"""What is answered here."""


class Standing(TypedDict):
    """What keeps a session from going on."""

    is_frozen: bool
    has_exited: bool
    fenced: str


class Observations:
    """What is told of one session to those who look at it."""

    def __init__(
        self,
        context: Context,
        session: Session,
        requests: Requests,
        view: AttachView,
        window: StreamWindow,
        leader: Leader,
    ) -> None:
        self._shell = context.shell
        self._session = session
        self._requests = requests
        self._view = view
        self._leader = leader
        self._report, self._preflight = reports_on(context, session, window, leader)

    def take(self, connection: Connection, asked: Message) -> bool:
        """Answer a question; False if it is none of these."""
        kind = KINDS.get(type(asked))
        if kind is None:
            return False
        actor = connection.operator.id
        try:
            self._requests.demand(actor, Right.OBSERVE)
        except HoldfastError as error:
            connection.send(refusal(error, kind))
            self._session.input_handler.refusals.declined(actor, kind, error)
            return True
        try:
            self._answer(connection, asked)
        except HoldfastError as error:
            connection.send(refusal(error, kind))
        return True

    def state(self) -> Evidence:
        """Return what the session does now."""
        return self._report.state(**self._standing())

    def _standing(self) -> Standing:
        fence = self._session.fence
        return {
            "is_frozen": self._session.driver.intake.is_frozen,
            "has_exited": self._leader.exit is not None,
            "fenced": "" if fence is None else fence.why,
        }

    def _answer(self, connection: Connection, asked: Message) -> None:
        match asked:
            case ScreenRequest():
                self._view.screen(connection, asked)
            case GraphRequest():
                self._report.ask_graph(connection, asked)
            case PreflightRequest():
                self._preflight.ask(connection)
            case StateRequest():
                self._report.tell_state(connection, **self._standing())
            case CommandRequest():
                connection.send(self._shell.report(asked))
            case BlameRequest(what=blame.LINE):
                line = self._shell.line
                connection.send(blame.line_report(line.stands(), line.owners()))
            case BlameRequest():
                connection.send(blame.report(asked, self._shell))
            case _:
                pass
