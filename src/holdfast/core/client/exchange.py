"""One request of a client to a session, over as many links as it takes.

Theory of operation
-------------------
An exchange is told that a link is up, what comes on it and what time it is, and
answers what to send. Its driver owns the link and the clock:

    linked ──▶ hear, tick ──▶ … ──▶ result        cut: the link broke, try another
                               └──▶ leave ──▶ hear_last, until it has left

An attached exchange attaches first. What it sent and has no answer to is sent again
on each new link, under the ids it had. What it sends is signed, and what is not signed
yet when it leaves is signed then.

Invariants:

I1  Nothing is sent on a link before `linked`, and no input before ATTACHED.
I2  A result or an error is final: `leave` sends no input.
"""

import math
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from holdfast.core.client import questions, timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.entrance import Entrance
from holdfast.core.client.farewell import Farewell
from holdfast.core.client.questions import Gather, SessionQuestion
from holdfast.core.client.signing import Pen
from holdfast.core.client.time_limit import ENDLESS, TimeLimit, limit_of
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import ClientId
from holdfast.wire.codec import Message
from holdfast.wire.commands import CommandReport
from holdfast.wire.messages import Attached

Result = TypeVar("Result")


class Exchange(ABC, Generic[Result]):
    """What both drivers drive."""

    result: Result | None = None
    """What came of it, once it is over."""

    slowness = 1.0
    """So many times longer everything takes: more than once around elsewhere."""

    time_limit: TimeLimit = ENDLESS
    """When it is given up, unless it does something else with its time."""

    _lost_at: float | None = None
    """Since when nobody has answered."""

    @abstractmethod
    def linked(self, now: float) -> list[Message]:
        """Note that a link is up; return what to send first."""

    @abstractmethod
    def hear(self, message: Message, now: float) -> list[Message]:
        """Take what came on the link; return what to send.

        Raises:
            HoldfastError: It was refused, or cannot be known, and why.

        """

    def tick(self, now: float) -> list[Message]:
        """Do what the clock demands.

        Raises:
            HoldfastError: The time is up.

        """
        self.time_limit.demand(now)
        return []

    def next_deadline(self, now: float) -> float:
        """Return when to call `tick` at the latest."""
        del now
        return self.time_limit.until

    def cut(self, error: SessionUnreachable, now: float) -> None:
        """Note that the link broke, or that there is none.

        Raises:
            HoldfastError: Another link would not help.

        """
        self.time_limit.cut(error, now)

    def dials(self, now: float) -> float:
        """Note that a link is opened; return how many seconds that may take."""
        if self._lost_at is None:
            self._lost_at = now
        return timeouts.GREETING

    def pause(self, now: float) -> float:
        """Return how many seconds to wait after a cut."""
        del now
        return timeouts.REDIAL

    def found(self) -> None:
        """Note that the session answered: a later cut is another one."""
        self._lost_at = None

    def is_lost(self, now: float) -> bool:
        """Tell whether nobody has answered for so long that nobody will."""
        patience = timeouts.LOSS * self.slowness
        return self._lost_at is not None and now - self._lost_at >= patience

    def wants_pen(self) -> bool:
        """Tell whether to load our key now: something was sent that is to be signed."""
        return False

    def take_pen(self, pen: Pen | None) -> None:
        """Take our key; None if it is not here."""
        del pen

    def leave(self, now: float) -> Farewell | None:
        """Return what is left to do on the link before it is closed, if anything."""
        del now
        return None

    def lost(self, error: HoldfastError) -> HoldfastError:
        """Return what it means to us that there will be no link any more."""
        return error


class Inquiry(Exchange[Result]):
    """A question that needs no attachment."""

    def __init__(self, question: SessionQuestion[Result], now: float) -> None:
        self._question = question
        self._attempts = question.attempts
        self.time_limit = limit_of(question.patience, "an answer of the session", now)
        self._gather: Gather[Result] = question.begin()

    def linked(self, now: float) -> list[Message]:
        """Ask, from the beginning."""
        del now
        self._gather = self._question.begin()
        return [*self._question.asked]

    def hear(self, message: Message, now: float) -> list[Message]:
        """Take a part of the answer."""
        try:
            self.result = self._gather(message)
        except self._question.passing:
            self._attempts -= 1
            if self._attempts == 0:
                raise
            return self.linked(now)
        return []

    def dials(self, now: float) -> float:
        """Return how long a link may take: no longer than the answer."""
        return max(0.0, min(timeouts.GREETING, self.time_limit.until - now))


class AttachedExchange(Exchange[Result]):
    """What is done while attached."""

    def __init__(self, attachment: Attachment) -> None:
        self.attachment = attachment
        self._is_attached = False
        self._attach_by = math.inf
        self._entrance = Entrance(attachment)
        self._gather: Gather[list[CommandReport]] | None = None
        self._pen: Pen | None = None
        self._has_pen = False

    # ── what each of them does in its own way ─────────────────────────────

    @abstractmethod
    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Note that we are attached; what had no answer is sent again before this."""

    @abstractmethod
    def heard(self, news: News, now: float) -> list[Message]:
        """Take what came while attached."""

    def ticked(self, now: float) -> list[Message]:
        """Do what the clock demands while attached."""
        self.time_limit.demand(now)
        return []

    def deadline(self, now: float) -> float:
        """Return when to call `ticked`."""
        del now
        return self.time_limit.until

    def asks_first(self) -> tuple[ClientId, ...]:
        """Return whose commands to ask for before attaching."""
        return ()

    def told_first(self, reports: list[CommandReport]) -> None:
        """Take the answer to that."""

    def refused_first(self, error: HoldfastError) -> None:
        """Note that it is not answered; `told_first` is told of no reports then.

        Raises:
            HoldfastError: It has to be.

        """
        raise error

    def last_acts(self) -> list[Message]:
        """Return what to have done before we leave; PRESENCE says that it was."""
        return []

    # ── what they share ───────────────────────────────────────────────────

    def linked(self, now: float) -> list[Message]:
        """Ask what is to be known before, or attach."""
        self._is_attached = False
        self._attach_by = now + self.dials(now) * self.slowness
        if clients := self.asks_first():
            question = questions.reports(*clients)
            self._gather = question.begin()
            return [*question.asked]
        return [self._attach()]

    def board(self, attached: Attached, other: Attachment, now: float) -> list[Message]:
        """Note that another of our clients has attached, whose link we use too."""
        self.found()
        self._is_attached = True
        if self.attachment is other:
            return self.attached(attached, now)
        self.attachment.join(other)
        return [*self.attachment.resume(), *self.attached(attached, now)]

    def hear(self, message: Message, now: float) -> list[Message]:
        """Take ATTACHED, and after it what concerns the exchange."""
        if self._is_attached:
            sent = self.heard(self.attachment.take(message), now)
            return [*sent, *self._signed(now)] if self.result is None else sent
        if self._gather is not None:
            try:
                reports = self._gather(message)
            except HoldfastError as error:
                self.refused_first(error)
                reports = []
            if reports is None:
                return []
            self._gather = None
            self.told_first(reports)
            return [self._attach()]
        attached = self._entrance.hear(message)
        return [] if attached is None else self._begin(attached, now)

    def tick(self, now: float) -> list[Message]:
        """Do what the clock demands."""
        if self._is_attached:
            return [*self.ticked(now), *self._signed(now)]
        if now >= self._attach_by:
            session = self.attachment.session
            raise SessionUnreachable(session, "it does not let us attach")
        return []

    def next_deadline(self, now: float) -> float:
        """Return when to call `tick`."""
        if not self._is_attached:
            return self._attach_by
        wait = self.attachment.signing.wait(now) if self._has_pen else None
        due = self.deadline(now)
        return due if wait is None else min(due, now + wait)

    def wants_pen(self) -> bool:
        """Tell whether something was sent, and our key is not loaded."""
        return not self._has_pen and self.attachment.has_sent

    def take_pen(self, pen: Pen | None) -> None:
        """Take our key."""
        self._pen, self._has_pen = pen, True

    def leave(self, now: float) -> Farewell | None:
        """Sign the rest, and do the last acts."""
        if not self._is_attached:
            return None
        return Farewell(self.attachment, self._pen, self.last_acts, now, self.slowness)

    def entrance(self) -> Entrance:
        """Return how to attach."""
        return Entrance(self.attachment)

    def _attach(self) -> Message:
        self._entrance = self.entrance()
        return self._entrance.message()

    def _begin(self, attached: Attached, now: float) -> list[Message]:
        self._is_attached = True
        self.found()
        sent = [*self.attachment.resume(), *self.attached(attached, now)]
        for early in self._entrance.early:
            sent += self.heard(self.attachment.take(early), now)
        return sent

    def _signed(self, now: float) -> list[Message]:
        signing = self.attachment.signing
        if not self._has_pen or signing.wait(now) != 0:
            return []
        said = signing.sign(self._pen)
        return [] if said is None else [said]


class AttachedInquiry(AttachedExchange[Result]):
    """A question that is asked while attached: one about the turn.

    A turn is kept for a while for an operator who leaves, and only who has attached
    can leave.
    """

    def __init__(
        self, attachment: Attachment, question: SessionQuestion[Result], now: float
    ) -> None:
        super().__init__(attachment)
        self._inquiry = Inquiry(question, now)
        self.time_limit = self._inquiry.time_limit

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Ask."""
        del attached
        return self._inquiry.linked(now)

    def heard(self, news: News, now: float) -> list[Message]:
        """Take a part of the answer."""
        sent = self._inquiry.hear(news.message, now)
        self.result = self._inquiry.result
        return sent
