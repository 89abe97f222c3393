"""Drives an exchange with a session on links that block."""

import contextlib
import math
import os
import time
from typing import TypeVar

from holdfast.client import session_location
from holdfast.client.connection import Connection
from holdfast.client.current_operator import our_pen, ourselves
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.exchange import AttachedInquiry, Exchange, Inquiry
from holdfast.core.client.farewell import Farewell
from holdfast.core.client.questions import SessionQuestion
from holdfast.core.client.signing import SECRET, Pen
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import ENTROPY, ActorId, ClientId, SessionId, client_id
from holdfast.wire.messages import Mode

STEP = 0.01
"""Seconds between two links."""

Result = TypeVar("Result")


def new_client() -> ClientId:
    """Return a client that did not exist before."""
    return client_id(os.urandom(ENTROPY))


def attachment_to(
    session: str, mode: Mode = Mode.OPERATE, client: ClientId | None = None
) -> Attachment:
    """Return a view of a session by a client; by one that did not exist before."""
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
    """Carry an exchange through, on one link after another.

    Raises:
        HoldfastError: What the exchange ends with.

    """
    exchange.slowness = session_location.patience_for(session, 1.0)
    while True:
        patience = exchange.dials(time.monotonic())
        try:
            with Connection.open(SessionId(session), patience=patience) as link:
                return _carry(session, exchange, link)
        except SessionUnreachable as error:
            exchange.cut(error, time.monotonic())
        time.sleep(STEP)


def _carry(session: str, exchange: Exchange[Result], link: Connection) -> Result:
    try:
        link.send(*exchange.linked(time.monotonic()))
        while (result := exchange.result) is None:
            if exchange.wants_pen():  # Loaded while the holder works.
                exchange.take_pen(our_pen(session))
            now = time.monotonic()
            due = exchange.next_deadline(now)
            message = link.receive(None if due == math.inf else max(0.0, due - now))
            now = time.monotonic()
            if message is not None:
                link.send(*exchange.hear(message, now))
            if exchange.result is None:
                link.send(*exchange.tick(now))
        return result
    finally:
        farewell = exchange.leave(time.monotonic())
        if farewell is not None:
            _leave(link, farewell)


def leave(link: Connection, attachment: Attachment, pen: Pen | None) -> None:
    """Sign what we have sent and not signed, before a link is closed."""
    slowness = session_location.patience_for(attachment.session, 1.0)
    _leave(link, Farewell(attachment, pen, list, time.monotonic(), slowness))


def _leave(link: Connection, farewell: Farewell) -> None:
    """Do what is left to do; what fails here is no error."""
    with contextlib.suppress(HoldfastError):
        link.send(*farewell.begin(time.monotonic()))
        while not farewell.is_over:
            message = link.receive(max(0.0, farewell.deadline - time.monotonic()))
            now = time.monotonic()
            if message is not None:
                link.send(*farewell.hear(message, now))
            link.send(*farewell.tick(now))
