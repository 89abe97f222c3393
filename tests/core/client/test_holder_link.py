import pytest
from tests.core.client.world import SESSION, US

from holdfast.core.client.early_link import PROGRAM
from holdfast.core.client.holder_link import Credentials, HolderLink
from holdfast.model.errors import (
    DetachedBy,
    HoldfastError,
    NoCommonVersion,
    NotAllowed,
    NotProven,
    SessionLeft,
    SessionStopped,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.wire.codec import Message, decode, encode, refusal
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.messages import (
    Challenge,
    ClientKind,
    Goodbye,
    Hello,
    Identify,
    Output,
    Ping,
    Pong,
    Welcome,
)
from holdfast.wire.versions import SPOKEN

NONCE = b"n" * 32


def link() -> HolderLink:
    prove = bytes.upper
    return HolderLink(SESSION, Credentials(US, ClientKind.CLI, prove))


def said(*messages: Message) -> bytes:
    return b"".join(map(encode, messages))


def heard(raw: bytes) -> list[Message]:
    return [decode(frame) for frame in FrameReader().feed(raw)]


def greeted() -> HolderLink:
    made = link()
    made.feed(said(Welcome(1, "holder"), Challenge(NONCE)))
    return made


def test_both_sides_say_who_they_are() -> None:
    made = link()

    assert heard(made.hello()) == [Hello(SPOKEN, PROGRAM, ClientKind.CLI)]
    assert made.missing == "it does not greet"
    assert made.feed(said(Welcome(1, "holder"))) == b""
    assert made.missing == "it does not ask for our identity"
    assert not made.is_greeted
    assert heard(made.feed(said(Challenge(NONCE)))) == [Identify(US, NONCE.upper())]
    assert made.is_greeted
    assert made.take() is None


def test_messages_come_in_order_however_they_are_cut() -> None:
    made = greeted()
    raw = said(Output(0, b"a"), Ping(7), Output(1, b"b"))

    answers = b"".join(made.feed(raw[at : at + 1]) for at in range(len(raw)))

    assert heard(answers) == [Pong(7)]
    assert made.has_messages
    assert [made.take(), made.take(), made.take()] == [
        Output(0, b"a"),
        Output(1, b"b"),
        None,
    ]
    assert not made.has_messages


def test_what_came_with_the_challenge_is_not_lost() -> None:
    made = link()
    made.feed(said(Welcome(1, "holder"), Challenge(NONCE), Output(0, b"a")))

    assert made.take() == Output(0, b"a")


@pytest.mark.parametrize(
    ("first", "error"),
    [
        (Welcome(9, "future"), NoCommonVersion),
        (Output(0, b"a"), UnexpectedMessage),
        (Challenge(NONCE), UnexpectedMessage),
        (Goodbye("no-common-version", "1"), NoCommonVersion),
        (Goodbye("not-allowed", "revoked"), NotAllowed),
        (Goodbye("session-over", "it is over"), SessionUnreachable),
    ],
)
def test_a_greeting_that_is_none_ends_the_link(
    first: Message, error: type[HoldfastError]
) -> None:
    with pytest.raises(error):
        link().feed(said(first))


def test_a_holder_that_welcomes_twice_talks_nonsense() -> None:
    made = link()
    made.feed(said(Welcome(1, "holder")))

    with pytest.raises(UnexpectedMessage):
        made.feed(said(Welcome(1, "holder")))


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (Goodbye("not-allowed", "revoked"), NotAllowed),
        (Goodbye("detached-by", "detached by \x1bbert"), DetachedBy),
        (Goodbye("session-stopped", "on disk as \x1bs.1"), SessionStopped),
        (Goodbye("session-moved", "where it is"), SessionLeft),
        (refusal(NotProven(US), FrameKind.IDENTIFY), NotProven),
    ],
)
def test_a_goodbye_is_heard_after_what_came_before_it(
    last: Message, error: type[HoldfastError]
) -> None:
    made = greeted()
    made.feed(said(Output(0, b"a"), last))

    assert made.take() == Output(0, b"a")
    with pytest.raises(error) as caught:
        made.take()
    assert "\x1b" not in str(caught.value)


def test_a_holder_that_hangs_up_is_gone() -> None:
    with pytest.raises(SessionUnreachable):
        greeted().feed(b"")


def test_it_is_known_whether_a_frame_begins_next() -> None:
    talk, raw = link(), said(Ping(1))
    assert talk.is_between_frames

    talk.feed(raw[:3])
    assert not talk.is_between_frames
    talk.feed(raw[3:])
    assert talk.is_between_frames
