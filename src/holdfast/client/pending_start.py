"""What becomes of a session whose command waits for somebody's approval?

The command is an input of ours that the session's holder made for us. Sent again
under its id it is answered like any other, when it has begun or was refused; and
what waits for an approval that we no longer want is withdrawn.
"""

import contextlib
import time
from collections.abc import Callable
from typing import NamedTuple

from holdfast.client import session_location
from holdfast.client.attached_link import attach, messages
from holdfast.client.connection import Connection
from holdfast.client.driver import attachment_to
from holdfast.core.client.attachment import Attachment
from holdfast.model.errors import (
    ApprovalTimeout,
    HoldfastError,
    MalformedMessage,
    SessionUnreachable,
)
from holdfast.model.ids import ClientId, SessionId, parse_client_id, parse_session_id
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import Deny, Pending

STATE = "starting"
"""The state of a session whose command has not begun."""

LAST_WORD = 1.0
"""Seconds in which a withdrawal is taken."""

Held = Callable[[Pending], None]


class Waiting(NamedTuple):
    """A session whose command has not begun, and what it is known by."""

    session: SessionId
    client: ClientId
    text: bytes


def waiting_in(answer: dict[str, object]) -> Waiting | None:
    """Return what waits, by the answer to a creation; None if it has begun.

    Raises:
        PeerError: The answer makes no sense.

    """
    start = answer.get("start")
    if answer.get("state") != STATE:
        return None
    if not isinstance(start, dict):
        raise MalformedMessage("answer to a creation", "it does not say what waits")
    return Waiting(
        parse_session_id(str(answer.get("id"))),
        parse_client_id(str(start.get("client"))),
        str(start.get("text")).encode(),
    )


def await_start(waits: Waiting, host: str, timeout: float, held: Held) -> None:
    """Wait until the command has begun; `held` is called when somebody is asked.

    Interrupted, or when `timeout` seconds are over, it is withdrawn.

    Raises:
        Forbidden: It was refused, and why; the session is over.
        Unavailable: Nobody answered in time; it is withdrawn.

    """
    if host:
        session_location.settle(waits.session, host)
    attachment = attachment_to(waits.session, client=waits.client)
    attachment.held = held
    deadline = time.monotonic() + timeout
    while True:
        try:
            link, _ = attach(attachment)
            with link:
                if _has_begun(attachment, link, waits.text, deadline):
                    return
                raise ApprovalTimeout(round(timeout))
        except SessionUnreachable:
            if time.monotonic() >= deadline:
                raise


def _has_begun(
    attachment: Attachment, link: Connection, text: bytes, deadline: float
) -> bool:
    has_begun = False
    try:
        if not attachment.open:  # Else it was sent again with the attach.
            link.send(attachment.submit(InputKind.START, text))
        has_begun = _is_answered(attachment, link, deadline)
    finally:
        if not has_begun:
            _withdraw(attachment, link)
    return has_begun


def _is_answered(attachment: Attachment, link: Connection, deadline: float) -> bool:
    for message in messages(link, deadline):
        attachment.heard(message)
        answer = attachment.answered(message)
        if answer is not None:
            if answer[1] is not None:
                raise answer[1]
            return True
    return False


def _withdraw(attachment: Attachment, link: Connection) -> None:
    if not attachment.open:
        return
    with contextlib.suppress(HoldfastError):
        if attachment.pending is None:
            _hear_of_it(attachment, link)
        waits = attachment.pending
        if waits is not None:
            link.send(Deny(waits.ticket, waits.digest))
            _is_answered(attachment, link, time.monotonic() + LAST_WORD)


def _hear_of_it(attachment: Attachment, link: Connection) -> None:
    """Wait until we hear that it waits: we may have given up before."""
    for message in messages(link, time.monotonic() + LAST_WORD):
        attachment.heard(message)
        if attachment.pending is not None or attachment.answered(message):
            return
