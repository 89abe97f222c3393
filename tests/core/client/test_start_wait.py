import pytest
from tests.core.client.world import CLIENT, SESSION, US, attached, presence, view

from holdfast.core.client.start_wait import StartWait
from holdfast.core.client.timeouts import LAST_ANSWERS, SIGNATURE, WITHDRAWAL
from holdfast.model.errors import (
    ApprovalTimeout,
    DeniedByOperator,
    SessionUnreachable,
)
from holdfast.model.ids import NO_EPOCH, Index
from holdfast.model.inputs import InputId, InputKind
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Acknowledge, Deny, Inquire, Pending, Submit
from holdfast.wire.presence import Who

GONE = SessionUnreachable(SESSION, "it hung up")

PENDING = Pending(
    ticket=7,
    actor=US,
    kind=InputKind.START,
    epoch=NO_EPOCH,
    digest=bytes(32),
    size=4,
    excerpt=b"make",
    rule="ask",
    program="",
    runs="",
    uses=(),
    preview=None,
)


def begun() -> tuple[StartWait, Submit]:
    wait = StartWait(view(), b"make", 60, 0)
    wait.linked(0)
    (sent,) = wait.hear(attached(), 0)
    assert isinstance(sent, Submit)
    assert (sent.kind, sent.payload) == (InputKind.START, b"make")
    return wait, sent


def test_it_is_over_when_the_command_has_begun() -> None:
    wait, _ = begun()
    wait.hear(presence(), 1)
    assert wait.tick(1) == []
    assert wait.next_deadline(1) == 60
    wait.hear(Acknowledge(CLIENT, 1, Index(3), None), 2)

    assert wait.result


def test_a_refusal_is_told() -> None:
    wait, _ = begun()

    with pytest.raises(DeniedByOperator):
        wait.hear(
            refusal(DeniedByOperator("bob"), FrameKind.SUBMIT, InputId(CLIENT, 1)),
            1,
        )


def test_the_successor_is_asked_under_the_same_id() -> None:
    wait, sent = begun()
    wait.cut(GONE, 1)
    wait.linked(1)

    assert wait.hear(attached(), 1) == [sent]
    with pytest.raises(SessionUnreachable):
        wait.cut(GONE, 60)


def withdrawn(wait: StartWait) -> None:
    """Have it hear that it was withdrawn, and demand that it is over then."""
    refuse = refusal(DeniedByOperator(US), FrameKind.SUBMIT, InputId(CLIENT, 1))
    with pytest.raises(ApprovalTimeout):
        wait.hear(refuse, 6)
    assert wait.last_acts() == []


def test_what_nobody_wants_any_more_is_withdrawn_and_we_hear_of_it() -> None:
    wait, _ = begun()
    assert wait.hear(PENDING, 1) == []
    wait.give_up(5)

    assert wait.tick(5) == [Deny(7, bytes(32))]

    assert wait.tick(5.1) == []
    assert wait.hear(presence(), 5.2) == []
    withdrawn(wait)


def test_it_is_withdrawn_as_soon_as_it_is_known_to_wait() -> None:
    wait, _ = begun()
    wait.give_up(5)
    assert wait.tick(5) == []
    assert wait.next_deadline(5) == 5 + WITHDRAWAL

    assert wait.hear(PENDING, 5.1) == [Deny(7, bytes(32))]

    withdrawn(wait)


def test_nobody_waits_for_ever_for_what_cannot_be_withdrawn() -> None:
    wait, _ = begun()
    wait.give_up(5)
    assert wait.tick(5) == []

    with pytest.raises(ApprovalTimeout):
        wait.tick(5 + WITHDRAWAL)
    with pytest.raises(SessionUnreachable):
        wait.cut(GONE, 5 + WITHDRAWAL)


def test_it_is_withdrawn_from_a_successor_that_asks_anew() -> None:
    wait, sent = begun()
    wait.hear(PENDING, 1)
    wait.give_up(5)
    wait.tick(5)
    wait.cut(GONE, 5.1)
    wait.linked(5.2)

    assert wait.hear(attached(), 5.2) == [sent]
    assert wait.tick(5.2) == []
    assert wait.hear(PENDING, 5.3) == [Deny(7, bytes(32))]


def test_who_is_interrupted_withdraws_it_before_the_link_is_closed() -> None:
    wait, _ = begun()
    farewell = wait.leave(5)
    assert farewell is not None
    assert farewell.begin(5) == [Inquire(CLIENT, 1)]
    assert farewell.hear(PENDING, 5.1) == []

    sent = farewell.tick(5 + LAST_ANSWERS) or farewell.tick(9 + SIGNATURE)

    assert sent == [Deny(7, bytes(32)), Who()]


def test_what_does_not_wait_is_not_withdrawn() -> None:
    wait, _ = begun()

    assert wait.last_acts() == []
