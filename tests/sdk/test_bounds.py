import asyncio
import contextlib
import itertools
import resource
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.support import Machine
from tests.sdk.support import eventually, go, shell

import holdfast
from holdfast import errors
from holdfast.sdk.events import Gap, Output

MANY = 50


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_whoever_does_not_read_delays_nobody_and_is_told_of_the_gap(
    here: Machine,
) -> None:
    del here

    async def story() -> list[holdfast.Event]:
        heard: list[holdfast.Event] = []
        async with holdfast.connect() as host:
            session = await shell(host)
            await session.run("true")
            coming = session.events(after=0)
            heard.append(await anext(coming))
            # Far more than a session keeps is printed while nothing is taken.
            flood = await session.run("yes 0123456789abcdef | head -c 30000000")
            assert flood.status == 0
            end = (await session.run("echo over")).end or 0
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            async for event in coming:
                heard.append(event)
                if isinstance(event, Output) and event.end >= end:
                    break
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < 100_000, "kilobytes"
        return heard

    heard = [event for event in go(story()) if isinstance(event, Output | Gap)]

    assert [event for event in heard if isinstance(event, Gap)]
    places = [
        (event.offset if isinstance(event, Output) else event.start, event.end)
        for event in heard
    ]
    assert all(one[1] == other[0] for one, other in itertools.pairwise(places))


def test_many_sessions_are_used_at_once_in_one_loop(here: Machine) -> None:
    del here
    before = descriptors()

    async def one(host: holdfast.Host, number: int) -> str:
        session = await shell(host, f"many-{number}")
        async with session:
            result = await session.run(f"echo it is {number}")
            await session.send("exit", enter=True)
            await session.wait_exit(60)
        return result.output

    async def story() -> list[str]:
        async with holdfast.connect() as host:
            return await asyncio.gather(*(one(host, at) for at in range(MANY)))

    assert go(story()) == [f"it is {number}\n" for number in range(MANY)]
    assert descriptors() <= before + 4


class Cancelled:
    """Something that is begun, and cancelled when it is left."""

    def __init__(self, what: Coroutine[Any, Any, object]) -> None:
        self._what = what
        self.notes: list[str] = []
        self.is_cancelled = False

    async def run(self) -> None:
        try:
            await self._what
        except asyncio.CancelledError as error:
            self.is_cancelled = True
            self.notes += getattr(error, "__notes__", [])
            raise


def test_a_cancelled_run_leaves_the_command_and_no_turn(here: Machine) -> None:
    del here

    async def is_running(session: holdfast.Session, program: str) -> bool:
        found = (await session.graph()).processes
        return any(one.command.startswith(program) for one in found)

    async def story() -> None:
        async with holdfast.connect() as host:
            session = await shell(host)
            await session.run("true")
            running = Cancelled(session.run("sleep 3; echo late"))
            async with asyncio.TaskGroup() as group:
                task = group.create_task(running.run())
                while not await is_running(session, "sleep"):
                    pass
                task.cancel()
            assert any("goes on" in note for note in running.notes)
            assert (await session.who()).is_free
            assert len((await session.who()).present) == 1
            assert await is_running(session, "sleep")
            await session.wait_prompt(20)
            assert (await session.run("echo fine")).output == "fine\n"

    go(story())


def test_a_cancelled_question_spoils_no_later_one(here: Machine) -> None:
    del here

    async def story() -> None:
        async with holdfast.connect() as host, await shell(host) as session:
            for step in range(20):
                async with asyncio.TaskGroup() as group:
                    asking = group.create_task(session.who())
                    for _ in range(step):
                        await asyncio.sleep(0)
                    asking.cancel()
                assert (await session.take()).has_turn
                assert (await session.drop()).is_free
                assert await session.send("") >= 0

    go(story())


def test_a_cancelled_creation_leaves_no_session(here: Machine) -> None:
    del here

    async def story() -> None:
        async with holdfast.connect() as host:
            before = len(await host.sessions())
            creating = Cancelled(shell(host, "unwanted"))
            async with asyncio.TaskGroup() as group:
                task = group.create_task(creating.run())
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                task.cancel()
            assert creating.is_cancelled
        async with holdfast.connect() as host:
            assert len(await host.sessions()) == before

    go(story())


def test_time_that_is_up_is_an_error_of_ours(here: Machine) -> None:
    del here

    async def story() -> None:
        async with holdfast.connect() as host, await shell(host) as session:
            with pytest.raises(errors.WaitedInVain):
                await session.wait_for("never to be seen", 0.05)
            with pytest.raises(errors.WaitedInVain):
                await session.wait_port(1, 0.05)
            with pytest.raises(errors.WaitedInVain):
                await session.wait_exit(0.05)
            with pytest.raises(errors.WaitedInVain):
                await session.wait_secret(0.05)
            assert (await session.who()).present

    go(story())


def test_nothing_of_ours_is_left_behind(here: Machine) -> None:
    del here

    async def story() -> None:
        before = descriptors()
        async with holdfast.connect() as host:
            session = await shell(host)
            async with session:
                watching = session.events(after=0)
                await session.run("true")
                await anext(watching)
            with contextlib.suppress(AttributeError):
                await watching.aclose()  # type: ignore[attr-defined]
        assert len(asyncio.all_tasks()) == 1
        await eventually("all is closed", lambda: descriptors() <= before + 1)

    go(story())
