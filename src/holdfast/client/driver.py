"""Performs the steps of a conversation on blocking links."""

import math
import os
import time
from typing import TypeVar

from holdfast.client import early_session, session_location
from holdfast.client.connection import Connection
from holdfast.client.current_operator import our_pen, ourselves
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.conversation import (
    Dial,
    HangUp,
    LoadPen,
    Pause,
    Receive,
    Send,
    Step,
    conversation,
)
from holdfast.core.client.exchange import AttachedInquiry, Exchange, Inquiry
from holdfast.core.client.questions import SessionQuestion
from holdfast.core.client.signing import SECRET
from holdfast.model.errors import HoldfastError, SessionLeft, SessionUnreachable
from holdfast.model.ids import ENTROPY, ActorId, ClientId, SessionId, client_id
from holdfast.wire.messages import Mode

Result = TypeVar("Result")


def new_client() -> ClientId:
    """Return a client that did not exist before."""
    return client_id(os.urandom(ENTROPY))


def attachment_to(
    session: str, mode: Mode = Mode.OPERATE, client: ClientId | None = None
) -> Attachment:
    """Return a view of a session by a client; by one that did not exist before."""
    early = None if client else early_session.begun(session)
    if early is not None and (ids := early.take_ids()) is not None:
        return Attachment(SessionId(session), *ids, mode)
    secret = os.urandom(SECRET)
    return Attachment(SessionId(session), client or new_client(), secret, mode)


def actor_in(session: str) -> ActorId:
    """Return who we are to a session."""
    return session_location.actor_at(session, ourselves().actor.id)


def ask(session: str, question: SessionQuestion[Result]) -> Result:
    """Ask a session's holder, and its successor if it dies: asking changes nothing.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        HoldfastError: It refused, and why.

    """
    return converse(session, Inquiry(question, time.monotonic()))


def ask_attached(session: str, question: SessionQuestion[Result]) -> Result:
    """Ask something about the turn, while attached.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        HoldfastError: It refused, and why.

    """
    attachment = attachment_to(session)
    return converse(session, AttachedInquiry(attachment, question, time.monotonic()))


def converse(session: str, exchange: Exchange[Result]) -> Result:
    """Carry an exchange through.

    Raises:
        HoldfastError: What the exchange ends with.

    """
    return Driver(session).run(exchange)


class Driver:
    """One session's side of the steps; `link` is the link that stands."""

    def __init__(self, session: str) -> None:
        self.link: Connection
        self._session = SessionId(session)

    def run(self, exchange: Exchange[Result]) -> Result:
        """Do every step, and return the result.

        Raises:
            HoldfastError: What the exchange ends with.

        """
        exchange.slowness = session_location.patience_for(self._session, 1.0)
        steps = conversation(exchange, time.monotonic)
        try:
            step = next(steps)
            while True:
                try:
                    came = self.do(step)
                except BaseException as error:  # noqa: BLE001  # it is raised again
                    step = steps.throw(self._followed(error, step, exchange))
                else:
                    step = steps.send(came)
        except StopIteration as end:
            result: Result = end.value
            return result

    def _followed(
        self, error: BaseException, step: Step, exchange: Exchange[Result]
    ) -> BaseException:
        """Return what went wrong; if the session has moved, go where it went."""
        session = self._session
        if isinstance(error, SessionLeft):
            try:
                session_location.follow(session, error.word)
            except HoldfastError as refused:
                return refused
        elif isinstance(step, Dial) and isinstance(error, SessionUnreachable):
            session_location.try_other(session)
        exchange.slowness = session_location.patience_for(session, 1.0)
        return error

    def do(self, step: Step) -> object:
        """Do one step, and return what came of it.

        Raises:
            Unavailable: The link broke, or there is none.
            HoldfastError: What was said on it.

        """
        match step:
            case Dial(within):
                self.link = Connection.open(self._session, patience=within)
            case Send(messages):
                self.link.send(*messages)
            case Receive(until):
                left = None if until == math.inf else until - time.monotonic()
                return self.link.receive(left and max(0.0, left))
            case LoadPen():
                return our_pen(self._session)
            case Pause(seconds):
                time.sleep(seconds)
            case HangUp():
                self.link.close()
        return None
