import math

import pytest
from tests.core.client.world import (
    CLIENT,
    OTHER,
    SESSION,
    US,
    attached,
    evidence,
    presence,
    view,
)
from tests.core.signing import ANNA, KEY

from holdfast.core.client import questions, timeouts
from holdfast.core.client.command_run import CommandRun, Wish
from holdfast.core.client.exchange import AttachedInquiry, Inquiry
from holdfast.core.client.screen_question import ATTEMPTS, screen
from holdfast.core.client.signing import Pen
from holdfast.core.client.turn_wait import TurnWait
from holdfast.model.errors import (
    NotAllowed,
    PainterDied,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import Epoch, Incarnation, Index
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import refusal
from holdfast.wire.commands import CommandReport
from holdfast.wire.evidence import StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Acknowledge, Ask, State, Take, TurnPassed
from holdfast.wire.presence import Who
from holdfast.wire.signatures import Sign

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
    with pytest.raises(WaitedInVain) as told:
        inquiry.tick(timeouts.ANSWER)
    assert told.value.facts["waited_ms"] == timeouts.ANSWER * 1000
    with pytest.raises(SessionUnreachable):
        inquiry.cut(GONE, timeouts.ANSWER)


def test_half_an_answer_of_one_holder_is_none_of_its_successor_s() -> None:
    inquiry = Inquiry(questions.reports(CLIENT, CLIENT), 0)
    report = CommandReport("prompt", None)
    inquiry.linked(0)
    inquiry.hear(report, 0)
    inquiry.linked(1)

    inquiry.hear(report, 1)
    assert inquiry.result is None
    inquiry.hear(report, 1)
    assert inquiry.result == [report, report]


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


def test_nothing_is_due_and_nobody_leaves_before_there_is_a_link() -> None:
    assert asking().next_deadline(0) == math.inf
    assert asking().leave(0) is None


def test_elsewhere_everything_takes_longer() -> None:
    exchange = asking()
    exchange.slowness = 5.0
    exchange.linked(0)

    assert exchange.next_deadline(0) == 5 * timeouts.GREETING
    assert not exchange.is_lost(5 * timeouts.LOSS - 1)
    assert exchange.is_lost(5 * timeouts.LOSS)


def test_what_comes_before_we_are_let_in_is_heard_then_and_on_that_link_alone() -> None:
    passed = TurnPassed(
        former=US,
        holder=OTHER,
        epoch=Epoch(2),
        reason="given",
        dropped_inputs=0,
        dropped_bytes=0,
    )
    exchange = asking()
    exchange.linked(0)
    exchange.hear(passed, 0)
    exchange.hear(attached(holder=US), 0)
    assert exchange.attachment.holder == OTHER

    exchange.linked(1)
    exchange.hear(attached(holder=US), 1)
    assert exchange.attachment.holder == US


def test_what_is_to_be_sent_for_something_early_is_sent() -> None:
    wait = TurnWait(view(), 30, 0)
    wait.linked(0)
    wait.hear(
        TurnPassed(
            former=OTHER,
            holder=US,
            epoch=Epoch(2),
            reason="given",
            dropped_inputs=0,
            dropped_bytes=0,
        ),
        0,
    )

    assert wait.hear(attached(holder=OTHER), 0) == [Ask(30_000), Who(), Who()]


def booked() -> AttachedInquiry[questions.Done]:
    """Return an exchange with a command that the book has and nobody has signed."""
    exchange = asking()
    exchange.linked(0)
    exchange.hear(attached(), 0)
    exchange.attachment.submit(InputKind.COMMAND, b"ls\r")
    exchange.attachment.answered(Acknowledge(CLIENT, 1, Index(3), None))
    return exchange


def test_nothing_is_signed_before_the_key_is_here() -> None:
    exchange = booked()
    assert exchange.tick(0) == []
    assert exchange.wants_pen()

    exchange.take_pen(Pen(KEY, ANNA))

    assert [type(one) for one in exchange.tick(0)] == [Sign]


def test_i2_what_is_not_signed_when_it_is_over_is_left_to_the_farewell() -> None:
    going_on, over = booked(), booked()
    for exchange in (going_on, over):
        exchange.take_pen(Pen(KEY, ANNA))

    (said,) = going_on.hear(State("frozen", Incarnation(1)), 0)
    assert isinstance(said, Sign)
    assert over.hear(presence(US), 0) == []
    farewell = over.leave(0)
    assert farewell is not None
    assert [type(one) for one in farewell.begin(0)] == [Sign]


def test_the_next_deadline_is_that_of_a_signature_if_that_is_sooner() -> None:
    exchange = booked()
    assert exchange.next_deadline(2) == timeouts.ANSWER

    exchange.take_pen(Pen(KEY, ANNA))

    assert exchange.next_deadline(2) == 2


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


def test_a_client_on_another_s_link_has_found_the_session_and_knows_it() -> None:
    exchange, other = asking(), view()
    exchange.hear(attached(), 0)
    typed = exchange.attachment.submit(InputKind.KEYS, b"x")
    exchange.linked(0)
    assert exchange.is_lost(timeouts.LOSS)

    other.heard(attached(holder=OTHER, life=3))
    sent = exchange.board(attached(holder=OTHER, life=3), other, 1)

    assert sent == [typed, Take(), Who()]
    assert not exchange.is_lost(timeouts.LOSS)
    known = exchange.attachment
    assert (known.holder, known.incarnation) == (OTHER, Incarnation(3))
    exchange.hear(presence(US), 1)
    assert exchange.result is not None


def test_whose_link_it_is_sends_nothing_again_when_it_boards() -> None:
    exchange = booked()
    exchange.attachment.submit(InputKind.KEYS, b"x")

    assert exchange.board(attached(), exchange.attachment, 1) == [Take(), Who()]
    assert exchange.hear(presence(US), 1) == []
    assert exchange.result is not None
