"""A standing link: it stays attached while it is used, and reconnects when cut.

Theory of operation
-------------------
What is done meanwhile are passengers: exchanges that use this link instead of one of
their own. Inputs and questions are of the client that attached. A command has a client
of its own, and signs for it; before it goes it signs the rest, and drops a turn that it
took.

    waits ──attached──▶ on board ──result, error──▶ leaves ──▶ over
              ▲            │
              └────cut─────┘  it is asked, or sent, again on the next link

Answers to questions bear no number, so there is one at a time: others wait for it, also
if nobody wants its answer any more.

Invariants:

I1  No question is asked before the one before it is answered, or given up.
I2  Every passenger is over once, also if there will be no link any more.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.exchange import AttachedExchange
from holdfast.core.client.farewell import Farewell  # noqa: TC001  # read by people too
from holdfast.core.client.signing import Pen
from holdfast.core.client.stream_wait import Follow
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.wire.codec import Message, error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Attached, Event, Refuse

MAX_NOTED = 16
"""Events kept for a later reader; older ones are dropped."""

Result = TypeVar("Result")


class Passenger(Generic[Result]):
    """One exchange on a standing link, from when it comes until it is over."""

    def __init__(
        self,
        begin: Callable[[float], AttachedExchange[Result]],
        over: Callable[["Passenger[Result]"], None],
        *,
        asks: bool = False,
    ) -> None:
        self._begin = begin
        self._over = over
        self._asks = asks
        self._farewell: Farewell | None = None
        self._is_leaving = False
        self._shares = True
        self.exchange: AttachedExchange[Result] | None = None
        """What it does; None as long as it waits."""

        self.error: HoldfastError | None = None
        """What it ended with, if it failed."""

        self.is_over = False
        """Whether the caller was told."""

    @property
    def is_waiting(self) -> bool:
        """Whether it has something to begin: to do, or to do last."""
        return self.exchange is None or (self._is_leaving and self._farewell is None)

    @property
    def asks(self) -> bool:
        """Whether nobody else may ask anything meanwhile."""
        return self._asks or self._is_leaving

    def begin(self, here: Attached, link: "StandingLink", now: float) -> list[Message]:
        """Do what it has waited for."""
        if self.exchange is None:
            self.exchange = self._begin(now)
            self.exchange.slowness = link.slowness
            self._shares = self.exchange.attachment is link.attachment
            return self.board(here, link.attachment, now)
        self._farewell = self.exchange.leave(now)
        assert self._farewell is not None  # noqa: S101  # it was on board
        return self._left(self._farewell.begin(now))

    def board(self, here: Attached, other: Attachment, now: float) -> list[Message]:
        """Go on with a link that is attached."""
        exchange = self.exchange
        if exchange is None:
            return []
        return self._do(lambda: exchange.board(here, other, now))

    def hear(self, news: News, now: float) -> list[Message]:
        """Take what came."""
        exchange, message = self.exchange, news.message
        if exchange is None:
            return []
        if self._farewell is not None:
            return self._left(self._farewell.hear(message, now))
        if self._shares:
            return self._do(lambda: exchange.heard(news, now))
        if self._is_leaving:
            exchange.attachment.take(message)
            return []
        if isinstance(message, Refuse) and message.refused == FrameKind.GOODBYE:
            # A holder of older code takes no other client's inputs on a link.
            self.error = error_from(message)
            return self._do(list)
        return self._do(lambda: exchange.hear(message, now))

    def tick(self, now: float) -> list[Message]:
        """Do what the clock demands."""
        if self._farewell is not None:
            return self._left(self._farewell.tick(now))
        exchange = self.exchange
        if exchange is None or self._is_leaving:
            return []
        tick = exchange.ticked if self._shares else exchange.tick
        return self._do(lambda: tick(now))

    def deadline(self, now: float) -> float:
        """Return when to call `tick`."""
        if self._farewell is not None:
            return self._farewell.deadline
        if self.exchange is None or self._is_leaving:
            return math.inf
        due = self.exchange.deadline if self._shares else self.exchange.next_deadline
        return due(now)

    def cut(self, error: SessionUnreachable, now: float) -> None:
        """Note that the link broke: go on with the next, unless it has to be over."""
        if self.exchange is None:
            return
        try:
            if not self._is_leaving:
                self.exchange.cut(error, now)
                return
        except HoldfastError as final:
            self.error = final
        self.finish()

    def give_up(self) -> None:
        """Note that nobody waits for it any more."""
        if self.exchange is None or (self._shares and not self._asks):
            self.finish()
        elif not self._asks:
            self._is_leaving = True

    def fail(self, error: HoldfastError) -> None:
        """Note that there will be no link any more."""
        if not self._is_leaving:
            self.error = error if self.exchange is None else self.exchange.lost(error)
        self.finish()

    def finish(self) -> None:
        """Tell the caller."""
        self.is_over = True
        self._over(self)

    def _do(self, act: Callable[[], list[Message]]) -> list[Message]:
        sent: list[Message] = []
        try:
            sent = act()
        except HoldfastError as error:
            self.error = error
        assert self.exchange is not None  # noqa: S101  # asked by the callers
        if self.error is not None or self.exchange.result is not None:
            if self._shares:
                self.finish()
            else:
                self._is_leaving = True
        return sent

    def _left(self, sent: list[Message]) -> list[Message]:
        assert self._farewell is not None  # noqa: S101  # asked by the callers
        if self._farewell.is_over:
            self.finish()
        return sent


class StandingLink(Follow[bool]):
    """One client that stays attached, and its passengers."""

    def __init__(self, attachment: Attachment) -> None:
        super().__init__(attachment, from_now=True)
        self.noted: deque[Event] = deque(maxlen=MAX_NOTED)
        """What the holder told of by itself, the oldest first."""

        self.has_ended = False
        """Whether the session has ended: nobody will answer any more."""

        self._passengers: list[Passenger[Any]] = []
        self._here: Attached | None = None

    @property
    def is_attached(self) -> bool:
        """Whether a link is up."""
        return self._here is not None

    def join(self, passenger: Passenger[Any]) -> None:
        """Let an exchange use the link, from the next `tick` on."""
        self._passengers.append(passenger)

    def close(self) -> None:
        """Leave, as soon as our driver looks."""
        self.result = True

    def fail(self, error: HoldfastError) -> None:
        """Note that there will be no link any more."""
        for passenger in self._present():
            passenger.fail(error)

    # ── coming and going ──────────────────────────────────────────────────

    def linked(self, now: float) -> list[Message]:
        """Attach; that may take its time, whatever our passengers wait for."""
        self._here = None
        sent = super().linked(now)
        self._attach_by = now + timeouts.GREETING * self.slowness
        return sent

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Let all exchanges continue."""
        super().attached(attached, now)
        self._here = attached
        sent: list[Message] = []
        for passenger in self._present():
            sent += passenger.board(attached, self.attachment, now)
        return [*sent, *self._admit(now)]

    def cut(self, error: SessionUnreachable, now: float) -> None:
        """Go on with another link, unless nobody answers or will."""
        self._here = None
        if self.has_ended:
            raise error
        super().cut(error, now)
        for passenger in self._present():
            passenger.cut(error, now)

    def dials(self, now: float) -> float:
        """Return how long a link may take: no longer than a passenger has time."""
        patience = super().dials(now)
        return min([patience, *(one.dials(now) for one in self._on_board())])

    # ── what comes ────────────────────────────────────────────────────────

    def heard(self, news: News, now: float) -> list[Message]:
        """Hand on what came."""
        super().heard(news, now)
        if isinstance(news.message, Event):
            self.noted.append(news.message)
        sent: list[Message] = []
        for passenger in self._present():
            sent += passenger.hear(news, now)
        return [*sent, *self._admit(now)]

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Leave it to the passengers."""

    def ended(self, status: int) -> None:
        """Note that the session is over."""
        del status
        self.has_ended = True

    def ticked(self, now: float) -> list[Message]:
        """Do what the clock demands, and let waiting passengers in."""
        sent: list[Message] = []
        for passenger in self._present():
            sent += passenger.tick(now)
        return [*sent, *self._admit(now)]

    def deadline(self, now: float) -> float:
        """Return when to look again."""
        return min([math.inf, *(one.deadline(now) for one in self._present())])

    # ── signing ───────────────────────────────────────────────────────────

    def wants_pen(self) -> bool:
        """Tell whether an own input, or a passenger's, is to be signed."""
        return super().wants_pen() or any(one.wants_pen() for one in self._clients())

    def take_pen(self, pen: Pen | None) -> None:
        """Take our key, for all exchanges."""
        super().take_pen(pen)
        for one in self._clients():
            one.take_pen(pen)

    # ── inside ────────────────────────────────────────────────────────────

    def _present(self) -> list[Passenger[Any]]:
        self._passengers = [one for one in self._passengers if not one.is_over]
        return [*self._passengers]

    def _on_board(self) -> list[AttachedExchange[Any]]:
        passengers = self._present()
        return [one.exchange for one in passengers if one.exchange is not None]

    def _clients(self) -> list[AttachedExchange[Any]]:
        """Return the passengers that are clients of their own."""
        ours = self.attachment
        return [one for one in self._on_board() if one.attachment is not ours]

    def _admit(self, now: float) -> list[Message]:
        """Let passengers begin what they wait for."""
        assert self._here is not None  # noqa: S101  # only while attached
        here = msgspec.structs.replace(
            self._here, end=self.end, holder=self.attachment.holder or ""
        )
        sent: list[Message] = []
        for passenger in self._present():
            if passenger.is_waiting and not (passenger.asks and self._is_asking()):
                sent += passenger.begin(here, self, now)
        return sent

    def _is_asking(self) -> bool:
        return any(one.asks and not one.is_waiting for one in self._present())
