import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.agents import FREE, WHY, agent
from tests.scenarios.elsewhere import Facts, Place, places, relay
from tests.scenarios.starts import ALLOW

import holdfast
from holdfast.model.session_requests import Overview


@pytest.fixture
def joined() -> Iterator[tuple[Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        (Path(home.folder) / "config/policy.toml").write_text(FREE)
        home.do("gate", "apply", "--yes")
        link = home.invite("--as", "helper", "--kind", "agent")
        away.do("--as", "mcp-agent", "join", "-", "--name", "box", said=link)
        yield home, away


def test_an_agent_works_at_a_host_elsewhere_by_way_of_a_relay(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    session = home.new("bash", name="web")

    async def story() -> None:
        async with agent() as bot:
            (listed,) = (await bot.call("list_sessions", host="box"))["sessions"]
            ran = await bot.call(
                "run", session="box/web", command="echo $((6 * 7))", intent=WHY
            )
            told = await bot.call("who", session="box/web")
            gone = await bot.refused("state", session="nowhere/web")
            async with holdfast.connect("box", operator="mcp-agent") as host:
                (seen,) = _sessions(await host.way.ask(Overview()))
                while seen["state"] == "running":  # It is looked at once in a second.
                    (seen,) = _sessions(await host.way.ask(Overview()))

        assert (listed["id"], listed["session"]) == (session, "box/web")
        assert (ran["status"], ran["output"]["text"]) == (0, "42\n")
        assert told["you"] == "helper"
        assert gone["code"] == "host-not-known"
        assert (seen["id"], seen["state"]) == (session, "at-prompt")
        assert {one["name"] for one in seen["here"]} == {"helper"}

    with away.inhabited():
        asyncio.run(story())


def test_an_agent_starts_a_session_at_a_host_elsewhere_if_it_was_invited_to(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    (Path(home.folder) / "config/policy.toml").write_text(FREE + ALLOW)
    home.do("gate", "apply", "--yes")
    asked = {"host": "box", "intent": WHY, "command": ["sh"], "cwd": "/usr"}

    async def story() -> tuple[Facts, Facts, Facts]:
        async with agent() as bot:
            refused = await bot.refused("create_session", **asked)
        link = home.invite("--as", "maker", "--kind", "agent", "--can", "+create")
        away.do("--as", "mcp-maker", "join", "-", "--name", "box", said=link)
        async with agent("--as", "mcp-maker") as bot:
            made = await bot.call("create_session", name="made", **asked)
            seen = await bot.call("who", session="box/made")
        return refused, made, seen

    with away.inhabited():
        refused, made, seen = asyncio.run(story())
    (listed,) = home.facts("ls")["sessions"]
    assert refused["code"] == "not-allowed"
    assert (made["session"], made["id"]) == ("box/made", listed["id"])
    assert made["you"] == seen["you"] == "maker"
    assert (listed["name"], listed["cwd"]) == ("made", "/usr")


def _sessions(answer: Facts) -> list[Facts]:
    found = answer["sessions"]
    assert isinstance(found, list)
    return found
