"""A session whose command waits for approval."""

import contextlib
import time
from collections.abc import Callable
from typing import NamedTuple

from holdfast.client import session_location
from holdfast.client.driver import attachment_to, converse
from holdfast.core.client.start_wait import StartWait
from holdfast.model.errors import HoldfastError, MalformedMessage
from holdfast.model.ids import ClientId, SessionId, parse_client_id, parse_session_id
from holdfast.model.session_requests import Created
from holdfast.wire.messages import Pending

STATE = "starting"
"""The state of a session whose command has not begun."""

Held = Callable[[Pending], None]


class Waiting(NamedTuple):
    """A session whose command has not begun, and what it is known by."""

    session: SessionId
    client: ClientId
    text: bytes


def waiting_in(made: Created) -> Waiting | None:
    """Return what waits, by the answer to a creation; None if it has begun.

    Raises:
        PeerError: The answer makes no sense.

    """
    if made.state != STATE:
        return None
    if made.start is None:
        raise MalformedMessage("answer to a creation", "it does not say what waits")
    return Waiting(
        parse_session_id(made.id),
        parse_client_id(made.start.client),
        made.start.text.encode(),
    )


def await_start(waits: Waiting, host: str, timeout: float, held: Held) -> None:
    """Wait until the command has begun; `held` is called when approval is needed.

    When `timeout` seconds are over, it is withdrawn.

    Raises:
        Forbidden: It was refused, and why; the session is over.
        Unavailable: Nobody answered in time; it is withdrawn.

    """
    if host:
        session_location.settle(waits.session, host)
    attachment = attachment_to(waits.session, client=waits.client)
    attachment.held = held
    start = StartWait(attachment, waits.text, timeout, time.monotonic())
    converse(waits.session, start)


def withdraw(waits: Waiting, host: str) -> None:
    """Take a command back that nobody wants any more, if it still waits.

    An interruption here is no error: then it stays pending.
    """
    with contextlib.suppress(HoldfastError):
        await_start(waits, host, 0, lambda _: None)
