"""Closing a link: last answers, last signatures, last requests.

What fails here is no error. The book says what is not signed.
"""

import enum
from collections.abc import Callable

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.signing import Pen
from holdfast.wire.codec import Message
from holdfast.wire.messages import Drop, Inquire
from holdfast.wire.presence import Presence, Who


def drop_turn(attachment: Attachment, *, was_free: bool | None) -> list[Message]:
    """Return how to drop a turn that typing took: the next may be another's."""
    if was_free and attachment.holder == attachment.us:
        return [Drop(), Who()]
    return []


class _Phase(enum.Enum):
    ANSWERS = enum.auto()  # only what is in the book can be signed
    SIGNATURE = enum.auto()
    ACTS = enum.auto()
    OVER = enum.auto()


class Farewell:
    """The last messages on a link."""

    def __init__(
        self,
        attachment: Attachment,
        pen: Pen | None,
        acts: Callable[[], list[Message]],
        now: float,
        slowness: float = 1.0,
    ) -> None:
        self._attachment = attachment
        self._pen = pen
        self._acts = acts
        self._slowness = slowness
        self._phase = _Phase.ANSWERS
        self.deadline = now + timeouts.LAST_ANSWERS * slowness
        """When to call `tick`."""

    @property
    def is_over(self) -> bool:
        """Whether the link can be closed."""
        return self._phase is _Phase.OVER

    def begin(self, now: float) -> list[Message]:
        """Return what to send first."""
        if not self._attachment.open:
            return self._sign(now)
        last = self._attachment.open[-1]
        # An answer need not wait for the next key.
        return [Inquire(last.client, last.sequence)]

    def hear(self, message: Message, now: float) -> list[Message]:
        """Take what came."""
        self._attachment.heard(message)
        self._attachment.answered(message)
        match self._phase:
            case _Phase.ANSWERS if not self._attachment.open:
                return self._sign(now)
            case _Phase.SIGNATURE if not self._attachment.signing.is_awaited:
                return self._sign_more(now)
            case _Phase.ACTS if isinstance(message, Presence):
                self._phase = _Phase.OVER
            case _:
                pass
        return []

    def tick(self, now: float) -> list[Message]:
        """Go on without what did not come in time."""
        if now < self.deadline:
            return []
        match self._phase:
            case _Phase.ANSWERS:
                return self._sign(now)
            case _Phase.SIGNATURE:
                return self._act(now)
            case _:
                self._phase = _Phase.OVER
                return []

    def _sign(self, now: float) -> list[Message]:
        self._phase = _Phase.SIGNATURE
        self.deadline = now + timeouts.SIGNATURE * self._slowness
        return self._sign_more(now)

    def _sign_more(self, now: float) -> list[Message]:
        signing = self._attachment.signing
        if signing.is_awaited:
            return []
        if not (signing.is_done or signing.is_put_off):
            said = signing.sign(self._pen)
            if said is not None:
                return [said]
        return self._act(now)

    def _act(self, now: float) -> list[Message]:
        acts = self._acts()  # What came last may have changed what they are.
        is_answered = any(isinstance(one, Who) for one in acts)
        self._phase = _Phase.ACTS if is_answered else _Phase.OVER
        self.deadline = now + timeouts.DROP * self._slowness
        return acts
