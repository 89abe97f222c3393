import math

import pytest
from tests.core.client.world import (
    CLIENT,
    NOBODY,
    SESSION,
    US,
    attached,
    command,
    evidence,
    presence,
    view,
)
from tests.core.signing import ANNA, KEY

from holdfast.core.client import questions, timeouts
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.command_output import Ran
from holdfast.core.client.command_run import CommandRun, Wish
from holdfast.core.client.exchange import AttachedInquiry
from holdfast.core.client.questions import NO_CLIENT
from holdfast.core.client.signing import Pen
from holdfast.core.client.standing_link import MAX_NOTED, Passenger, StandingLink
from holdfast.core.client.submission import Submission
from holdfast.model.errors import (
    HoldfastError,
    OutcomeUnknown,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import ActorId, ClientId, Epoch, Index
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import Message, refusal
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Acknowledge,
    Drop,
    Event,
    Exited,
    Inquire,
    Output,
    Submit,
    TurnPassed,
)
from holdfast.wire.presence import Who
from holdfast.wire.signatures import Sign, Signed

RUNNER = ClientId("c_" + "b" * 16)
GONE = SessionUnreachable(SESSION, "it hung up")


def passed(holder: ActorId) -> TurnPassed:
    return TurnPassed(
        former=NOBODY,
        holder=holder,
        epoch=Epoch(1),
        reason="taken",
        dropped_inputs=0,
        dropped_bytes=0,
    )


def over(_: object) -> None:
    pass


def arrive(link: StandingLink, now: float = 0) -> list[Message]:
    """Attach; the first time it asks where to begin."""
    first = link.linked(now)
    if first == [CommandRequest(NO_CLIENT)]:
        link.hear(CommandReport("prompt", None), now)
    return link.hear(attached(), now)


def standing() -> StandingLink:
    link = StandingLink(view())
    assert arrive(link) == []
    return link


def typing(
    link: StandingLink, text: bytes = b"ls\r", timeout: float = 5
) -> Passenger[int]:
    made = Submission(link.attachment, InputKind.KEYS, text, timeout)
    passenger: Passenger[int] = Passenger(lambda _: made, over)
    link.join(passenger)
    return passenger


def asking(link: StandingLink) -> Passenger[Evidence]:
    question = questions.state()
    passenger: Passenger[Evidence] = Passenger(
        lambda now: AttachedInquiry(link.attachment, question, now), over, asks=True
    )
    link.join(passenger)
    return passenger


def running(link: StandingLink) -> Passenger[Ran]:
    attachment = Attachment(SESSION, RUNNER, bytes(32))
    run = CommandRun(attachment, b"make", Wish(100), now=0, deadline=100)
    passenger: Passenger[Ran] = Passenger(lambda _: run, over)
    link.join(passenger)
    return passenger


def ack(client: ClientId = CLIENT, sequence: int = 1) -> Acknowledge:
    return Acknowledge(client, sequence, Index(3), None)


def test_a_guest_waits_until_we_are_attached() -> None:
    link = StandingLink(view())
    passenger = typing(link)
    assert not link.is_attached
    assert link.deadline(0) == math.inf

    (sent,) = arrive(link)

    assert link.is_attached
    assert isinstance(sent, Submit)
    assert link.hear(ack(), 1) == []
    assert passenger.is_over
    assert passenger.exchange is not None
    assert passenger.exchange.result == 10


def test_inputs_go_side_by_side_and_each_hears_its_own_answer() -> None:
    link = standing()
    passengers = typing(link), typing(link)
    assert len(link.tick(0)) == 2

    link.hear(ack(sequence=2), 1)

    assert [one.is_over for one in passengers] == [False, True]


def test_what_is_begun_later_begins_where_the_stream_is_by_then() -> None:
    link = standing()
    link.hear(Output(10, b"four"), 0)
    passenger = typing(link)
    link.tick(0)
    link.hear(ack(), 0)

    assert passenger.exchange is not None
    assert passenger.exchange.result == 14


def test_one_question_is_asked_at_a_time() -> None:
    link = standing()
    first, second = asking(link), asking(link)

    assert link.tick(0) == [StateRequest()]
    assert link.tick(1) == []
    assert link.hear(evidence("running"), 2) == [StateRequest()]
    assert (first.is_over, second.is_over) == (True, False)
    assert link.deadline(2) == 2 + timeouts.ANSWER


def test_a_question_that_nobody_wants_is_still_waited_for() -> None:
    link = standing()
    first, second, third = asking(link), asking(link), asking(link)
    link.tick(0)
    first.give_up()
    second.give_up()

    assert (first.is_over, second.is_over, third.is_over) == (False, True, False)
    assert link.tick(0) == []
    assert link.hear(evidence("running"), 1) == [StateRequest()]
    assert first.is_over


def test_an_input_that_nobody_waits_for_is_not_taken_back() -> None:
    link = standing()
    passenger = typing(link)
    link.tick(0)
    passenger.give_up()

    assert passenger.is_over
    assert link.attachment.open


def test_what_has_no_answer_goes_on_with_the_next_link() -> None:
    link = standing()
    typed, asked, waits = typing(link), asking(link), asking(link)
    (submit, _) = link.tick(0)
    link.cut(GONE, 1)
    assert not link.is_attached
    assert link.dials(1) == 4

    assert arrive(link, 2) == [submit, StateRequest()]
    assert not any(one.is_over for one in (typed, asked, waits))


def test_a_link_may_take_its_time_whatever_a_guest_waits_for() -> None:
    link = standing()
    typing(link, timeout=1)
    link.tick(0)
    link.cut(GONE, 0.95)

    link.linked(0.95)

    assert link.next_deadline(0.95) == 0.95 + timeouts.GREETING


def test_a_guest_whose_time_is_over_fails_by_itself() -> None:
    link = standing()
    short, long = typing(link, timeout=1), typing(link, timeout=9)
    link.tick(0)
    link.cut(GONE, 2)

    assert isinstance(short.error, OutcomeUnknown)
    assert not long.is_over
    assert arrive(link, 2)
    link.tick(9)
    assert isinstance(long.error, OutcomeUnknown)


def test_when_there_is_no_link_any_more_everybody_is_told() -> None:
    link = standing()
    sent, ran = typing(link), running(link)
    link.tick(0)
    late = asking(link)
    link.dials(1)
    with pytest.raises(SessionUnreachable):
        link.cut(GONE, 1 + timeouts.LOSS)

    link.fail(GONE)

    assert isinstance(sent.error, OutcomeUnknown)
    assert late.error is ran.error is GONE
    assert all(one.is_over for one in (sent, ran, late))


def test_nobody_takes_the_place_of_a_holder_whose_session_has_ended() -> None:
    link = standing()
    link.hear(Exited(0), 0)

    assert link.has_ended
    with pytest.raises(SessionUnreachable):
        link.cut(GONE, 0)


def test_what_the_holder_tells_of_by_itself_is_kept_and_not_for_ever() -> None:
    link = standing()
    for number in range(MAX_NOTED + 1):
        link.hear(Event("listener.gone", SESSION, {"port": number}), 0)

    assert [one.fields["port"] for one in link.noted] == [*range(1, MAX_NOTED + 1)]


def test_it_leaves_when_it_is_told_to_and_signs() -> None:
    link = standing()
    assert not link.wants_pen()
    typing(link)
    link.tick(0)
    assert link.wants_pen()
    link.take_pen(Pen(KEY, ANNA))
    link.hear(ack(), 0)
    link.close()

    farewell = link.leave(0)

    assert link.result
    assert farewell is not None
    assert isinstance(farewell.begin(0)[0], Sign)


# ── a command, which is a client of its own ───────────────────────────────


def typed(link: StandingLink) -> Passenger[Ran]:
    passenger = running(link)
    (sent,) = link.tick(0)
    assert isinstance(sent, Submit)
    assert sent.client == RUNNER
    assert link.hear(ack(RUNNER), 0) == [CommandRequest(RUNNER)]
    return passenger


def ended(link: StandingLink) -> None:
    link.hear(Output(10, b"0123456789hi"), 1)
    link.hear(CommandReport("prompt", command(20, 22)), 1)


def test_a_command_is_typed_by_a_client_of_its_own_on_the_same_link() -> None:
    link = standing()
    passenger = typed(link)
    ended(link)

    assert passenger.is_over
    assert passenger.exchange is not None
    assert passenger.exchange.result is not None
    assert passenger.exchange.result.output == b"hi"


def test_a_command_signs_for_itself_and_drops_the_turn_it_took() -> None:
    link = standing()
    passenger = running(link)
    asked = asking(link)
    link.tick(0)
    assert link.wants_pen()
    link.take_pen(Pen(KEY, ANNA))
    taken = passed(US)
    link.hear(taken, 0)
    sent = link.hear(ack(RUNNER), 0)
    assert [type(one) for one in sent] == [CommandRequest, Sign]
    ended(link)
    assert link.hear(Signed(RUNNER, 1), 1) == []  # Its leaving asks, and so it waits.
    assert link.deadline(1) == timeouts.ANSWER

    assert link.hear(evidence("running"), 1) == [Drop(), Who()]
    assert asked.is_over
    assert not passenger.is_over
    assert link.deadline(1) == 1 + timeouts.DROP
    link.hear(presence(NOBODY), 1)
    assert passenger.is_over


def test_a_drop_that_nobody_confirms_is_not_waited_for() -> None:
    link = standing()
    passenger = typed(link)
    link.hear(passed(US), 0)
    ended(link)

    link.tick(1 + timeouts.DROP)

    assert passenger.is_over


def test_a_command_goes_on_with_the_next_link_under_its_id() -> None:
    link = standing()
    passenger = running(link)
    (sent,) = link.tick(0)
    link.cut(GONE, 1)

    assert arrive(link, 1) == [sent]
    assert not passenger.is_over


def test_a_command_that_is_leaving_when_the_link_breaks_is_over() -> None:
    link = standing()
    passenger = typed(link)
    asking(link)
    link.tick(0)
    ended(link)
    assert not passenger.is_over
    assert link.tick(1) == []

    link.cut(GONE, 1)

    assert passenger.is_over
    assert passenger.error is None


def test_a_command_that_is_leaving_when_there_is_no_link_has_come_to_its_end() -> None:
    link = standing()
    passenger = typed(link)
    asking(link)
    link.tick(0)
    ended(link)
    link.fail(GONE)

    assert passenger.is_over
    assert passenger.error is None


def test_a_command_that_nobody_waits_for_leaves_first() -> None:
    link = standing()
    passenger = running(link)
    link.tick(0)
    passenger.give_up()

    assert not passenger.is_over
    assert link.tick(0) == [Inquire(RUNNER, 1)]
    link.hear(ack(RUNNER), 0.1)
    assert passenger.is_over


def test_a_holder_of_older_code_takes_no_other_client_s_inputs() -> None:
    link = standing()
    passenger = running(link)
    other = typing(link)
    link.tick(0)
    unserved: HoldfastError = UnexpectedMessage("Submit", "it is not served")
    link.hear(refusal(unserved, FrameKind.GOODBYE), 0)
    link.tick(timeouts.LAST_ANSWERS)

    assert isinstance(passenger.error, UnexpectedMessage)
    assert passenger.is_over
    assert not other.is_over
