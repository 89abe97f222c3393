import asyncio
import contextlib
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.scenarios.relays import (
    ADMITTED,
    ANNA,
    BERT,
    HOST,
    HOST_ID,
    Relay,
    key,
    relay,
    run,
)

from holdfast.aio.relay_client import Registration, reach, register
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import (
    HoldfastError,
    LeaseHeld,
    LeaseLost,
    NotEntrusted,
    NotReachable,
)
from holdfast.model.ids import Incarnation, host_id, session_id

SESSION, OTHER = session_id(b"0123456789"), session_id(b"another one"[:10])
NEVER = Incarnation(0)
FIRST, SECOND = Incarnation(1), Incarnation(2)


@contextlib.asynccontextmanager
async def host(relay: Relay, us: SigningKey = HOST) -> AsyncIterator[Registration]:
    async def read(registration: Registration) -> None:
        async with asyncio.TaskGroup() as tasks:
            async for knock in registration:
                tasks.create_task(knock.answer())

    async with (
        register(relay.url, us, ADMITTED) as registration,
        asyncio.TaskGroup() as tasks,
    ):
        task = tasks.create_task(read(registration))
        yield registration
        task.cancel()


def test_a_claim_is_granted_renewed_released_and_claimed_by_an_heir(
    tmp_path: Path,
) -> None:
    async def story(point: Relay) -> None:
        async with host(point) as ours, host(point, BERT) as heirs:
            claim = await ours.ask_lease(SESSION, None, seen=NEVER, is_speaking=False)
            assert claim == (FIRST, 20.0)
            renewal = await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=True)
            assert renewal == (FIRST, 20.0)
            carrier = await reach(point.url, ANNA, SESSION)
            assert carrier.host == HOST_ID
            await carrier.close()

            with pytest.raises(NotEntrusted):
                await heirs.ask_lease(SESSION, None, seen=NEVER, is_speaking=False)
            await ours.entrust(SESSION, [host_id(BERT.public)])
            with pytest.raises(LeaseHeld) as caught:
                await _claim(ours, heirs)
            assert caught.value.facts["holder"] == HOST_ID

            await ours.release_lease(SESSION, FIRST)
            with pytest.raises(LeaseLost):
                await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=True)
            moved = await heirs.ask_lease(SESSION, None, seen=FIRST, is_speaking=False)
            assert moved == (SECOND, 20.0)
            carrier = await reach(point.url, ANNA, SESSION)
            assert carrier.host == host_id(BERT.public)
            await carrier.close()

    with relay(tmp_path) as point:
        run(story(point))


async def _claim(ours: Registration, heirs: Registration) -> None:
    # An answer to us comes after what we said before was taken.
    await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=True)
    await heirs.ask_lease(SESSION, None, seen=FIRST, is_speaking=False)


def test_a_killed_relay_remembers_who_held_what_and_routes_nobody_before_it_asks(
    tmp_path: Path,
) -> None:
    async def before(point: Relay) -> None:
        async with host(point) as ours:
            await ours.ask_lease(SESSION, None, seen=NEVER, is_speaking=False)
            await ours.entrust(SESSION, [host_id(BERT.public)])
            # Nothing answers that, and a renewal needs no write: a claim does.
            await ours.ask_lease(OTHER, None, seen=NEVER, is_speaking=False)

    async def after(point: Relay) -> None:
        async with host(point) as ours, host(point, BERT) as heirs:
            with pytest.raises(NotReachable):
                await reach(point.url, ANNA, SESSION)
            with pytest.raises(LeaseHeld):
                await heirs.ask_lease(SESSION, None, seen=FIRST, is_speaking=False)
            with pytest.raises(LeaseHeld):
                await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=False)
            await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=True)
            await (await reach(point.url, ANNA, SESSION)).close()
            async with host(point, key("third")) as third:
                with pytest.raises(NotEntrusted):
                    await third.ask_lease(SESSION, None, seen=FIRST, is_speaking=False)

    with relay(tmp_path) as point:
        run(before(point))
        point.kill()
        point.start()
        run(after(point))


def test_two_relays_do_not_share_a_store(tmp_path: Path) -> None:
    with relay(tmp_path) as point:
        second = Relay.__new__(Relay)
        second.folder, second.options, second.port = tmp_path, (), 0
        second.log = tmp_path / "second.log"
        try:
            with pytest.raises(AssertionError, match="locked"):
                second.start()
            assert second.process.wait(5) == 64
            assert point.process.poll() is None
        finally:
            second.kill()


def test_f17_a_store_that_cannot_tell_what_it_wrote_ends_the_relay(
    tmp_path: Path,
) -> None:
    async def story(point: Relay) -> None:
        async with host(point) as ours:
            await ours.ask_lease(SESSION, None, seen=NEVER, is_speaking=False)
            limit = (4096, 4096)
            resource.prlimit(point.process.pid, resource.RLIMIT_FSIZE, limit)
            renewal = await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=True)
            assert renewal[0] == FIRST
            with contextlib.suppress(HoldfastError, ExceptionGroup):
                await ours.ask_lease(OTHER, None, seen=NEVER, is_speaking=False)

    with relay(tmp_path) as point:
        with contextlib.suppress(ExceptionGroup):
            run(story(point))
        assert point.process.wait(10) == 75
        assert "store.failed" in point.said()
        point.start()
        run(_renewed(point))


async def _renewed(point: Relay) -> None:
    async with host(point) as ours:
        again = await ours.ask_lease(SESSION, FIRST, seen=FIRST, is_speaking=True)
        assert again[0] == FIRST


def test_an_ended_session_has_no_lease_any_more(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with host(point) as ours, host(point, BERT) as others:
            await ours.ask_lease(SESSION, None, seen=NEVER, is_speaking=False)
            await ours.end_lease(SESSION, FIRST)
            await ours.publish([SESSION])
            await (await reach(point.url, ANNA, SESSION)).close()
            again = await others.ask_lease(SESSION, None, seen=NEVER, is_speaking=False)
            assert again[0] == FIRST

    with relay(tmp_path) as point:
        run(story(point))
