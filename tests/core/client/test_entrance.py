import pytest
from tests.core.client.world import US, attached, view

from holdfast.core.client.entrance import Entrance
from holdfast.model.errors import NotAllowed, UnexpectedMessage
from holdfast.model.ids import Incarnation
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Cells, Output, State


def test_what_comes_before_attached_is_kept() -> None:
    attachment = view()
    entrance = Entrance(attachment, Cells(80, 24), keyframe=True)

    assert entrance.message() == attachment.attach(Cells(80, 24), keyframe=True)
    assert entrance.hear(State("running", Incarnation(1))) is None
    assert entrance.hear(attached()) == attached()
    assert entrance.early == [State("running", Incarnation(1))]
    assert attachment.us == US


def test_a_refusal_says_why() -> None:
    with pytest.raises(NotAllowed):
        Entrance(view()).hear(refusal(NotAllowed(US, "observe"), FrameKind.ATTACH))


def test_the_stream_cannot_begin_before() -> None:
    with pytest.raises(UnexpectedMessage):
        Entrance(view()).hear(Output(0, b"x"))
