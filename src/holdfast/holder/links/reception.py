"""Lets clients in, passes on what each of them says, and sees them off."""

from collections.abc import Callable
from functools import partial

from holdfast.holder.context import Context
from holdfast.holder.input.payloads import signal_of
from holdfast.holder.input.requests import Requests
from holdfast.holder.links import door
from holdfast.holder.links.attachment import Attachment
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.glance import SessionGlance
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.links.observations import Observations
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.linux import descriptors, packets
from holdfast.model.errors import HoldfastError, UnexpectedMessage
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind


class Reception:
    """The door of one session."""

    def __init__(
        self,
        context: Context,
        session: Session,
        display: Display,
        leader: Leader,
        keeper: KeeperLink,
        state: Callable[[], str],
    ) -> None:
        """Open the door; `state` returns what the session is said to be doing."""
        self._name = context.vaulted.session
        self._session = session
        self._requests = requests = Requests(session)
        self._observations = Observations(
            context, session, requests, display.view, display.window, leader
        )
        self._attachment = Attachment(
            context, session, requests, display, leader, state
        )
        self._leader = leader
        keeper.demand_change = session.presence.demand_change
        keeper.glance = SessionGlance(
            context, session, display, self._observations
        ).seen
        self._keeper = keeper
        self._company = context.company
        self._poll = context.poll
        self.gone = context.company.gone
        """What was hung up on, and is to be seen off."""

        self._spare = descriptors.Spare()
        self._listener = context.vaulted.listener
        self._listener.settimeout(0)
        self._poll.watch(self._listener, self._accept)

    def see_off(self) -> None:
        """Close what was hung up on."""
        while self.gone:
            connection = self.gone.pop(0)
            self._company.connections.remove(connection)
            self._poll.unwatch(connection.link)
            connection.close()
            if connection.client is not None:
                self._session.presence.left(connection)

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
        self._company.connections.append(connection)
        self._company.make_room()
        self._poll.watch(link, partial(connection.receive, self._heard))

    def _heard(self, connection: Connection, message: Message) -> None:
        if isinstance(message, wire.Submit) and connection.client is not None:
            self._session.desk.submit(connection, message)
            return
        door.demand_manners(connection, message)
        match message:
            case wire.Hello():
                door.greet(connection, message)
            case wire.Identify():
                self._identify(connection, message)
            case wire.Ping(number):
                connection.send(wire.Pong(number))
            case wire.Attach():
                self._attachment.attach(connection, message)
            case wire.Detach():
                connection.hang_up()
            case _:
                self._act(connection, message)

    def _act(self, connection: Connection, message: Message) -> None:
        """Take what somebody says who is known."""
        if isinstance(message, wire.End):
            self._end(connection, message)
        elif not (
            self._observations.take(connection, message)
            or self._requests.take(connection, message)
        ):
            error = UnexpectedMessage(type(message).__name__, "it is not served")
            connection.send(refusal(error, FrameKind.GOODBYE))

    def _identify(self, connection: Connection, claim: wire.Identify) -> None:
        try:
            known = door.identify(connection, self._name, claim)
        except HoldfastError as error:
            connection.dismiss(refusal(error, FrameKind.IDENTIFY))
        else:
            connection.actor = known.actor
            self._session.presence.meet(known.actor, known.promised)

    def _end(self, connection: Connection, asked: wire.End) -> None:
        number = asked.signal
        try:
            signal_of(str(number).encode())
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.END))
            return
        if self._requests.end(connection, number):
            self._leader.end(connection, number, leave=asked.leave)
