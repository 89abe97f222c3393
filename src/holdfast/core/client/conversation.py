"""Runs an exchange over one link after another, as a generator of steps.

Theory of operation
-------------------
A conversation is a generator of steps. A driver does each of them and sends back what
came of it; what fails is thrown in. So links, waiting and threads are the driver's, and
what is done in which order is decided once, for programs that block and for an event
loop.

    Dial ──▶ Send ──▶ Receive, Send … ──▶ HangUp ──▶ the result
      ▲                   │ the link broke
      └───── Pause ◀──────┘

Invariants:

I1  A link that was dialled is hung up, whatever is thrown in.
I2  Before it is hung up the exchange takes its leave, as far as the link still stands.
"""

import contextlib
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

from holdfast.core.client import timeouts
from holdfast.core.client.exchange import Exchange
from holdfast.core.client.farewell import Farewell
from holdfast.model.errors import HoldfastError, SessionLeft, SessionUnreachable
from holdfast.wire.codec import Message

Result = TypeVar("Result")
Clock = Callable[[], float]


class Dial(NamedTuple):
    """Open a link, and greet; within so many seconds."""

    within: float


class Send(NamedTuple):
    """Send messages; as one begins or takes its leave, there may be none."""

    messages: list[Message]


class Receive(NamedTuple):
    """Return the next message; None when it is time."""

    until: float
    is_last: bool = False
    """Whether we are leaving: nobody but us is interested in what comes."""


class LoadPen(NamedTuple):
    """Return what we sign with; None if our key is not here."""


class Pause(NamedTuple):
    """Wait so many seconds."""

    seconds: float


class HangUp(NamedTuple):
    """Close the link."""


Step = Dial | Send | Receive | LoadPen | Pause | HangUp
Steps = Generator[Step, Any, Result]


def conversation(exchange: Exchange[Result], clock: Clock) -> Steps[Result]:
    """Yield what to do, until the exchange is over; return its result.

    Raises:
        HoldfastError: What the exchange ends with.

    """
    while exchange.result is None:
        try:
            yield from _linked(exchange, clock)
            try:
                yield from _carried(exchange, clock)
            finally:
                yield HangUp()
        except (SessionUnreachable, SessionLeft) as error:
            exchange.cut(_cut_by(error), clock())
            if exchange.result is None:
                yield Pause(exchange.pause(clock()))
    return exchange.result


def _cut_by(error: SessionUnreachable | SessionLeft) -> SessionUnreachable:
    """Return what cut a link; a session that went elsewhere is its cause."""
    if isinstance(error, SessionUnreachable):
        return error
    cut = SessionUnreachable(error.session, error.why)
    cut.__cause__ = error
    return cut


def _linked(exchange: Exchange[Result], clock: Clock) -> Steps[None]:
    """Open a link; a holder that was just replaced is waited for."""
    until = clock() + exchange.dials(clock()) * exchange.slowness
    step = timeouts.REDIAL
    while True:
        try:
            yield Dial(max(step, until - clock()))
        except SessionUnreachable:
            if clock() + step > until:
                raise
        else:
            return
        yield Pause(step)
        step = min(2 * step, timeouts.LAST_REDIAL * exchange.slowness)


def _carried(exchange: Exchange[Result], clock: Clock) -> Steps[None]:
    try:
        yield Send(exchange.linked(clock()))
        while exchange.result is None:
            if exchange.wants_pen():  # Loaded while the holder works.
                exchange.take_pen((yield LoadPen()))
            message = yield Receive(exchange.next_deadline(clock()))
            if message is not None and (sent := exchange.hear(message, clock())):
                yield Send(sent)
            if exchange.result is None and (sent := exchange.tick(clock())):
                yield Send(sent)
    finally:
        farewell = exchange.leave(clock())
        if farewell is not None:
            yield from _left(farewell, clock)


def _left(farewell: Farewell, clock: Clock) -> Steps[None]:
    """Do what is left to do on the link; what fails here is no error."""
    with contextlib.suppress(HoldfastError):
        yield Send(farewell.begin(clock()))
        while not farewell.is_over:
            message = yield Receive(farewell.deadline, is_last=True)
            if message is not None:
                yield Send(farewell.hear(message, clock()))
            yield Send(farewell.tick(clock()))
