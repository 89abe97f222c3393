import pytest
from tests.core.client.world import CLIENT, SESSION, attached, evidence, view

from holdfast.core.client import questions, state_wait, timeouts
from holdfast.core.client.conversation import (
    Dial,
    HangUp,
    LoadPen,
    Pause,
    Receive,
    Send,
    Step,
    Steps,
    conversation,
)
from holdfast.core.client.exchange import Inquiry
from holdfast.core.client.state_wait import Watch
from holdfast.core.client.submission import Submission
from holdfast.model.errors import (
    NotAllowed,
    SessionLeft,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import Index
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import refusal
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Acknowledge, Attach, Inquire, Submit

GONE = SessionUnreachable(SESSION, "it hung up")
RUNNING = evidence("running")


class Clock:
    """Goes on when a step waits, and not by itself."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def question(clock: Clock) -> Steps[Evidence]:
    return conversation(Inquiry(questions.state(), clock()), clock)


def typing(clock: Clock) -> Steps[int]:
    return conversation(Submission(view(), InputKind.KEYS, b"ls\r", 5.0), clock)


def told(steps: Steps[int] | Steps[Evidence], *came: object) -> list[Step]:
    """Send these back one by one, or throw them; return each step that follows."""
    return [
        steps.throw(one) if isinstance(one, BaseException) else steps.send(one)
        for one in came
    ]


def over(steps: Steps[int] | Steps[Evidence], *came: object) -> object:
    with pytest.raises(StopIteration) as end:
        told(steps, *came)
    return end.value.value


def test_a_question_is_dialled_asked_answered_and_hung_up_on() -> None:
    steps = question(Clock())

    assert next(steps) == Dial(timeouts.GREETING)
    assert told(steps, None, None) == [
        Send([StateRequest()]),
        Receive(timeouts.ANSWER),
    ]
    assert told(steps, RUNNING) == [HangUp()]
    assert over(steps, None) == RUNNING


def test_a_holder_that_is_being_replaced_is_waited_for_but_not_for_ever() -> None:
    clock = Clock()
    steps = question(clock)
    waits: list[float] = []

    def wait() -> None:
        step = next(steps)
        while isinstance(step, Dial | Pause):
            if isinstance(step, Pause):
                waits.append(step.seconds)
                clock.now += step.seconds
                step = steps.send(None)
            else:
                step = steps.throw(GONE)

    with pytest.raises(SessionUnreachable):
        wait()

    assert waits[:3] == [timeouts.REDIAL, 2 * timeouts.REDIAL, 4 * timeouts.REDIAL]
    assert max(waits) == timeouts.LAST_REDIAL
    assert timeouts.ANSWER - timeouts.LAST_REDIAL <= clock.now <= timeouts.ANSWER + 1


def test_a_link_that_breaks_is_hung_up_and_another_is_dialled() -> None:
    steps = question(Clock())
    next(steps)

    steps_after = told(steps, None, None, GONE, None, None)

    assert steps_after[2:] == [
        HangUp(),
        Pause(timeouts.REDIAL),
        Dial(timeouts.GREETING),
    ]


def test_a_session_that_left_is_dialled_again_wherever_it_is() -> None:
    steps = question(Clock())
    next(steps)

    left = SessionLeft(SESSION, "to beta", "word")
    steps_after = told(steps, None, None, left, None, None)

    assert steps_after[2:] == [
        HangUp(),
        Pause(timeouts.REDIAL),
        Dial(timeouts.GREETING),
    ]


def test_a_refusal_hangs_up_and_is_what_it_ends_with() -> None:
    steps = question(Clock())
    next(steps)
    told(steps, None, None)

    no = refusal(NotAllowed("a_x", "observe"), FrameKind.STATE_REQUEST)
    assert steps.send(no) == HangUp()
    with pytest.raises(NotAllowed):
        steps.send(None)


def test_our_key_is_loaded_after_the_first_input_and_signing_is_the_last_act() -> None:
    steps = typing(Clock())
    next(steps)

    first, waiting, sent = told(steps, None, None, attached())
    assert isinstance(first, Send)
    assert isinstance(first.messages[0], Attach)
    assert isinstance(waiting, Receive)
    assert isinstance(sent, Send)
    assert isinstance(sent.messages[0], Submit)
    assert told(steps, None) == [LoadPen()]
    (again,) = told(steps, None)
    assert isinstance(again, Receive)
    assert not again.is_last

    ack = Acknowledge(CLIENT, 1, Index(3), None)
    assert told(steps, ack) == [Send([])]  # Without a key nothing is signed.
    assert told(steps, None) == [HangUp()]
    assert over(steps, None) == 10


class Interrupted(BaseException):
    """Whatever ends a program."""


def test_who_is_interrupted_takes_leave_and_hangs_up_first() -> None:
    clock = Clock()
    steps = typing(clock)
    next(steps)
    told(steps, None, None, attached(), None, None, None)

    (asked,) = told(steps, Interrupted())
    assert asked == Send([Inquire(CLIENT, 1)])
    (last,) = told(steps, None)
    assert last == Receive(timeouts.LAST_ANSWERS, is_last=True)
    ack = Acknowledge(CLIENT, 1, Index(3), None)
    assert told(steps, ack, None, None)[-1] == HangUp()
    with pytest.raises(Interrupted):
        steps.send(None)


def test_leaving_a_link_that_is_gone_is_no_error() -> None:
    clock = Clock()
    steps = typing(clock)
    next(steps)
    told(steps, None, None, attached(), None, None, None)

    assert told(steps, Interrupted(), GONE)[-1] == HangUp()
    with pytest.raises(Interrupted):
        steps.send(None)


def test_what_is_not_answered_in_time_is_not_waited_for_at_the_end() -> None:
    clock = Clock()
    steps = typing(clock)
    next(steps)
    told(steps, None, None, attached(), None, None, None, Interrupted(), None)

    clock.now += timeouts.LAST_ANSWERS
    told(steps, None)
    assert told(steps, None) == [HangUp()]


def test_a_cut_that_settles_it_is_the_end() -> None:
    class Settled(Inquiry[Evidence]):
        def cut(self, error: SessionUnreachable, now: float) -> None:
            del error, now
            self.result = RUNNING

    clock = Clock()
    steps = conversation(Settled(questions.state(), 0), clock)
    next(steps)
    told(steps, None, None, GONE)

    assert over(steps, None) == RUNNING


def test_when_nothing_comes_in_time_the_clock_decides() -> None:
    clock = Clock()
    steps = question(clock)
    next(steps)
    told(steps, None, None)

    assert told(steps, None) == [Receive(timeouts.ANSWER)]
    clock.now = timeouts.ANSWER
    assert steps.send(None) == HangUp()
    with pytest.raises(WaitedInVain):
        steps.send(None)


def test_what_an_exchange_asks_again_when_it_is_time_is_sent() -> None:
    clock = Clock()
    steps = conversation(Watch(SESSION, state_wait.state("exited"), 0, 5), clock)
    next(steps)
    *_, waiting = told(steps, None, None, RUNNING)
    assert isinstance(waiting, Receive)

    clock.now = waiting.until

    assert told(steps, None) == [Send([StateRequest()])]
    exited = evidence("exited")
    assert told(steps, None, exited)[-1] == HangUp()
    assert over(steps, None) == exited
