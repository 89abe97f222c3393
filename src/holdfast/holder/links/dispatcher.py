"""Accepts clients, dispatches their messages, and closes their connections."""

from collections.abc import Callable
from functools import partial

from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links import authentication
from holdfast.holder.links.attachment import Attachment
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.glance import SessionGlance
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.links.observations import Observations
from holdfast.holder.output.display import Display
from holdfast.holder.processes.end_requests import EndRequests
from holdfast.holder.processes.leader import Leader
from holdfast.holder.processes.session_images import SessionImages
from holdfast.holder.session import Session
from holdfast.linux import descriptors, packets
from holdfast.model.errors import HoldfastError, UnexpectedMessage
from holdfast.wire import messages as wire
from holdfast.wire.checkpoints import CheckpointRequest
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind


class Dispatcher:
    """The dispatcher of one session's clients."""

    def __init__(
        self,
        context: Context,
        session: Session,
        display: Display,
        leader: Leader,
        keeper: KeeperLink,
        state: Callable[[], str],
    ) -> None:
        """Accept clients; `state` returns what the session is said to be doing."""
        self._name = context.descriptors.session
        self._session = session
        self._requests = requests = Requests(session)
        self._observations = Observations(
            context, session, requests, display.view, display.window, leader
        )
        self._attachment = Attachment(
            context, session, requests, display, leader, state
        )
        session.policy.previews.want_process = keeper.want_porter
        self._images = SessionImages(
            context, session, requests, display, leader, keeper
        )
        self._endings = EndRequests(
            context, session, requests, self._observations, leader, self._images
        )
        keeper.demand_change = session.presence.demand_change
        keeper.glance = SessionGlance(
            context, session, display, self._observations
        ).seen
        self._keeper = keeper
        self._clients = context.clients
        self._tally = context.tally
        self._poll = context.poll
        self.gone = context.clients.gone
        """What was hung up on, and is to be seen off."""

        self._spare = descriptors.Spare()
        self._listener = context.descriptors.listener
        self._listener.settimeout(0)
        self._poll.watch(self._listener, self._accept)

    def see_off(self) -> None:
        """Close what was hung up on."""
        while self.gone:
            connection = self.gone.pop(0)
            self._clients.connections.remove(connection)
            self._poll.unwatch(connection.link)
            connection.close()
            if connection.client is not None:
                self._session.presence.left(connection)
                kind = connection.operator.kind.value
                self._tally.count("holdfast_detaches_total", kind)

    def _accept(self) -> None:
        try:
            link, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            self._spare.hang_up(self._listener)  # No descriptor is left.
            return
        if not packets.is_ours(link):
            link.close()
            return
        self._keeper.knocked()
        connection = Connection(link, self._poll, self.gone)
        connection.skipped = self._skipped
        self._clients.connections.append(connection)
        self._clients.make_room()
        self._poll.watch(link, partial(connection.receive, self._heard))

    def _skipped(self, count: int) -> None:
        self._tally.count("holdfast_gap_bytes_total", "slow", amount=count)

    def _heard(self, connection: Connection, message: Message) -> None:
        if isinstance(message, wire.Submit) and connection.client is not None:
            self._session.input_handler.submit(connection, message)
            return
        authentication.demand_manners(connection, message)
        match message:
            case wire.Hello():
                authentication.greet(connection, message)
            case wire.Identify():
                self._identify(connection, message)
            case wire.Ping(number):
                connection.send(wire.Pong(number))
            case wire.Attach():
                self._attachment.attach(connection, message)
            case wire.Detach() | wire.Goodbye():
                connection.hang_up()
            case wire.Pong():
                pass  # It is there, as what it sends shows anyway.
            case _:
                self._act(connection, message)

    def _act(self, connection: Connection, message: Message) -> None:
        """Take a message of an authenticated client."""
        if isinstance(message, CheckpointRequest):
            self._images.ask(connection, message)
        elif not (
            self._endings.take(connection, message)
            or self._observations.take(connection, message)
            or self._requests.take(connection, message)
        ):
            error = UnexpectedMessage(type(message).__name__, "it is not served")
            if not isinstance(message, wire.Submit):
                raise error  # Only the session's side sends it: the link ends.
            given = message.to_input(connection.operator.id)
            connection.send(refusal(error, FrameKind.SUBMIT, given.id))

    def _identify(self, connection: Connection, claim: wire.Identify) -> None:
        try:
            known = authentication.identify(connection, self._name, claim)
        except HoldfastError as error:
            connection.dismiss(refusal(error, FrameKind.IDENTIFY))
        else:
            connection.actor = known.actor
            self._session.presence.meet(known.actor, known.promised)
