"""Splits a text into inputs, and sends them until the terminal has taken all.

The terminal has the caller's time to take each. An approval takes as long as people do,
and has a time of its own; what nobody has approved by then is taken back, so that it
does not happen when nobody expects it any more.
"""

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.exchange import AttachedExchange
from holdfast.model import errors
from holdfast.model.inputs import MAX_INPUT, InputKind
from holdfast.wire.codec import Message
from holdfast.wire.messages import Attached

TAKING_PATIENCE = 1.0
"""Seconds for the terminal to take what was just approved, at the least."""


MAX_TRIES = 4
"""Times that an input is submitted while our own doings move the turn."""


class Patience:
    """Until when the answer to one input is waited for."""

    def __init__(self, deadline: float, approval: float = timeouts.APPROVAL) -> None:
        self.deadline = deadline
        """When to stop waiting."""

        self._approval = approval
        self._held_at: float | None = None
        self._is_withdrawn = False

    def look(self, attachment: Attachment, now: float) -> list[Message]:
        """Wait on while an approval may come; return how to take back what got none."""
        if attachment.pending is None:
            return []
        if self._held_at is None:
            self._held_at = now
        waited = now - self._held_at
        if waited < self._approval:
            self.deadline = max(self.deadline, now + TAKING_PATIENCE)
            return []
        if self._is_withdrawn:
            return []
        self._is_withdrawn = True
        self.deadline = now + timeouts.WITHDRAWAL
        return attachment.withdraw(waited)


class Submission(AttachedExchange[int]):
    """Inputs made of one payload; the result is the stream's end just before them.

    Everything they cause is printed from there on.
    """

    def __init__(
        self,
        attachment: Attachment,
        kind: InputKind,
        payload: bytes,
        timeout: float,
        approval: float = timeouts.APPROVAL,
    ) -> None:
        super().__init__(attachment)
        self._kind = kind
        self._left = [
            payload[start : start + MAX_INPUT]
            for start in range(0, len(payload), MAX_INPUT)
        ]
        self._timeout = timeout
        self._approval = approval
        self._begun_at: int | None = None
        self._sequence = 0
        self._epoch = attachment.epoch
        self._tries = MAX_TRIES
        self._patience = Patience(0.0)
        self._again_at = 0.0

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Send the first input; on a later link it was sent again already."""
        if self._begun_at is not None:
            return []
        self._begun_at = attached.end
        return self._next(now)

    def heard(self, news: News, now: float) -> list[Message]:
        """Take the answer to an input, and send the next."""
        if news.answer is None or news.answer[0] != self._sequence:
            return []
        error = news.answer[1]
        if error is None:
            del self._left[0]
            self._tries = MAX_TRIES
            return self._next(now)
        self._tries -= 1
        if self._tries == 0 or not self._is_own_doing(error):
            raise error
        return self._next(now)

    def ticked(self, now: float) -> list[Message]:
        """Wait on, send again what there was no room for, or give up."""
        sent = self._patience.look(self.attachment, now)
        if now >= self._patience.deadline:
            waits = self.attachment.pending
            if waits is not None:
                raise errors.ApprovalPending(waits.ticket, waits.rule)
            raise self._unknown()
        if self.attachment.is_stalled and now >= self._again_at:
            self._again_at = now + timeouts.RETRY
            sent += self.attachment.open
        return sent

    def deadline(self, now: float) -> float:
        """Return when to look again: an approval is noticed by looking."""
        return min(self._patience.deadline, now + timeouts.RETRY)

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Send the same to the successor, while there is time."""
        if not self._sequence:
            raise error
        if now >= self._patience.deadline:
            raise self._unknown() from None

    def dials(self, now: float) -> float:
        """Return how long a link may take; not much once something was sent."""
        if not self._sequence:
            return timeouts.GREETING
        left = self._patience.deadline - now
        return max(timeouts.RETRY, min(timeouts.GREETING, left))

    def lost(self, error: errors.HoldfastError) -> errors.HoldfastError:
        """Return that nobody knows what became of what was sent."""
        if not self._sequence:
            return error
        unknown = self._unknown()
        unknown.__cause__ = error
        return unknown

    def _is_own_doing(self, error: errors.HoldfastError) -> bool:
        """Tell whether it was refused for no more than what we did ourselves."""
        if isinstance(error, errors.InputGap):
            return True  # One before it was refused and not counted: now this one is.
        has_moved = isinstance(error, errors.StaleEpoch | errors.NotYourTurn)
        return has_moved and self.attachment.is_own_doing(self._epoch)

    def _next(self, now: float) -> list[Message]:
        if not self._left:
            self.result = self._begun_at
            return []
        self._patience = Patience(now + self._timeout, self._approval)
        self._epoch = self.attachment.epoch
        made = self.attachment.submit(self._kind, self._left[0])
        self._sequence = made.sequence
        return [made]

    def _unknown(self) -> errors.OutcomeUnknown:
        return errors.OutcomeUnknown(self.attachment.client, self._sequence)
