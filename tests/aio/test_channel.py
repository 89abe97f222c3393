import asyncio
import itertools

import pytest
from tests.aio.channel_world import (
    HOST,
    HOST_ID,
    INVITE_ID,
    OPERATOR,
    SECRET,
    Dial,
    dial_attach,
    dial_join,
    heard,
    outcome,
    secret_of,
    standing,
)

from holdfast.aio.channel import accept_channel, join_channel, open_channel
from holdfast.model.errors import (
    HandshakeFailed,
    HandshakeTimeout,
    InviteUnknown,
    LinkEnded,
    MalformedInvite,
    SealBroken,
    WrongIdentity,
)
from holdfast.model.ids import host_id
from holdfast.testing.carriers import MAX_WAITING, linked
from holdfast.wire.channel import MAX_DATA

BOTH = pytest.mark.parametrize("dial", [dial_attach, dial_join])


@BOTH
def test_each_side_knows_the_other_by_its_key(dial: Dial) -> None:
    async def story() -> None:
        made = await standing(dial)

        assert made.ours.peer == HOST.public
        assert made.ours.peer_static == HOST.static_public
        assert made.theirs.peer == OPERATOR.public
        assert made.ours.binding == made.theirs.binding
        wanted = INVITE_ID if dial is dial_join else None
        assert made.accepted.invite_id == wanted

    asyncio.run(story())


@BOTH
@pytest.mark.parametrize("size", [1, MAX_DATA, MAX_DATA + 1, 5 * MAX_DATA + 7])
def test_what_is_sent_is_received_whole_and_ends_in_order(
    dial: Dial, size: int
) -> None:
    async def story() -> None:
        made = await standing(dial)
        data = bytes(itertools.islice(itertools.cycle(range(251)), size))
        async with asyncio.TaskGroup() as group:
            there = group.create_task(heard(made.theirs))
            back = group.create_task(heard(made.ours))
            await made.ours.send(data)
            await made.theirs.send(data[::-1])
            await made.ours.end()
            await made.theirs.end()

        assert there.result() == data
        assert back.result() == data[::-1]
        assert await made.theirs.receive() == b""

    asyncio.run(story())


def test_one_side_may_end_while_the_other_still_speaks() -> None:
    async def story() -> None:
        made = await standing()
        await made.ours.end()

        assert await made.theirs.receive() == b""
        await made.theirs.send(b"the answer")
        assert await made.ours.receive() == b"the answer"
        with pytest.raises(LinkEnded):
            await made.ours.send(b"more")

    asyncio.run(story())


def test_closing_ends_in_order_and_may_be_done_twice() -> None:
    async def story() -> None:
        made = await standing()
        await made.ours.send(b"all")
        await made.ours.close()
        await made.ours.close()

        assert await made.theirs.receive() == b"all"
        assert await made.theirs.receive() == b""
        with pytest.raises(LinkEnded):
            await made.theirs.send(b"too late")

    asyncio.run(story())


def test_a_cut_link_is_no_orderly_end() -> None:
    async def story() -> None:
        made = await standing()
        await made.ours.send(b"half")
        await made.our_end.close()

        assert await made.theirs.receive() == b"half"
        with pytest.raises(LinkEnded):
            await made.theirs.receive()

    asyncio.run(story())


def test_closing_for_an_error_does_not_say_that_all_was_sent() -> None:
    async def story() -> None:
        made = await standing()
        await made.ours.close("seal-broken")

        with pytest.raises(LinkEnded, match="seal-broken"):
            await made.theirs.receive()

    asyncio.run(story())


def test_a_full_link_does_not_hold_up_a_close_for_ever() -> None:
    async def story() -> None:
        made = await standing()
        for _ in range(MAX_WAITING):
            await made.ours.send(b"x")

        await made.ours.close(within=0)

        with pytest.raises(LinkEnded):
            await made.ours.send(b"y")

    asyncio.run(story())


def test_a_send_given_up_spoils_its_direction_and_not_the_other() -> None:
    async def story() -> None:
        made = await standing()
        for _ in range(MAX_WAITING):
            await made.ours.send(b"x")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await made.ours.send(b"y")

        with pytest.raises(LinkEnded, match="half sent"):
            await made.ours.send(b"z")
        await made.theirs.send(b"still here")
        assert await made.ours.receive() == b"still here"
        await made.ours.end()

    asyncio.run(story())


def test_two_that_send_at_once_do_not_mix_their_bytes() -> None:
    async def story() -> None:
        made = await standing()
        first, second = b"a" * (70 * MAX_DATA), b"b" * (70 * MAX_DATA)
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(heard(made.theirs))
            async with asyncio.TaskGroup() as writing:
                writing.create_task(made.ours.send(first))
                writing.create_task(made.ours.send(second))
            await made.ours.close()

        assert reading.result() in (first + second, second + first)

    asyncio.run(story())


def test_a_receive_given_up_loses_nothing() -> None:
    async def story() -> None:
        made = await standing()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await made.theirs.receive()
        await made.ours.send(b"kept")

        assert await made.theirs.receive() == b"kept"

    asyncio.run(story())


def test_an_unknown_invitation_is_refused_and_said_so_on_both_sides() -> None:
    async def story() -> None:
        ours, theirs = linked()
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(
                outcome(accept_channel(theirs, HOST, lambda _: None))
            )
            asking = group.create_task(outcome(dial_join(ours)))

        assert isinstance(answering.result(), InviteUnknown)
        assert isinstance(asking.result(), InviteUnknown)

    asyncio.run(story())


def test_another_end_of_the_link_is_not_taken_for_an_unknown_invitation() -> None:
    async def story() -> None:
        ours, theirs = linked()
        await theirs.close("going-away")

        assert isinstance(await outcome(dial_join(ours)), LinkEnded)

    asyncio.run(story())


def test_a_wrong_secret_is_refused() -> None:
    async def story() -> None:
        ours, theirs = linked()
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(
                outcome(accept_channel(theirs, HOST, lambda _: bytes(16)))
            )
            await dial_join(ours)

        assert isinstance(answering.result(), HandshakeFailed)
        assert ours.inward.ended == HandshakeFailed.code

    asyncio.run(story())


def test_t36_a_swapped_host_is_refused_and_the_link_is_ended() -> None:
    async def story() -> None:
        ours, theirs = linked()
        async with asyncio.TaskGroup() as group:
            group.create_task(outcome(accept_channel(theirs, OPERATOR, secret_of)))
            asking = group.create_task(outcome(dial_attach(ours)))

        assert isinstance(asking.result(), LinkEnded)
        assert theirs.outward.ended == HandshakeFailed.code

    asyncio.run(story())


def test_keys_and_ids_that_do_not_belong_together_are_not_dialled() -> None:
    async def story() -> None:
        ours, _ = linked()
        other = host_id(OPERATOR.public)
        attach = open_channel(ours, OPERATOR, HOST.public, HOST.static_public, other)
        join = join_channel(ours, OPERATOR, HOST.public, other, INVITE_ID, SECRET)
        short = join_channel(ours, OPERATOR, HOST.public, HOST_ID, INVITE_ID, b"x")

        assert isinstance(await outcome(attach), WrongIdentity)
        assert isinstance(await outcome(join), WrongIdentity)
        assert isinstance(await outcome(short), MalformedInvite)
        assert ours.outward.seen == []

    asyncio.run(story())


@pytest.mark.parametrize("side", ["operator", "host"])
def test_t41_a_peer_that_says_nothing_is_waited_for_no_longer_than_said(
    side: str,
) -> None:
    async def story() -> None:
        ours, theirs = linked()
        keys = (HOST.public, HOST.static_public, HOST_ID)
        if side == "operator":
            error = await outcome(open_channel(ours, OPERATOR, *keys, within=0))
        else:
            error = await outcome(accept_channel(theirs, HOST, secret_of, within=0))

        assert isinstance(error, HandshakeTimeout)
        assert ours.outward.ended == HandshakeTimeout.code

    asyncio.run(story())


def test_cancelling_a_handshake_ends_the_link() -> None:
    async def story() -> None:
        ours, theirs = linked()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(dial_attach(ours))
            await theirs.receive()
            task.cancel()

        assert ours.outward.ended == ""

    asyncio.run(story())


def test_a_message_that_does_not_open_ends_the_link_with_a_code() -> None:
    async def story() -> None:
        made = await standing()
        await made.our_end.send(bytes(80))
        await made.ours.send(b"never seen")

        with pytest.raises(SealBroken):
            await made.theirs.receive()
        assert made.our_end.inward.ended == SealBroken.code
        with pytest.raises(SealBroken):
            await made.theirs.receive()

    asyncio.run(story())
