"""A link on which a session's stream comes, for tests that stay on it."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from holdfast.client import session_location
from holdfast.client.connection import Connection
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.entrance import Entrance
from holdfast.core.client.farewell import Farewell
from holdfast.core.client.signing import Pen
from holdfast.core.client.timeouts import GREETING
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.wire.codec import Message
from holdfast.wire.messages import Attached, Cells


class Follower(Connection):
    """A link that also returns what came before ATTACHED."""

    def __init__(self, *given: Any) -> None:  # noqa: ANN401  # as a Connection is
        super().__init__(*given)
        self.early: list[Message] = []

    def receive(self, timeout: float | None = None) -> Message | None:
        return self.early.pop(0) if self.early else super().receive(timeout)


def attach(
    attachment: Attachment,
    size: Cells | None = None,
    *,
    keyframe: bool = False,
    patience: float = GREETING,
) -> tuple[Follower, Attached]:
    """Open a link, attach on it and send again what has no answer yet.

    Raises:
        Unavailable: The holder did not answer within `patience` seconds.
        HoldfastError: It refused, and why.

    """
    patience = session_location.patience_for(attachment.session, patience)
    link = _opened(attachment.session, time.monotonic() + patience)
    try:
        entrance = Entrance(attachment, size, keyframe=keyframe)
        link.send(entrance.message())
        attached = _attached(entrance, link, time.monotonic() + patience)
        link.early += entrance.early
        link.send(*attachment.resume())
    except BaseException:
        link.close()
        raise
    if attached is None:
        link.close()
        raise SessionUnreachable(attachment.session, "it does not let us attach")
    return link, attached


def _opened(session: SessionId, deadline: float) -> Follower:
    while True:
        left = max(0.01, deadline - time.monotonic())
        try:
            return Follower.open(session, patience=left)
        except SessionUnreachable:
            if time.monotonic() >= deadline:
                raise


def leave(link: Connection, attachment: Attachment, pen: Pen | None) -> None:
    """Sign what we have sent and not signed, before a link is closed."""
    farewell = Farewell(attachment, pen, list, time.monotonic())
    with contextlib.suppress(HoldfastError):
        link.send(*farewell.begin(time.monotonic()))
        while not farewell.is_over:
            message = link.receive(max(0.0, farewell.deadline - time.monotonic()))
            if message is not None:
                link.send(*farewell.hear(message, time.monotonic()))
            link.send(*farewell.tick(time.monotonic()))


def _attached(entrance: Entrance, link: Connection, deadline: float) -> Attached | None:
    for message in messages(link, deadline):
        attached = entrance.hear(message)
        if attached is not None:
            return attached
    return None


def messages(link: Connection, deadline: float | None) -> Iterator[Message]:
    """Return what comes, one by one, until `deadline`.

    Raises:
        Unavailable: The holder is gone.

    """
    while True:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return
        message = link.receive(left)
        if message is None:
            return
        yield message
