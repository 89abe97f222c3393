"""A link on which a session's stream comes, for programs that stay on it."""

import time
from collections.abc import Iterator

from holdfast.client.connection import Connection
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.entrance import Entrance
from holdfast.core.client.timeouts import GREETING
from holdfast.model.errors import SessionUnreachable
from holdfast.wire.codec import Message
from holdfast.wire.messages import Attached, Cells


def attach(
    attachment: Attachment,
    size: Cells | None = None,
    *,
    keyframe: bool = False,
    patience: float = GREETING,
) -> tuple[Connection, Attached]:
    """Open a link, attach on it and send again what has no answer yet.

    Raises:
        Unavailable: The holder did not answer within `patience` seconds.
        HoldfastError: It refused, and why.

    """
    link = Connection.open(attachment.session, patience=patience)
    try:
        entrance = Entrance(attachment, size, keyframe=keyframe)
        link.send(entrance.message())
        attached = _attached(entrance, link, time.monotonic() + patience)
        link.put_back(entrance.early)
        link.send(*attachment.resume())
    except BaseException:
        link.close()
        raise
    if attached is None:
        link.close()
        raise SessionUnreachable(attachment.session, "it does not let us attach")
    return link, attached


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
