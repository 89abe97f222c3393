"""Waiting for somebody's approval of the command that a session was made for.

The command is an input of ours that the session's holder made for us. Sent again under
its id it is answered like any other, when it has begun or was refused; and what waits
for an approval that nobody wants any more is withdrawn.
"""

from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.exchange import AttachedExchange
from holdfast.model.errors import ApprovalTimeout, SessionUnreachable
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import Message
from holdfast.wire.company import Who
from holdfast.wire.messages import Attached


class StartWait(AttachedExchange[bool]):
    """Waits until a session's command has begun."""

    def __init__(
        self, attachment: Attachment, text: bytes, timeout: float, now: float
    ) -> None:
        super().__init__(attachment)
        self._text = text
        self._timeout = timeout
        self._until = now + timeout

    def give_up(self, now: float) -> None:
        """Take that nobody wants it any more."""
        self._until = now

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Send it again, unless that was done already."""
        del attached, now
        if self.attachment.open:
            return []
        return [self.attachment.submit(InputKind.START, self._text)]

    def heard(self, news: News, now: float) -> list[Message]:
        """Take whether it has begun."""
        del now
        if news.answer is not None:
            if news.answer[1] is not None:
                raise news.answer[1]
            self.result = True
        return []

    def ticked(self, now: float) -> list[Message]:
        """Give up when the time is over."""
        if now >= self._until:
            raise ApprovalTimeout(round(self._timeout))
        return []

    def deadline(self, now: float) -> float:
        """Return when the time is over."""
        del now
        return self._until

    def cut(self, error: SessionUnreachable, now: float) -> None:
        """Ask the successor, while there is time."""
        if now >= self._until:
            raise error

    def last_acts(self) -> list[Message]:
        """Return how to take back what still waits."""
        withdrawn = self.attachment.withdraw(self._timeout)
        return [*withdrawn, Who()] if withdrawn else []
