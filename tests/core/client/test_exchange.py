import pytest
from tests.core.client.world import SESSION, US, attached, evidence, presence, view

from holdfast.core.client import questions, timeouts
from holdfast.core.client.command_run import CommandRun, Wish
from holdfast.core.client.exchange import AttachedInquiry, Inquiry
from holdfast.core.client.screen_question import ATTEMPTS, screen
from holdfast.model.errors import (
    NotAllowed,
    PainterDied,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import Incarnation
from holdfast.wire.codec import refusal
from holdfast.wire.company import Who
from holdfast.wire.evidence import StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import State, Take

GONE = SessionUnreachable(SESSION, "it hung up")


def test_a_question_is_asked_again_of_a_successor() -> None:
    inquiry = Inquiry(questions.state(), 0)

    assert inquiry.linked(0) == [StateRequest()]
    inquiry.cut(GONE, 1)
    assert inquiry.linked(2) == [StateRequest()]
    assert inquiry.hear(evidence("running"), 2) == []
    assert inquiry.result == evidence("running")
    assert not inquiry.wants_pen()
    inquiry.take_pen(None)
    assert inquiry.leave(2) is None


def test_no_answer_is_waited_for_for_ever() -> None:
    inquiry = Inquiry(questions.state(), 0)
    inquiry.linked(0)

    assert inquiry.next_deadline(1) == timeouts.ANSWER
    assert inquiry.tick(1) == []
    with pytest.raises(WaitedInVain):
        inquiry.tick(timeouts.ANSWER)
    with pytest.raises(SessionUnreachable):
        inquiry.cut(GONE, timeouts.ANSWER)


def test_a_link_may_take_no_longer_than_the_answer() -> None:
    inquiry = Inquiry(questions.state(), 0)

    assert inquiry.dials(0) == timeouts.GREETING
    assert inquiry.dials(timeouts.ANSWER - 1) == 1
    assert inquiry.dials(timeouts.ANSWER + 1) == 0


def test_a_painter_that_died_is_asked_again_a_few_times() -> None:
    inquiry = Inquiry(screen(cells=False), 0)
    (asked,) = inquiry.linked(0)
    died = refusal(PainterDied("gone"), FrameKind.SCREEN_REQUEST)

    for _ in range(ATTEMPTS - 1):
        assert inquiry.hear(died, 0) == [asked]
    with pytest.raises(PainterDied):
        inquiry.hear(died, 0)


def asking() -> AttachedInquiry[questions.Done]:
    return AttachedInquiry(view(), questions.request(US, Take()), 0)


def test_what_concerns_the_turn_is_asked_while_attached() -> None:
    exchange = asking()

    assert exchange.linked(0) == [exchange.attachment.attach(None, keyframe=False)]
    assert exchange.next_deadline(0) == timeouts.GREETING
    assert exchange.hear(State("running", Incarnation(1)), 0) == []
    assert exchange.hear(attached(), 0) == [Take(), Who()]
    assert exchange.tick(1) == []
    assert exchange.next_deadline(1) == timeouts.ANSWER
    assert exchange.hear(presence(US), 1) == []
    assert exchange.result is not None
    farewell = exchange.leave(1)
    assert farewell is not None
    assert (farewell.begin(1), farewell.is_over) == ([], True)


def test_who_is_not_let_in_leaves_without_a_word() -> None:
    exchange = asking()
    exchange.linked(0)

    assert exchange.tick(timeouts.GREETING - 1) == []
    assert exchange.leave(1) is None
    with pytest.raises(SessionUnreachable):
        exchange.tick(timeouts.GREETING)
    with pytest.raises(NotAllowed):
        exchange.hear(refusal(NotAllowed(US, "observe"), FrameKind.ATTACH), 1)


def test_elsewhere_everything_takes_longer() -> None:
    exchange = asking()
    exchange.slowness = 5.0
    exchange.linked(0)

    assert exchange.next_deadline(0) == 5 * timeouts.GREETING


def test_a_cut_is_survived_while_there_is_time() -> None:
    exchange = asking()
    exchange.linked(0)
    exchange.hear(attached(), 0)
    exchange.cut(GONE, 1)
    exchange.linked(1)

    assert exchange.hear(attached(), 1) == [Take(), Who()]
    with pytest.raises(SessionUnreachable):
        exchange.cut(GONE, timeouts.ANSWER)


def test_what_has_to_be_known_first_and_is_refused_is_the_error() -> None:
    run = CommandRun(view(), b"make", Wish(9), now=0, deadline=9)
    run.linked(0)

    with pytest.raises(NotAllowed):
        run.hear(refusal(NotAllowed(US, "observe"), FrameKind.COMMAND_REQUEST), 0)
