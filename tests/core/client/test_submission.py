import pytest
from tests.cli.support.operating import US, waiting
from tests.core.client import world
from tests.core.signing import ANNA, KEY

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.signing import CADENCE, Pen
from holdfast.core.client.submission import (
    MAX_TRIES,
    TAKING_PATIENCE,
    Patience,
    Submission,
)
from holdfast.core.client.timeouts import GREETING, RETRY, WITHDRAWAL
from holdfast.model.errors import (
    ApprovalPending,
    Busy,
    HoldfastError,
    InputGap,
    NotYourTurn,
    OutcomeUnknown,
    SessionUnreachable,
    StaleEpoch,
)
from holdfast.model.ids import ActorId, ClientId, Epoch, Index, SessionId
from holdfast.model.inputs import MAX_INPUT, InputId, InputKind
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Acknowledge, Deny, Submit, TurnPassed
from holdfast.wire.signatures import Sign

SESSION = SessionId("s_" + "a" * 16)
CLIENT = ClientId("c_" + "a" * 16)


def held() -> Attachment:
    view = Attachment(SESSION, CLIENT, bytes(32))
    view.us = US
    view.heard(waiting(actor=US))
    return view


def test_what_waits_for_nobody_has_its_own_time() -> None:
    patience = Patience(5)

    assert patience.look(Attachment(SESSION, CLIENT, bytes(32)), 4) == []
    assert patience.deadline == 5


def test_an_approval_is_waited_for_longer_than_the_terminal() -> None:
    patience, view = Patience(5, 30), held()

    assert patience.look(view, 0) == []
    assert patience.deadline == 5
    assert patience.look(view, 29) == []
    assert patience.deadline == 29 + TAKING_PATIENCE


def test_what_nobody_approves_is_taken_back_once() -> None:
    patience, view = Patience(5, 30), held()
    patience.look(view, 1)

    assert patience.look(view, 30.9) == []
    assert patience.look(view, 31) == [Deny(3, waiting().digest)]
    assert patience.deadline == 31 + WITHDRAWAL
    assert patience.look(view, 32) == []


# ── one text made into inputs ─────────────────────────────────────────────────


GONE = SessionUnreachable(SESSION, "it hung up")


def acknowledged(sequence: int) -> Acknowledge:
    return Acknowledge(CLIENT, sequence, Index(sequence), None)


def sent(payload: bytes = b"ls\r", approval: float = 30) -> tuple[Submission, Submit]:
    made = Submission(world.view(), InputKind.KEYS, payload, 5, approval)
    made.linked(0)
    (first,) = made.hear(world.attached(end=7), 0)
    assert isinstance(first, Submit)
    return made, first


def test_what_is_long_goes_in_pieces_one_after_the_other() -> None:
    made, first = sent(b"x" * (MAX_INPUT + 1))

    assert len(first.payload) == MAX_INPUT
    (second,) = made.hear(acknowledged(1), 1)
    assert isinstance(second, Submit)
    assert (second.sequence, second.payload) == (2, b"x")
    assert made.result is None
    assert made.hear(acknowledged(2), 2) == []
    assert made.result == 7


def test_a_piece_that_is_refused_stops_the_rest() -> None:
    made, _ = sent(b"x" * (MAX_INPUT + 1))

    no = refusal(NotYourTurn("robo", 1), FrameKind.SUBMIT, InputId(CLIENT, 1))

    with pytest.raises(NotYourTurn):
        made.hear(no, 0)


def test_an_input_keeps_its_id_on_another_link() -> None:
    made, first = sent()
    made.cut(GONE, 1)
    made.linked(1)

    assert made.hear(world.attached(end=99), 1) == [first]
    made.hear(acknowledged(1), 1)
    assert made.result == 7


def test_what_was_sent_is_never_said_not_to_have_been() -> None:
    made, _ = sent()

    made.cut(GONE, 4.9)
    with pytest.raises(OutcomeUnknown) as told:
        made.tick(5)
    assert told.value.facts == {"client": CLIENT, "sequence": 1}
    with pytest.raises(OutcomeUnknown):
        made.cut(GONE, 5)


def test_without_any_link_nothing_was_sent() -> None:
    made = Submission(world.view(), InputKind.KEYS, b"ls", 5)

    assert made.dials(0) == GREETING
    with pytest.raises(SessionUnreachable):
        made.cut(GONE, 0)


def test_a_link_to_a_successor_has_the_time_that_is_left() -> None:
    made, _ = sent()

    assert made.dials(3) == 2
    assert made.dials(9) == RETRY


def test_what_there_was_no_room_for_is_sent_again_now_and_then() -> None:
    made, first = sent()
    made.hear(refusal(Busy(9, 8), FrameKind.SUBMIT, InputId(CLIENT, 1)), 0)

    assert made.next_deadline(0) == RETRY
    assert made.tick(RETRY) == [first]
    assert made.tick(RETRY * 1.5) == []
    assert made.tick(RETRY * 2) == [first]


def test_what_nobody_approves_and_cannot_be_taken_back_waits_on() -> None:
    made, _ = sent()
    made.attachment.us = US
    assert made.hear(waiting(actor=US), 0) == []
    made.tick(0)

    assert [type(one) for one in made.tick(30)] == [Deny]
    with pytest.raises(ApprovalPending):
        made.tick(30 + WITHDRAWAL)


def test_what_was_sent_is_signed_once_the_book_has_it() -> None:
    made, _ = sent(b"x" * (MAX_INPUT + 1))
    assert made.wants_pen()
    made.take_pen(Pen(KEY, ANNA))
    assert not made.wants_pen()

    made.hear(acknowledged(1), 0)
    due = made.next_deadline(0)

    assert due <= RETRY
    assert [type(one) for one in made.tick(CADENCE)] == [Sign]


def submitting() -> tuple[Submission, Submit]:
    made = Submission(world.view(), InputKind.KEYS, b"ls", 5)
    made.linked(0)
    (sent,) = made.hear(world.attached(), 0)
    assert isinstance(sent, Submit)
    return made, sent


def refused(error: HoldfastError, sequence: int = 1) -> Message:
    return refusal(error, FrameKind.SUBMIT, InputId(CLIENT, sequence))


def passed(holder: ActorId, epoch: int) -> TurnPassed:
    return TurnPassed(
        former=ActorId(""),
        holder=holder,
        epoch=Epoch(epoch),
        reason="taken",
        dropped_inputs=0,
        dropped_bytes=0,
    )


def test_what_our_own_doings_have_made_stale_is_submitted_again_some_times() -> None:
    made, sent = submitting()
    for epoch in range(1, MAX_TRIES):
        made.hear(passed(ActorId(""), epoch), 0)
        stale = StaleEpoch(epoch - 1, "", epoch)
        (again,) = made.hear(refused(stale, epoch), 0)
        assert isinstance(again, Submit)
        assert (again.sequence, again.epoch) == (epoch + 1, Epoch(epoch))
        assert again.payload == sent.payload
    made.hear(passed(ActorId(""), MAX_TRIES), 0)

    with pytest.raises(StaleEpoch):
        made.hear(refused(StaleEpoch(3, "", 4), MAX_TRIES), 0)


@pytest.mark.parametrize(("holder", "epoch"), [(world.OTHER, 1), (world.NOBODY, 2)])
def test_what_somebody_else_may_have_made_stale_is_not(
    holder: ActorId, epoch: int
) -> None:
    made, _ = submitting()
    made.hear(passed(holder, epoch), 0)

    with pytest.raises(StaleEpoch):
        made.hear(refused(StaleEpoch(0, "", epoch)), 0)


def test_what_follows_an_input_that_was_not_counted_is_numbered_anew() -> None:
    view = world.view()
    view.heard(world.attached())
    view.submit(InputKind.ANSWER, b"secret")
    view.answered(refused(NotYourTurn("bob", 1)))
    made = Submission(view, InputKind.KEYS, b"ls", 5)
    made.linked(0)
    (sent,) = made.hear(world.attached(), 0)
    assert isinstance(sent, Submit)
    assert sent.sequence == 2

    (again,) = made.hear(refused(InputGap(CLIENT, 1, 2), 2), 0)

    assert isinstance(again, Submit)
    assert (again.sequence, again.payload) == (1, b"ls")


def test_nothing_to_type_is_done_as_soon_as_we_are_attached() -> None:
    made = Submission(world.view(), InputKind.KEYS, b"", 5)
    made.linked(0)

    assert made.hear(world.attached(), 0) == []
    assert made.result == 10


def test_what_is_lost_with_its_link_is_not_known() -> None:
    gone = SessionUnreachable(SESSION, "it hung up")
    made, _ = submitting()

    assert isinstance(made.lost(gone), OutcomeUnknown)
    assert Submission(world.view(), InputKind.KEYS, b"ls", 5).lost(gone) is gone
