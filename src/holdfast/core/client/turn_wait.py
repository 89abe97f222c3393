"""Asking for the turn, and waiting until it is ours.

A successor does not know who waited, so it is asked again on each new link.
"""

from holdfast.core.client import questions, timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.exchange import AttachedExchange, Inquiry
from holdfast.core.client.questions import Done, SessionQuestion
from holdfast.core.client.time_limit import limit_of
from holdfast.model.errors import SessionOver
from holdfast.model.ids import ActorId
from holdfast.wire import messages
from holdfast.wire.codec import Message, error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.presence import Presence, Who


def turn(us: ActorId, seconds: float) -> SessionQuestion[bool]:
    """Ask for the turn, and wait until it is ours."""

    def gather(message: Message) -> bool | None:
        match message:
            case Presence(holder=holder) | messages.TurnPassed(holder=holder):
                return holder == us or None
            case messages.Refuse(refused=FrameKind.ASK):
                raise error_from(message)
            case messages.Exited():
                raise SessionOver("exited")
            case _:
                return None

    wait_ms = min(max(1, round(seconds * 1000)), messages.MAX_ASK_MS)
    # The holder's own clock says when it is over; ours only makes sure.
    patience = wait_ms / 1000 + timeouts.ANSWER
    return SessionQuestion((messages.Ask(wait_ms), Who()), lambda: gather, patience)


class TurnWait(AttachedExchange[Done]):
    """One client that waits for the turn; the result is how things stand then."""

    def __init__(self, attachment: Attachment, seconds: float, now: float) -> None:
        super().__init__(attachment)
        self.time_limit = limit_of(seconds, "the turn", now)
        self._wait: Inquiry[bool] | None = None
        self._look: Inquiry[Done] | None = None

    def attached(self, attached: messages.Attached, now: float) -> list[Message]:
        """Ask for the turn."""
        del attached
        return self._ask(now)

    def heard(self, news: News, now: float) -> list[Message]:
        """Look how things stand once the turn is ours."""
        message = news.message
        if self._look is not None:
            self._look.hear(message, now)
            done = self._look.result
            if done is None:
                return []
            if done.has_turn:
                self.result = done
                return []
            return self._ask(now)  # Another operator was quicker.
        assert self._wait is not None  # noqa: S101  # attached first
        self._wait.hear(message, now)
        if self._wait.result is None:
            return []
        self._look = Inquiry(questions.request(self._us), now)
        return self._look.linked(now)

    def ticked(self, now: float) -> list[Message]:
        """Give up when neither an answer nor the turn comes."""
        return self._current.tick(now)

    def deadline(self, now: float) -> float:
        """Return when to give up."""
        return self._current.next_deadline(now)

    @property
    def _us(self) -> ActorId:
        return self.attachment.us or ActorId("")

    @property
    def _current(self) -> Inquiry[bool] | Inquiry[Done]:
        current = self._look or self._wait
        assert current is not None  # noqa: S101  # attached first
        return current

    def _ask(self, now: float) -> list[Message]:
        self.time_limit.demand(now)
        self._look = None
        self._wait = Inquiry(turn(self._us, self.time_limit.until - now), now)
        return self._wait.linked(now)
