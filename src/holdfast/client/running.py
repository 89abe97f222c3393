"""One command in a session's shell, for programs that block until it is over.

Everything goes over one link: the question where the shell is, the line, what it
prints, and its end. A holder that dies meanwhile has a successor, which is sent
the same input again and answers from the logbook. What to send and when it is over,
`client.errand` decides.
"""

import contextlib
import time
from collections.abc import Callable

from holdfast.client.acting import our_pen
from holdfast.client.attaching import attach_on, messages, sign_off
from holdfast.client.commands import Ran, reports_on
from holdfast.client.connection import Connection
from holdfast.client.errand import Errand, Wish
from holdfast.client.signing import Pen
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import ClientId, SessionId
from holdfast.wire.codec import Message
from holdfast.wire.company import Presence
from holdfast.wire.messages import Pending

LOSS_PATIENCE = 10.0
"""Seconds without a holder after which there will be none."""

LETTING_GO = 1.0
"""Seconds for the holder to say that the turn was dropped."""


class Running:
    """One command that is typed, and waited for."""

    def __init__(
        self,
        session: str,
        client: ClientId,
        deadline: float,
        wish: Wish,
        held: Callable[[Pending], None] | None = None,
    ) -> None:
        self._session = SessionId(session)
        self._client = client
        self._deadline = deadline
        self._wish = wish
        self._held = held

    def run(self, line: bytes) -> Ran:
        """Type the line at the prompt, once, and wait for what is wished.

        Raises:
            Unavailable: The shell is not at its prompt.
            Unsettled: It was typed, and what came of it is not known.
            HoldfastError: It was refused, and why.

        """
        errand = Errand(
            self._client,
            self._session,
            line,
            self._wish,
            now=time.monotonic(),
            deadline=self._deadline,
        )
        if self._held is not None:
            errand.attachment.held = self._held
        give_up_at: float | None = None
        pen: Pen | None = None
        while True:
            try:
                with Connection.open(self._session) as link:
                    try:
                        _attach(errand, link)
                        give_up_at = None
                        # Loaded while the shell is at work.
                        pen = pen or our_pen(self._session)
                        return _follow(errand, link, pen)
                    finally:
                        if errand.is_typed or errand.ran is not None:
                            sign_off(link, errand.attachment, pen)
                        _let_go(errand, link)
            except SessionUnreachable:
                now = time.monotonic()
                give_up_at = give_up_at or now + LOSS_PATIENCE
                if now >= give_up_at or not errand.may_go_on(now):
                    raise


def _attach(errand: Errand, link: Connection) -> None:
    if clients := errand.asks_first:
        errand.reported(*reports_on(link, *clients))
    attached = attach_on(link, errand.attachment)
    _send(link, errand.attached(attached, time.monotonic()))


def _follow(errand: Errand, link: Connection, pen: Pen | None) -> Ran:
    while errand.ran is None:
        now = time.monotonic()
        signing = errand.attachment.signing
        if signing.wait(now) == 0 and (said := signing.sign(pen)) is not None:
            link.send(said)
        message = link.receive(max(0.0, errand.next_deadline(now) - now))
        now = time.monotonic()
        if message is not None:
            _send(link, errand.hear(message, now))
        if errand.ran is None:
            _send(link, errand.tick(now))
    return errand.ran


def _let_go(errand: Errand, link: Connection) -> None:
    last = errand.let_go()
    if not last:
        return
    with contextlib.suppress(HoldfastError):
        _send(link, last)
        for message in messages(link, time.monotonic() + LETTING_GO):
            if isinstance(message, Presence):
                return


def _send(link: Connection, what: list[Message]) -> None:
    for message in what:
        link.send(message)
