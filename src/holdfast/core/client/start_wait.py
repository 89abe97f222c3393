"""Waiting for approval of the command that a session was made for.

The command is an input that the session's holder made for this client. Sent again under
its id it is answered like any other, when it has begun or was refused.

What nobody wants any more is withdrawn before we leave: else it would wait for ever.
For that the holder must have told us that it waits, and we wait for that a little.
"""

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.exchange import AttachedExchange
from holdfast.core.client.time_limit import TimeLimit
from holdfast.model.errors import ApprovalTimeout, SessionUnreachable
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import Message
from holdfast.wire.messages import Attached
from holdfast.wire.presence import Who


class StartWait(AttachedExchange[bool]):
    """Waits until a session's command has begun."""

    def __init__(
        self, attachment: Attachment, text: bytes, timeout: float, now: float
    ) -> None:
        super().__init__(attachment)
        self._text = text
        self._timeout = timeout
        self.time_limit = TimeLimit(
            now + timeout, lambda: ApprovalTimeout(round(timeout))
        )
        self._leave_by: float | None = None
        """When we leave, withdrawn or not, once nobody wants it."""

        self._is_withdrawn = False

    def give_up(self, now: float) -> None:
        """Note that nobody wants it any more."""
        self.time_limit.until = now

    def cut(self, error: SessionUnreachable, now: float) -> None:
        """Note that the link broke: what is not withdrawn yet is, on another."""
        if self._leave_by is None or now >= self._leave_by:
            super().cut(error, now)

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Send it again, unless that was done already."""
        del attached, now
        # The session's next holder asks again, and says so.
        self.attachment.pending, self._is_withdrawn = None, False
        if self.attachment.open:
            return []
        return [self.attachment.submit(InputKind.START, self._text)]

    def heard(self, news: News, now: float) -> list[Message]:
        """Note whether it has begun."""
        del now
        if news.answer is not None:
            if news.answer[1] is not None:
                raise news.answer[1]
            self.result = True
        return [] if self._leave_by is None else self._withdraw()

    def ticked(self, now: float) -> list[Message]:
        """Withdraw it when the time is up."""
        if now < self.time_limit.until:
            return []
        if self._leave_by is None:
            self._leave_by = now + timeouts.WITHDRAWAL * self.slowness
        if now >= self._leave_by:
            self.time_limit.demand(now)
        return self._withdraw()

    def deadline(self, now: float) -> float:
        """Return when to call `ticked`."""
        return super().deadline(now) if self._leave_by is None else self._leave_by

    def last_acts(self) -> list[Message]:
        """Return how to take back what still waits."""
        withdrawn = self._withdraw()
        return [*withdrawn, Who()] if withdrawn else []

    def _withdraw(self) -> list[Message]:
        if self._is_withdrawn:
            return []
        sent = self.attachment.withdraw(self._timeout)
        self._is_withdrawn = bool(sent)
        return sent
