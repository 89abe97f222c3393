import asyncio
import itertools

import pytest
from tests.scenarios.support import Machine
from tests.sdk.support import eventually, go, shell

import holdfast
from holdfast import errors
from holdfast.sdk.events import Event, Exited, Gap, Output

KILLS = 5


async def kill_often(
    here: Machine, session: holdfast.Session, times: int = KILLS
) -> None:
    for _ in range(times):
        await asyncio.to_thread(here.replace_holder, session.id)


def test_a_command_outlives_the_holders_that_run_it(here: Machine) -> None:
    async def story() -> holdfast.CommandResult:
        async with holdfast.connect() as host:
            session = await shell(host)
            await session.run("true")
            line = "for i in $(seq 40); do echo line $i; sleep 0.05; done; (exit 5)"
            async with asyncio.TaskGroup() as group:
                running = group.create_task(session.run(line))
                await session.wait_for("line 1\r\n", 20)
                group.create_task(kill_often(here, session))
            return running.result()

    result = go(story())

    assert result.status == 5
    assert result.output == "".join(f"line {number}\n" for number in range(1, 41))


def test_no_byte_is_missing_or_twice_whatever_dies(here: Machine) -> None:
    heard: list[Event] = []

    async def listen(session: holdfast.Session) -> None:
        heard.extend([event async for event in session.events(after=0)])

    async def story() -> bytes:
        async with holdfast.connect() as host:
            program = "for i in $(seq 400); do echo line $i; sleep 0.005; done; read x"
            session = await host.create(["bash", "-c", program])
            async with asyncio.TaskGroup() as group:
                group.create_task(listen(session))
                await kill_often(here, session)
                await session.wait_for("line 400\r\n", 30)
                await session.send("", enter=True)
            return (await session.read()).data

    kept = go(story())
    printed = [event for event in heard if isinstance(event, Output)]

    assert not [event for event in heard if isinstance(event, Gap)]
    assert b"".join(event.data for event in printed) == kept
    assert all(one.end == next_.offset for one, next_ in itertools.pairwise(printed))
    assert isinstance(heard[-1], Exited)


def test_what_is_sent_while_holders_die_is_never_typed_twice(here: Machine) -> None:
    unknown: set[int] = set()

    async def story() -> str:
        async with holdfast.connect() as host:
            session = await host.create(["sh", "-c", "stty -echo; echo on; cat"])
            await session.wait_for("on", 10)
            async with session, asyncio.TaskGroup() as group:
                killing = group.create_task(kill_often(here, session))
                number = 0
                while not killing.done() or number < 200:
                    number += 1
                    try:
                        await session.send(f"<{number}>", enter=True)
                    except errors.OutcomeUnknown:  # Killed between write and record.
                        unknown.add(number)
            await session.wait_for(f"<{number}>\r\n", 10)
            return (await session.read()).text.removeprefix("on\n")

    typed = [int(line.strip("<>")) for line in go(story()).split()]

    assert typed == sorted({*typed})
    assert {*range(1, typed[-1] + 1)} - {*typed} <= unknown
    assert len(unknown) <= KILLS


def test_questions_are_asked_again_of_the_successor(here: Machine) -> None:
    async def story() -> None:
        async with holdfast.connect() as host, await shell(host) as session:
            await session.take()
            for _ in range(KILLS):
                async with asyncio.TaskGroup() as group:
                    group.create_task(kill_often(here, session, 1))
                    assert (await session.graph()).processes
                    assert (await session.who()).has_turn
                    assert (await session.state()).word
            await session.run("echo all is seen")
            assert "all is seen" in (await session.screen()).text

    go(story())


def test_a_session_that_is_gone_is_told_of_in_time(here: Machine) -> None:
    async def story() -> None:
        async with holdfast.connect() as host:
            session = await shell(host)
            async with session:
                await host.attach(session.id).end()
                # What is sent at the moment of its end may have been taken.
                while True:
                    try:
                        await session.send("nobody", enter=True)
                    except errors.SessionOver:
                        break
                    except errors.HoldfastError:
                        continue
                with pytest.raises(errors.Unavailable):
                    await session.run("true")

    del here
    go(story())


def test_leaving_the_host_ends_what_still_waits(here: Machine) -> None:
    del here

    async def story() -> list[BaseException]:
        found: list[BaseException] = []

        async def watch(session: holdfast.Session) -> None:
            try:
                await session.wait_port(1)
            except errors.HoldfastError as error:
                found.append(error)

        async with asyncio.TaskGroup() as group, holdfast.connect() as host:
            session = await shell(host)
            waiting = group.create_task(watch(session))
            await session.run("true")
            await eventually("it waits", lambda: not waiting.done())
        return found

    (error,) = go(story())

    assert isinstance(error, errors.SessionUnreachable)
