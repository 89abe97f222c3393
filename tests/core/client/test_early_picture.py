import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.client.world import attached, view

from holdfast.core.client.cleared_screen import cleared
from holdfast.core.client.early_picture import UNUSUAL, EarlyPicture
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import Incarnation
from holdfast.wire import first_messages as first
from holdfast.wire.codec import Message, encode, refusal
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Cells,
    Exited,
    Gap,
    Goodbye,
    Keyframe,
    Output,
    Ping,
    Resized,
    State,
)


def frames(*messages: Message) -> list[tuple[int, bytes]]:
    return first.frames_in(bytearray(b"".join(map(encode, messages))))


def keyframe(offset: int, data: bytes, *, more: bool = False) -> Keyframe:
    return Keyframe(offset=offset, size=Cells(80, 3), more=more, data=data)


def begun(end: int = 10) -> EarlyPicture:
    made = EarlyPicture()
    made.hear(frames(attached(end=end)))
    return made


parts = st.one_of(
    st.builds(Output, st.integers(0, 20), st.binary(min_size=1, max_size=20)),
    st.builds(keyframe, st.integers(0, 20), st.binary(max_size=9), more=st.booleans()),
    st.builds(lambda end: Gap(0, end), st.integers(0, 20)),
    st.just(State("running", Incarnation(1))),
    st.just(Resized(3, Cells(10, 10))),
)


@given(st.lists(parts, max_size=8))
def test_i1_what_is_painted_is_what_an_attachment_prints(told: list[Message]) -> None:
    attachment, picture = view(), EarlyPicture()
    everything = [attached(), *told]

    printed = b"".join(map(attachment.heard, everything))

    assert picture.hear(frames(*everything)) == printed


def test_how_things_stand_is_known_first() -> None:
    picture = begun()

    assert picture.attached is not None
    assert picture.attached["name"] == "web"
    assert not picture.is_whole


def test_a_keyframe_is_whole_with_its_last_part() -> None:
    picture = begun()

    assert picture.hear(frames(keyframe(10, b"ab", more=True))) == cleared(3) + b"ab"
    assert not picture.is_whole
    assert picture.hear(frames(keyframe(10, b"cd"))) == b"cd"
    assert picture.is_whole


def test_a_stream_is_whole_at_the_place_where_it_ended_when_we_came() -> None:
    picture = begun()

    picture.hear(frames(Output(0, b"123456789")))
    assert not picture.is_whole
    picture.hear(frames(Output(9, b"0")))
    assert picture.is_whole


def test_what_is_lost_of_a_stream_counts_as_seen() -> None:
    picture = begun()

    assert picture.hear(frames(Gap(0, 9), Output(8, b"90"))) == b"0"
    assert picture.is_whole


def test_what_changes_nothing_on_the_screen_is_passed_over() -> None:
    told = (State("running", Incarnation(1)), Resized(3, Cells(10, 10)))

    assert begun().hear(frames(*told, Output(0, b"x"))) == b"x"


def test_a_session_that_has_printed_nothing_is_whole_at_once() -> None:
    assert begun(end=0).is_whole


@pytest.mark.parametrize(
    "message",
    [
        Ping(1),
        Goodbye("over", ""),
        Exited(0),
        refusal(NotAllowed("a_", "observe"), FrameKind.ATTACH),
    ],
    ids=lambda message: type(message).__name__,
)
def test_what_has_to_be_seen_to_is_not_passed_over(message: Message) -> None:
    assert frames(message)[0][0] in UNUSUAL
    with pytest.raises(NotOneOfThese):
        begun().hear(frames(Output(0, b"x"), message))
    with pytest.raises(NotOneOfThese):
        EarlyPicture().hear(frames(message))


def test_fields_of_the_wrong_type_are_not_painted() -> None:
    payload = first.frame(
        first.KEYFRAME, {"offset": "", "size": {}, "more": 1, "data": ""}
    )

    with pytest.raises(NotOneOfThese):
        begun().hear([(first.KEYFRAME, payload[first.HEADER :])])
