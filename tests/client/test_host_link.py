import asyncio
import contextlib
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.client.host_link import MAX_PAGES, HostLink
from holdfast.model.errors import (
    HoldfastError,
    HostUnreachable,
    LinkEnded,
    NotAllowed,
    Revoked,
    UnexpectedMessage,
)
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Forget, ListSessions, Status
from holdfast.wire import opening
from holdfast.wire.host_requests import packet_bytes, refusal
from holdfast.wire.opening import Open, Opened

if TYPE_CHECKING:
    from holdfast.aio.channel import Sealed

HERE = SessionId("s_" + "a" * 16)
YES = opening.encode(Opened(1))


class HostSaid:
    """A sealed channel whose other end says what was written down before."""

    def __init__(self, *said: bytes) -> None:
        self.sent: list[bytes] = []
        self.peer_static = b"s" * 32
        self._said = list(said)

    async def send(self, data: bytes) -> None:
        self.sent.append(data)

    async def receive(self) -> bytes:
        return self._said.pop(0) if self._said else b""

    async def close(self, code: str = "") -> None:
        self.sent.append(code.encode())


def link_to(*said: bytes) -> tuple[HostLink, HostSaid]:
    host = HostSaid(*said)
    return HostLink("box", cast("Sealed", host)), host


def test_a_question_is_not_held_back_until_the_channel_is_open() -> None:
    link, host = link_to(YES, packet_bytes({"ok": True, "version": "1"}))

    answer = asyncio.run(link.ask(Status()))

    assert answer["version"] == "1"
    assert opening.decode(host.sent[0]) == Open(1, "host")
    assert host.sent[1] == packet_bytes({"do": "status"})


def test_a_list_comes_whole_from_its_pages() -> None:
    pages = [
        packet_bytes({"ok": True, "sessions": [number], "more": number < 2})
        for number in range(3)
    ]
    link, _ = link_to(YES, b"".join(pages))

    assert asyncio.run(link.ask(ListSessions()))["sessions"] == [0, 1, 2]


def test_t37_a_list_without_an_end_is_given_up() -> None:
    page = packet_bytes({"ok": True, "sessions": [], "more": True})
    link, _ = link_to(YES, *[page] * (MAX_PAGES + 1))

    with pytest.raises(HostUnreachable):
        asyncio.run(link.ask(ListSessions()))


def test_what_the_host_declines_or_refuses_arrives_as_that_error() -> None:
    declined, _ = link_to(opening.encode(opening.declined(Revoked("box"))))
    refused, _ = link_to(YES, packet_bytes(refusal(NotAllowed("a_x", "end"))))

    with pytest.raises(Revoked):
        asyncio.run(declined.ask(ListSessions()))
    with pytest.raises(NotAllowed):
        asyncio.run(refused.ask(Forget(HERE)))


def test_a_session_is_opened_at_once_or_after_a_question() -> None:
    fresh, said = link_to(YES, b"first bytes")
    asked, later = link_to(
        YES + b"", packet_bytes({"ok": True}), packet_bytes({"ok": True}) + b"rest"
    )

    async def both() -> tuple[bytes, bytes]:
        await fresh.open_session(HERE)
        await asked.ask(Status())
        await asked.open_session(HERE)
        return await fresh.receive(), await asked.receive()

    assert asyncio.run(both()) == (b"first bytes", b"rest")
    assert opening.decode(said.sent[0]) == Open(1, HERE)
    assert later.sent[-1] == packet_bytes({"do": "open", "session": HERE})


def test_a_host_that_hangs_up_or_talks_out_of_turn_is_noticed() -> None:
    silent, _ = link_to()
    odd, _ = link_to(opening.encode(Open(1, "host")))
    midway, _ = link_to(YES)

    for link, error in (
        (silent, LinkEnded),
        (odd, UnexpectedMessage),
        (midway, LinkEnded),
    ):
        with pytest.raises(error):
            asyncio.run(link.ask(Status()))


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_t37_no_bytes_of_a_host_raise_anything_but_our_errors(
    said: list[bytes],
) -> None:
    link, _ = link_to(YES, *said)

    with contextlib.suppress(HoldfastError):
        asyncio.run(link.ask(ListSessions()))
