"""Until when is the answer to one input waited for?

The terminal has the caller's time to take it. An approval takes as long as people do,
and has a time of its own; what nobody has approved by then is taken back, so that it
does not happen when nobody expects it any more.
"""

from holdfast.client.attachment import APPROVAL_PATIENCE, WITHDRAWING, Attachment
from holdfast.wire.codec import Message

TAKING_PATIENCE = 1.0
"""Seconds for the terminal to take what was just approved, at the least."""


class Patience:
    """The clock of one input."""

    def __init__(self, deadline: float, approval: float = APPROVAL_PATIENCE) -> None:
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
        self.deadline = now + WITHDRAWING
        return attachment.withdraw(waited)
