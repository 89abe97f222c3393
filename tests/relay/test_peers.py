"""Everybody at a relay, each on a real connection: let in, joined, and sent away."""

import asyncio
import contextlib
from dataclasses import replace

import msgspec
import pytest
from tests.relay.relay_world import (
    ANNA,
    BERT,
    HOST,
    NAME,
    OURS,
    PATIENCE,
    PLAIN,
    Peer,
    Relay,
    story,
    until,
)
from websockets.exceptions import ConnectionClosed

from holdfast.core.relay.peer_joins import Limits
from holdfast.model.ids import HostId, actor_id, host_id, session_id
from holdfast.relay.leg import UNPROVEN_BYTES
from holdfast.wire import relay_messages as wire


def test_an_operator_is_joined_with_a_host_that_admits_it() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        operator = await relay.operator()
        met = await relay.joined(host, operator)

        await operator.talk.send(b"one")
        assert await met.talk.recv() == b"one"
        await met.talk.send([b"tw", b"o"])
        assert await operator.talk.recv() == b"two"
        assert relay.peers.pairs == 1
        assert (relay.number("pairs_total"), relay.number("links")) == (1, 3)
        await operator.talk.close(1000, "done")
        assert await met.ended() == (1000, "done")
        await until(lambda: relay.peers.pairs == 0)
        assert relay.number("bytes_total") == 6

    story(tell)


def test_whoever_is_not_admitted_hears_what_everybody_hears_of_no_host() -> None:
    async def tell(relay: Relay) -> None:
        await relay.host(ANNA)
        refused = []
        for target in (OURS, host_id(b"x" * 32), session_id(b"0123456789")):
            peer = await relay.operator(BERT, target)
            said = await peer.hear()
            assert isinstance(said, wire.Refused)
            assert await peer.ended() == (4000, said.code)
            refused.append(said.code)
        assert len({*refused}) == 1

    story(tell)


def test_a_session_leads_to_the_host_that_publishes_it() -> None:
    session = session_id(b"0123456789")

    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        await host.say(wire.Publish(resets=True, added=(session,), removed=()))
        await host.say(wire.Dismiss((), ()))
        operator = await relay.operator(target=session)
        knock = await host.hear()
        assert isinstance(knock, wire.Knock)
        assert (knock.actor, knock.target) == (actor_id(ANNA.public), session)
        await operator.talk.close()
        await host.say(wire.Dismiss((actor_id(ANNA.public),), ()))
        await host.say(wire.Publish(resets=False, added=(), removed=(session,)))
        assert isinstance(await (await relay.operator()).hear(), wire.Refused)

    story(tell)


def test_what_nobody_has_signed_proves_nothing() -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.HOST)
        await peer.hear()
        await peer.say(wire.Register(HOST.public, bytes(64)))
        said = await peer.hear()
        assert isinstance(said, wire.Refused)
        assert said.code == "not-proven"
        assert await peer.ended() == (4000, "not-proven")

    story(tell)


@pytest.mark.parametrize("role", [wire.Role.OPERATOR, wire.Role.MEET])
def test_a_proof_is_of_the_role_that_was_dialled(role: wire.Role) -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(role)
        await peer.prove(HOST, wire.Register(bytes(32), bytes(64)))
        said = await peer.hear()
        assert isinstance(said, wire.Refused)
        assert said.code == "unexpected-message"

    story(tell)


def test_an_operator_who_waits_cannot_speak_as_a_host() -> None:
    async def tell(relay: Relay) -> None:
        await relay.host(ANNA)
        operator = await relay.operator()
        await operator.say(wire.Admit(resets=True, actors=(), invites=()))
        said = await operator.hear()
        assert isinstance(said, wire.Refused)
        assert said.code == "unexpected-message"

    story(tell)


def test_a_relay_for_some_hosts_is_for_no_other() -> None:
    only = replace(PLAIN, only_hosts=frozenset({HostId(host_id(b"x" * 32))}))

    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.HOST)
        await peer.prove(HOST, wire.Register(bytes(32), bytes(64)))
        said = await peer.hear()
        assert isinstance(said, wire.Refused)
        assert said.code == "not-proven"

    story(tell, only)


def test_one_address_has_so_many_hosts_and_each_place_is_free_again() -> None:
    async def tell(relay: Relay) -> None:
        first = await relay.host()
        second = await relay.dial(wire.Role.HOST, "192.0.2.9")
        await second.prove(ANNA, wire.Register(bytes(32), bytes(64)))
        said = await second.hear()
        assert isinstance(said, wire.Refused)
        assert said.code == "relay-full"
        await first.talk.close()
        await until(lambda: not first.leg.is_proven or relay.number("hosts") == 0)
        await relay.host()

    story(tell, replace(PLAIN, hosts_per_source=1))


def test_t41_strangers_have_so_many_places_and_whoever_is_proven_needs_none() -> None:
    async def tell(relay: Relay) -> None:
        await relay.host(source="192.0.2.1")
        first = await relay.dial(wire.Role.OPERATOR)
        second, far = relay.enter()
        assert second is None
        far.close()
        assert relay.number("turned_away_total") == 1
        await first.talk.close()
        await until(lambda: relay.number("links") == 1)
        assert relay.number("unproven") == 0
        await relay.dial(wire.Role.OPERATOR)
        assert relay.number("unproven") == 1

    story(tell, replace(PLAIN, unproven_per_source=1))


def test_t41_whoever_says_much_before_a_proof_is_cut() -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.OPERATOR)
        with contextlib.suppress(ConnectionClosed):
            await peer.talk.send(b"x" * UNPROVEN_BYTES)
        await until(lambda: relay.number("links") == 0)

    story(tell)


def test_text_is_no_message() -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.OPERATOR)
        await peer.talk.send("hello")
        assert await peer.ended() == (1003, "unexpected-message")

    story(tell)


def test_a_message_in_parts_is_one() -> None:
    async def tell(relay: Relay) -> None:
        peer = await relay.dial(wire.Role.HOST)
        greet = await peer.hear()
        assert isinstance(greet, wire.Greet)
        said = wire.Register(HOST.public, bytes(64))
        signature = HOST.sign(wire.stated(said, NAME, greet.nonce))
        whole = wire.encode(msgspec.structs.replace(said, signature=signature))
        await peer.talk.send([whole[:5], b"", whole[5:]])
        assert await peer.hear() == wire.Registered(OURS)

    story(tell)


def test_what_is_no_websocket_is_answered_and_hung_up_on() -> None:
    async def tell(relay: Relay) -> None:
        for host, status in ((NAME, b"200 OK"), ("evil.example", b"403 Forbidden")):
            _, far = relay.enter()
            reader, writer = await asyncio.open_connection(sock=far)
            writer.write(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            async with asyncio.timeout(PATIENCE):
                said = await reader.read()
            assert said.startswith(b"HTTP/1.1 " + status)
            writer.close()
        await until(lambda: relay.number("links") == 0)

    story(tell)


def test_behind_a_proxy_everybody_is_counted_by_the_address_it_saw() -> None:
    async def ask(relay: Relay, *forwarded: str) -> tuple[bytes, asyncio.StreamWriter]:
        _, far = relay.enter("127.0.0.1")
        reader, writer = await asyncio.open_connection(sock=far)
        lines = [f"X-Forwarded-For: {one}" for one in forwarded]
        upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13"
        head = [f"GET /v1/host HTTP/1.1\r\nHost: {NAME}", *lines, upgrade + key]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        async with asyncio.timeout(PATIENCE):
            return await reader.readline(), writer

    async def tell(relay: Relay) -> None:
        switching, refused = b"HTTP/1.1 101 ", b"HTTP/1.1 429 "
        for forwarded, status in (
            (["192.0.2.7", "10.0.0.1, 192.0.2.1"], switching),
            (["192.0.2.1"], refused),
            (["192.0.2.2"], switching),
            ([], refused),
        ):
            said, link = await ask(relay, *forwarded)
            relay.stack.callback(link.close)
            assert said.startswith(status)

    story(tell, replace(PLAIN, is_behind_proxy=True, unproven_per_source=1))


def test_t43_who_says_nothing_is_asked_and_cut_and_who_answers_is_not() -> None:
    async def tell(relay: Relay) -> None:
        lively = await relay.host()
        silent = await relay.operator()  # It is refused, or waits: either is proven.
        await silent.ended()
        _, far = relay.enter()
        reader, writer = await asyncio.open_connection(sock=far)
        del reader
        dead = relay.legs[-1]
        dead.prove()
        async with asyncio.timeout(PATIENCE):
            while relay.number("links") > 1:
                relay.peers.sweep()
                await asyncio.sleep(0.02)
        assert dead.pinged_at > 0
        assert lively.leg.pinged_at > 0
        assert lively.talk.close_code is None
        writer.close()

    story(tell, replace(PLAIN, heartbeat=0.4))


PIECE = b"x" * 16_000
PIECES = 100


async def flood(peer: Peer) -> None:
    with contextlib.suppress(ConnectionClosed):
        for _ in range(PIECES):
            await peer.talk.send(PIECE)


def test_whoever_takes_nothing_is_cut_and_its_partner_told() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        operator = await relay.operator()
        met = await relay.joined(host, operator)
        operator.talk.transport.pause_reading()
        relay.tasks.create_task(flood(met))
        await until(lambda: operator.leg.stuck_at is not None)
        assert met.leg.is_held
        relay.peers.sweep()
        assert relay.peers.pairs == 1
        await asyncio.sleep(0.6)
        relay.peers.sweep()
        assert relay.peers.pairs == 0
        assert await met.ended() == (4000, "slow-peer")

    story(tell, replace(PLAIN, slow_peer=0.5))


def test_a_slow_end_is_waited_for_and_loses_nothing() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        operator = await relay.operator()
        met = await relay.joined(host, operator)
        operator.talk.transport.pause_reading()
        relay.tasks.create_task(flood(met))
        await until(lambda: met.leg.is_held)
        operator.talk.transport.resume_reading()
        async with asyncio.timeout(PATIENCE):
            for _ in range(PIECES):
                assert await operator.talk.recv() == PIECE
        assert not met.leg.is_held
        assert operator.leg.stuck_at is None

    story(tell)


def test_a_full_relay_takes_a_host_that_comes_back_and_no_other() -> None:
    async def tell(relay: Relay) -> None:
        first = await relay.host(ANNA)
        second = await relay.host(ANNA)  # Its older link is not known to be dead yet.
        assert (await first.ended())[0] == 4000
        other = await relay.dial(wire.Role.HOST)
        await other.prove(BERT, wire.Register(bytes(32), bytes(64)))
        refused = await other.hear()
        assert isinstance(refused, wire.Refused)
        assert refused.code == "relay-full"
        await relay.joined(second, await relay.operator())

    story(tell, replace(PLAIN, limits=Limits(hosts=1)))


def test_a_relay_that_leaves_tells_the_hosts_and_takes_leave_of_everybody() -> None:
    async def tell(relay: Relay) -> None:
        host = await relay.host(ANNA)
        relay.peers.drain()
        assert isinstance(await host.hear(), wire.Leaving)
        late = await relay.operator()
        assert isinstance(await late.hear(), wire.Refused)
        leaving = relay.tasks.create_task(relay.peers.dismiss())
        assert await host.ended() == (1001, "relay-leaving")
        async with asyncio.timeout(PATIENCE):
            await leaving
        assert relay.number("links") == 0

    story(tell)
