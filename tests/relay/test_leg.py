"""One connection to a relay: what it takes, passes on, and how it takes leave."""

import asyncio

import pytest
from tests.relay.relay_world import ANNA, Relay, story, until

from holdfast.wire import relay_messages as wire


def test_who_is_not_read_from_still_hears_a_farewell_and_answers_it() -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.OPERATOR)
        peer.leg.hold()
        peer.leg.hold()
        assert peer.leg.is_held
        peer.leg.close(4000, "slow-peer")
        peer.leg.close(4001, "other")

        assert not peer.leg.is_held
        assert await peer.ended() == (4000, "slow-peer")
        assert peer.leg.farewell() == "slow-peer"
        await until(lambda: relay.number("links") == 0)

    story(tell)


@pytest.mark.parametrize(
    ("reason", "told"), [("unreachable", "unreachable"), ("Oh no!\n", ""), ("", "")]
)
def test_what_the_other_end_gives_as_its_reason_is_told_if_it_is_a_code(
    reason: str, told: str
) -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.OPERATOR)
        await peer.talk.close(4000, reason)
        await until(lambda: relay.number("links") == 0)

        assert peer.leg.farewell() == told

    story(tell)


def test_text_is_no_message() -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.OPERATOR)
        await peer.talk.send("text")

        assert await peer.ended() == (1003, "unexpected-message")

    story(tell)


def test_a_message_in_pieces_is_one_message_and_empty_ones_are_nothing() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        said = wire.encode(wire.Admit(resets=True, actors=(), invites=()))
        await host.talk.send([said[:3], b"", said[3:]])
        operator = await relay.operator()

        assert isinstance(await operator.hear(), wire.Refused)

    story(tell)


def test_while_one_end_takes_nothing_the_other_is_not_read() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        operator = await relay.operator()
        met = await relay.joined(host, operator)
        met.leg.pause_writing()
        assert met.leg.stuck_at is not None
        assert operator.leg.is_held
        await operator.talk.send(b"later")
        met.leg.resume_writing()
        assert met.leg.stuck_at is None
        assert not operator.leg.is_held

        async with asyncio.timeout(20):
            assert await met.talk.recv() == b"later"

    story(tell)


def test_who_is_cut_is_gone_at_once_and_so_is_its_partner() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        operator = await relay.operator()
        met = await relay.joined(host, operator)
        operator.leg.abort()

        await met.ended()
        await until(lambda: relay.peers.pairs == 0)
        await until(lambda: relay.number("links") == 1)
        operator.leg.send(b"nobody hears that")
        operator.leg.hold()
        assert not operator.leg.is_held

    story(tell)
