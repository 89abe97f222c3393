from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.client.world import SESSION, US, attached

from holdfast.core.client.early_link import EarlyLink
from holdfast.core.client.holder_link import Credentials, HolderLink
from holdfast.wire.codec import Message, encode
from holdfast.wire.evidence import StateRequest
from holdfast.wire.first_messages import ATTACHED, NotOneOfThese
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Challenge,
    ClientKind,
    Goodbye,
    Output,
    Ping,
    Welcome,
)

NONCE = b"n" * 32
REQUEST = encode(StateRequest())


def early() -> EarlyLink:
    return EarlyLink(US, bytes.upper, REQUEST)


def said(*messages: Message) -> bytes:
    return b"".join(map(encode, messages))


@given(st.lists(st.integers(1, 40), max_size=6))
def test_i1_what_is_said_is_what_the_ordinary_link_says(cuts: Sequence[int]) -> None:
    ordinary = HolderLink(SESSION, Credentials(US, ClientKind.CLI, bytes.upper))
    link = early()
    stream = said(Welcome(1, "holder"), Challenge(NONCE))
    expected = ordinary.hello() + ordinary.feed(stream) + REQUEST

    sent = link.hello()
    for cut in (*cuts, len(stream)):
        piece, stream = stream[:cut], stream[cut:]
        if piece:
            sent += link.hear(piece)[0]

    assert sent == bytes(link.said) == expected
    assert link.is_greeted
    assert b"".join(link.heard) == said(Welcome(1, "holder"), Challenge(NONCE))


def test_frames_are_handed_on_once_we_have_said_who_we_are() -> None:
    link = early()
    link.hear(said(Welcome(1, "holder"), Challenge(NONCE)))

    answer, frames = link.hear(said(attached(), Output(0, b"x")))

    assert answer == b""
    assert [kind for kind, _ in frames] == [ATTACHED, FrameKind.OUTPUT]


@pytest.mark.parametrize(
    "messages",
    [
        [Challenge(NONCE)],
        [Welcome(2, "newer")],
        [Welcome(1, "holder"), Welcome(1, "holder")],
        [Goodbye("no-common-version", "1")],
        [Ping(1)],
        [Welcome(1, "holder"), Ping(1)],
        [Welcome(1, "holder"), attached()],
        [Welcome(1, "holder"), Challenge(NONCE), Ping(1)],
    ],
    ids=lambda messages: "-".join(type(one).__name__ for one in messages),
)
def test_i2_nothing_is_said_to_what_is_unusual(messages: list[Message]) -> None:
    link = early()
    hello = link.hello()

    with pytest.raises(NotOneOfThese):
        link.hear(said(*messages))

    assert link.said == hello
    assert link.heard == [said(*messages)]
