import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.relays import (
    ADMITTED,
    ANNA,
    ANNA_ID,
    BERT,
    HOST,
    HOST_ID,
    Relay,
    echoing,
    greeted,
    key,
    next_knock,
    reached,
    refusal,
    relay,
    run,
)

from holdfast.aio.relay_client import Admitted, reach, register
from holdfast.model.errors import (
    HostReplaced,
    HostSilent,
    LinkEnded,
    NotProven,
    NotReachable,
    RelayFull,
    RelayUnreachable,
    TicketRefused,
)
from holdfast.model.ids import actor_id, host_id, session_id
from holdfast.wire import relay_messages as wire
from holdfast.wire.relay_messages import Role

SESSION = session_id(b"0123456789")


@pytest.fixture(scope="module")
def point(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with relay(tmp_path_factory.mktemp("relay")) as made:
        yield made


def test_an_operator_and_its_host_speak_through_the_relay(point: Relay) -> None:
    async def story() -> None:
        async with echoing(point):
            carrier = await reached(point)
            assert carrier.host == HOST_ID
            for message in (b"", b"x", b"y" * 65_535):
                await carrier.send(message)
                assert await carrier.receive() == message
            await carrier.close()

    run(story())


def test_a_session_is_reached_by_its_id(point: Relay) -> None:
    async def story() -> None:
        async with echoing(point) as registration:
            await registration.publish([SESSION])
            carrier = await reach(point.url, ANNA, SESSION)
            assert carrier.host == HOST_ID
            await carrier.close()
            await registration.publish([])
            with pytest.raises(NotReachable):
                await reach(point.url, ANNA, SESSION)

    run(story())


def test_an_invitation_lets_a_stranger_through_to_the_host(point: Relay) -> None:
    async def story() -> None:
        async with echoing(point, Admitted(invites=frozenset({b"invite"}))):
            carrier = await reach(point.url, BERT, HOST_ID, invite_id=b"invite")
            await carrier.close()
            with pytest.raises(NotReachable):
                await reach(point.url, BERT, HOST_ID, invite_id=b"another")

    run(story())


def test_t16_knowing_an_id_gives_nothing_not_even_whether_it_exists(
    point: Relay,
) -> None:
    async def story() -> None:
        nobody = host_id(key("nobody").public)
        async with echoing(point) as registration:
            await registration.publish([SESSION])
            texts = []
            for target in (HOST_ID, nobody, SESSION, session_id(b"9876543210")):
                with pytest.raises(NotReachable) as caught:
                    await reach(point.url, BERT, target)
                texts.append(str(caught.value).replace(target, "X"))
            assert len(set(texts)) == 1

    run(story())


def test_a_dismissed_actor_is_let_through_no_more(point: Relay) -> None:
    async def story() -> None:
        async with echoing(point) as registration:
            await (await reached(point)).close()
            await registration.admit(Admitted())
            with pytest.raises(NotReachable):
                await reached(point)

    run(story())


def test_a_ticket_is_good_once_for_one_host_and_for_seconds(point: Relay) -> None:
    async def story() -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            asking = asyncio.ensure_future(reached(point))  # noqa: TID251  # awaited below
            knock = await next_knock(registration)
            stolen = type(knock)(
                knock.actor,
                knock.target,
                knock.invite_id,
                knock.ticket,
                point.url,
                BERT,
                None,
            )
            with pytest.raises(TicketRefused):
                await stolen.answer()
            carrier = await knock.answer()
            with pytest.raises(TicketRefused):
                await knock.answer()
            other = await asking
            await other.send(b"still joined")
            assert await carrier.receive() == b"still joined"
            await other.close()
            await carrier.close()

            asking = asyncio.ensure_future(reached(point))  # noqa: TID251  # ditto
            late = await next_knock(registration)
            with pytest.raises(HostSilent):
                await asking
            with pytest.raises(TicketRefused):
                await late.answer()

    run(story())


def test_a_proof_is_good_for_its_own_link_relay_and_role(point: Relay) -> None:
    async def story() -> None:
        first, nonce = await greeted(point, "/v1/host")
        signature = HOST.sign(wire.statement(Role.HOST, point.name, nonce))
        replayed = wire.encode(wire.Register(HOST.public, signature))
        await first.send(replayed)
        assert isinstance(wire.decode(await first.recv(decode=False)), wire.Registered)

        second, fresh = await greeted(point, "/v1/host")
        await second.send(replayed)
        assert await refusal(second) == NotProven.code

        for role, name in (
            (Role.OPERATOR, point.name),
            (Role.HOST, "other.example"),
        ):
            link, fresh = await greeted(point, "/v1/host")
            signature = HOST.sign(wire.statement(role, name, fresh))
            await link.send(wire.encode(wire.Register(HOST.public, signature)))
            assert await refusal(link) == NotProven.code
        await first.close()

    run(story())


def test_a_signature_by_another_key_registers_nobody(point: Relay) -> None:
    async def story() -> None:
        link, nonce = await greeted(point, "/v1/host")
        signature = BERT.sign(wire.statement(Role.HOST, point.name, nonce))
        await link.send(wire.encode(wire.Register(HOST.public, signature)))

        assert await refusal(link) == NotProven.code

    run(story())


def test_of_two_hosts_with_one_key_the_later_is_reached(point: Relay) -> None:
    async def story() -> None:
        async with (
            register(point.url, HOST, Admitted()) as former,
            echoing(point),
        ):
            with pytest.raises(HostReplaced):
                await next_knock(former)
            await (await reached(point)).close()

    run(story())


def test_when_one_end_leaves_the_other_hears_the_code_it_gave(point: Relay) -> None:
    async def story() -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            for words, heard in (
                ("not-your-turn", "not-your-turn"),
                ("Any Words!", "peer-left"),
                ("", "peer-left"),
            ):
                asking = asyncio.ensure_future(reached(point))  # noqa: TID251  # awaited below
                knock = await next_knock(registration)
                host, operator = await knock.answer(), await asking
                await host.send(b"the last word")
                await host.close(words)
                assert await operator.receive() == b"the last word"
                with pytest.raises(LinkEnded) as caught:
                    await operator.receive()
                assert caught.value.facts["why"] == heard

    run(story())


def test_a_relay_for_some_hosts_takes_no_others(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, Admitted()):
            pass
        with pytest.raises(NotProven):
            async with register(point.url, BERT, Admitted()):
                pass

    with relay(tmp_path, "--only-host", HOST_ID) as point:
        run(story(point))


def test_t23_one_key_has_only_so_many_links(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with echoing(
            point, Admitted(frozenset({ANNA_ID, actor_id(BERT.public)}))
        ):
            first, second = await reached(point), await reached(point)
            with pytest.raises(RelayFull):
                await reached(point)
            other = await reached(point, BERT)
            await first.close()
            await second.close()
            await other.close()

    with relay(tmp_path, "--max-per-key", "2") as point:
        run(story(point))


def test_hosts_of_one_address_are_counted(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, Admitted()):
            with pytest.raises(RelayFull):
                async with register(point.url, BERT, Admitted()):
                    pass
        async with register(point.url, BERT, Admitted()):
            pass

    with relay(tmp_path, "--max-hosts-per-address", "1") as point:
        run(story(point))


def test_a_relay_that_is_not_there_is_said_to_be_unreachable() -> None:
    async def story() -> None:
        with pytest.raises(RelayUnreachable):
            await reach("http://127.0.0.1:9", ANNA, HOST_ID)

    run(story())
