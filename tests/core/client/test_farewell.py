from tests.core.client.world import CLIENT, NOBODY, attached, presence, view
from tests.core.signing import ANNA, KEY

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.farewell import Farewell
from holdfast.core.client.signing import Pen
from holdfast.model.errors import AskedTooOften
from holdfast.model.ids import Index
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Acknowledge, Drop, Inquire
from holdfast.wire.presence import Who
from holdfast.wire.signatures import Sign, Signed

PEN = Pen(KEY, ANNA)
ACK = Acknowledge(CLIENT, 1, Index(3), None)


def typed() -> Attachment:
    attachment = view()
    attachment.heard(attached())
    attachment.submit(InputKind.KEYS, b"ls\r")
    return attachment


def test_who_sent_nothing_leaves_at_once() -> None:
    farewell = Farewell(view(), None, list, 0)

    assert farewell.begin(0) == []
    assert farewell.is_over


def test_who_left_before_anything_was_sent_may_sign_later() -> None:
    attachment = view()
    Farewell(attachment, None, list, 0).begin(0)
    attachment.heard(attached())

    attachment.submit(InputKind.KEYS, b"ls\r")
    attachment.answered(ACK)

    assert attachment.signing.sign(PEN) is not None


def test_answers_are_heard_and_then_signed() -> None:
    farewell = Farewell(typed(), PEN, list, 0)

    assert farewell.begin(0) == [Inquire(CLIENT, 1)]
    assert farewell.hear(presence(NOBODY), 0) == []
    (said,) = farewell.hear(ACK, 0.1)
    assert isinstance(said, Sign)
    assert farewell.tick(0.2) == []
    assert farewell.hear(presence(NOBODY), 0.2) == []
    assert not farewell.is_over
    assert farewell.hear(Signed(CLIENT, 1), 0.3) == []
    assert farewell.is_over


def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    farewell = Farewell(typed(), PEN, list, 0)
    farewell.begin(0)

    assert farewell.deadline == timeouts.LAST_ANSWERS
    assert farewell.tick(timeouts.LAST_ANSWERS) == []
    assert farewell.is_over


def test_a_statement_that_nobody_confirms_is_not_waited_for() -> None:
    farewell = Farewell(typed(), PEN, list, 0, slowness=5)
    farewell.begin(0)
    farewell.hear(ACK, 0)

    assert farewell.deadline == 5 * timeouts.SIGNATURE
    farewell.tick(5 * timeouts.SIGNATURE)
    assert farewell.is_over


def test_without_a_key_nothing_is_signed() -> None:
    farewell = Farewell(typed(), None, list, 0)
    farewell.begin(0)

    assert farewell.hear(ACK, 0) == []
    assert farewell.is_over


def test_a_statement_that_came_too_often_is_left() -> None:
    farewell = Farewell(typed(), PEN, list, 0)
    farewell.begin(0)
    farewell.hear(ACK, 0)

    farewell.hear(refusal(AskedTooOften("sign", 1000), FrameKind.SIGN), 0)

    assert farewell.is_over


def test_a_statement_on_its_way_is_waited_for_and_not_made_twice() -> None:
    attachment = typed()
    attachment.heard(ACK)
    attachment.answered(ACK)
    attachment.signing.sign(PEN)
    farewell = Farewell(attachment, PEN, list, 0)

    assert farewell.begin(0) == []
    assert not farewell.is_over
    farewell.hear(Signed(CLIENT, 1), 0)
    assert farewell.is_over


def test_the_last_acts_are_done_and_heard_of() -> None:
    farewell = Farewell(view(), None, lambda: [Drop(), Who()], 0)

    assert farewell.begin(0) == [Drop(), Who()]
    assert farewell.hear(ACK, 0) == []
    assert not farewell.is_over
    farewell.hear(presence(NOBODY), 0)
    assert farewell.is_over


def test_acts_that_nobody_confirms_are_not_waited_for() -> None:
    farewell = Farewell(view(), None, lambda: [Drop(), Who()], 0, slowness=5)
    farewell.begin(1)

    assert farewell.deadline == 1 + 5 * timeouts.DROP
    assert farewell.tick(5 * timeouts.DROP) == []
    assert not farewell.is_over
    assert farewell.tick(1 + 5 * timeouts.DROP) == []
    assert farewell.is_over
