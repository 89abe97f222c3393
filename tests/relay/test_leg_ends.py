"""How a connection to a relay ends, if its other end does nothing for that."""

import asyncio

import pytest
from tests.relay.relay_world import ANNA, Peer, Relay, story, until

from holdfast.relay import leg as legs
from holdfast.relay.caller import Caller
from holdfast.wire import relay_messages as wire

PIECE = bytes(32 * 1024)


def transport_of(peer: Peer) -> asyncio.Transport:
    found = peer.leg._transport  # noqa: SLF001  # what the loop gave it
    assert found is not None
    return found


def test_who_does_not_answer_a_farewell_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legs, "CLOSE_SECONDS", 0.05)

    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        host.talk.transport.pause_reading()
        host.leg.close(4000, "slow-peer")

        await until(lambda: relay.number("links") == 0)

    story(tell)


def test_who_asks_for_a_page_and_never_hangs_up_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(legs, "CLOSE_SECONDS", 0.05)
    monkeypatch.setattr(legs, "UNPROVEN_SECONDS", 600.0)

    async def tell(relay: Relay) -> None:
        _, far = relay.enter()
        with far:
            far.sendall(b"GET /nothing HTTP/1.1\r\nHost: relay.example\r\n\r\n")
            await until(lambda: relay.number("links") == 1)

            await until(lambda: relay.number("links") == 0)
            assert far.recv(12) == b"HTTP/1.1 404"

    story(tell)


def test_who_takes_nothing_and_is_sent_more_and_more_is_cut() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        host.talk.transport.pause_reading()
        transport = transport_of(host)
        while transport.get_write_buffer_size() + len(PIECE) < legs.HARD_LIMIT - 64:
            host.leg.send(PIECE)
        assert relay.number("links") == 1
        assert not transport.is_closing()
        for _ in range(2):
            host.leg.send(PIECE)

        assert transport.is_closing()
        await until(lambda: relay.number("links") == 0)

    story(tell)


def test_nothing_more_is_written_where_the_end_has_begun() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        host.talk.transport.pause_reading()
        transport = transport_of(host)
        while not transport.get_write_buffer_size():
            host.leg.send(PIECE)
        transport.close()
        waiting = transport.get_write_buffer_size()
        assert waiting > 0

        host.leg.send(b"too late")

        assert transport.get_write_buffer_size() == waiting
        host.talk.transport.abort()

    story(tell)


def test_a_leg_that_is_not_connected_yet_writes_nothing() -> None:
    async def tell(relay: Relay) -> None:
        leg = relay.peers.enter(Caller("192.0.2.1", "192.0.2.1"))
        assert leg is not None
        leg.hold()
        leg.flush_passed_on()

        assert not leg.is_held
        leg.abort()

    story(tell)


def test_what_is_passed_on_to_a_partner_that_takes_leave_is_dropped() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        operator = await relay.operator()
        met = await relay.joined(host, operator)
        await operator.talk.send(b"before")
        async with asyncio.timeout(20):
            assert await met.talk.recv() == b"before"
        assert operator.leg.passed_on == len(b"before")
        met.leg.close(4000, "slow-peer")
        await operator.talk.send(b"after")

        assert await met.ended() == (4000, "slow-peer")

    story(tell)


def test_a_host_that_vanishes_without_a_word_is_gone() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        host.talk.transport.abort()

        await until(lambda: relay.number("links") == 0)
        operator = await relay.operator()
        assert isinstance(await operator.hear(), wire.Refused)

    story(tell)


def test_leave_is_taken_of_everybody_also_where_nobody_was_left_before() -> None:
    async def tell(relay: Relay) -> None:
        first = await relay.host()
        await first.talk.close()
        await until(lambda: relay.number("links") == 0)
        second = await relay.host()
        assert relay.number("links") == 1

        await relay.peers.dismiss()

        assert relay.number("links") == 0
        assert (await second.ended())[1] == "relay-leaving"

    story(tell)
