"""What clients say, each message passed to the room that takes it."""

from holdfast.holder.input.payloads import signal_of
from holdfast.holder.input.requests import Requests
from holdfast.holder.links import door
from holdfast.holder.links.attachment import Attachment
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.observations import Observations
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.model.errors import HoldfastError, UnexpectedMessage
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind


class ClientMessages:
    """Takes what the clients of one session say."""

    def __init__(
        self,
        name: SessionId,
        session: Session,
        requests: Requests,
        observations: Observations,
        attachment: Attachment,
        leader: Leader,
    ) -> None:
        self._name = name
        self._session = session
        self._requests = requests
        self._observations = observations
        self._attachment = attachment
        self._leader = leader

    def heard(self, connection: Connection, message: Message) -> None:
        """Take a message of a client."""
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
