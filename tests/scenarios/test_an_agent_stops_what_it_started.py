"""An agent stops its own command, by a signal or a key, and nobody else's."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.scenarios.agents import WHY, Agent, agent, shell
from tests.scenarios.support import Machine, machine

import holdfast

POLICY = """
[default]
agent = "deny"

[[rule]]
name = "no-disks"
verdict = "deny"
kind = "agent"
first = "mkfs"

[[rule]]
name = "sleep"
verdict = "allow"
kind = "agent"
first = ["sleep", "echo", "fg"]

[[rule]]
name = "stop"
verdict = "allow"
kind = "agent"
signal = [2, 15]
foreground = "self"
"""

STOPS: list[tuple[str, dict[str, object]]] = [
    ("signal", {}),
    ("signal", {"signal": "TERM"}),
    ("keys", {"keys": ["C-c"]}),
]


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


async def started(bot: Agent, line: str) -> None:
    went_on = await bot.call(
        "run", session="build", intent=WHY, command=line, timeout=0.5
    )
    assert went_on["goes_on"]


@pytest.mark.parametrize(("tool", "more"), STOPS)
def test_what_it_started_is_stopped_without_asking_anybody(
    here: Machine, tool: str, more: dict[str, object]
) -> None:
    shell(here, POLICY)

    async def story() -> None:
        async with agent() as bot:
            await started(bot, "sleep 1000")
            await bot.call(tool, session="build", intent=WHY, **more)
            await bot.call("wait", session="build", condition="prompt", timeout=10)
            after = await bot.call(
                "run", session="build", intent=WHY, command="echo on"
            )
        assert after["output"]["text"] == "on\n"

    asyncio.run(story())


@pytest.mark.parametrize(("tool", "more"), STOPS)
def test_what_somebody_else_started_is_not_its_to_stop(
    here: Machine, tool: str, more: dict[str, object]
) -> None:
    shell(here, POLICY)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            person = host.attach("build")
            with pytest.raises(holdfast.errors.CommandGoesOn):
                await person.run("sleep 1000", timeout=0.5)
            error = await bot.refused(tool, session="build", intent=WHY, **more)
            state = await person.state()
        assert error["code"] == "denied-by-policy"
        assert state.word == "running"

    asyncio.run(story())


def test_what_it_brought_to_the_foreground_is_not_what_it_started(
    here: Machine,
) -> None:
    shell(here, POLICY)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            person = host.attach("build")
            await person.run("sleep 1000 &")
            await asyncio.sleep(0.1)  # The kernel dates processes by hundredths.
            await started(bot, "fg %1")
            error = await bot.refused(
                "signal", session="build", intent=WHY, approval_timeout=0.2
            )
            assert (await person.state()).word == "running"
        assert error["code"] in ("denied-by-policy", "approval-timeout")

    asyncio.run(story())


def test_a_call_that_waits_for_approval_ends_when_it_says(here: Machine) -> None:
    asked = POLICY.replace(
        'name = "stop"\nverdict = "allow"', 'name = "stop"\nverdict = "ask"'
    )
    shell(here, asked)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            await started(bot, "sleep 1000")
            for tool, more in STOPS:
                error = await bot.refused(
                    tool, session="build", intent=WHY, approval_timeout=0.3, **more
                )
                assert error["code"] == "approval-timeout"
                assert error["was_done"] == "no"
            assert await host.attach("build").pending() == ()

    asyncio.run(story())
