import asyncio
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.agents import agent, shell
from tests.scenarios.support import Machine, machine

from holdfast.mcp.tools import TOOLS

PAGE = (Path(__file__).parents[2] / "docs/howto/connect-an-ai-agent.md").read_text()
WRITTEN = [
    *map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)),
    *map(tomllib.loads, re.findall(r"```toml\n(\[mcp.*?)```", PAGE, re.DOTALL)),
]
SERVERS: list[dict[str, Any]] = [
    servers["holdfast"] for one in WRITTEN for servers in one.values()
]
STARTED = [one["args"] for one in SERVERS if "command" in one]
CALLED = [one for one in SERVERS if "command" not in one]
TABLE = PAGE.split("## What the agent sees")[1].split("\n\n")[1]


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        shell(made)
        yield made


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", STARTED, ids=lambda words: words[1])
def test_every_snippet_starts_a_server_that_acts_under_its_name(
    words: list[str],
) -> None:
    *before, verb = words

    async def story() -> None:
        async with agent(*before) as bot:
            told = await bot.call("list_sessions")

        assert told["you"] == before[1]
        assert [one["session"] for one in told["sessions"]] == ["build"]

    assert verb == "mcp"
    asyncio.run(story())


def test_every_client_has_a_name_of_its_own() -> None:
    names = [words[1] for words in STARTED]

    assert len(names) >= 6
    assert len({*names}) == len(names)


@pytest.mark.parametrize("server", CALLED)
def test_every_address_needs_the_token_and_it_is_never_in_the_address(
    server: dict[str, Any],
) -> None:
    bearer = server.get("headers", {}).get("Authorization", "")

    assert server["url"] == "http://127.0.0.1:7337/mcp"
    assert bearer.startswith("Bearer ") or server["bearer_token_env_var"]


def test_the_policy_to_begin_with_is_the_example_and_is_applied() -> None:
    begun = PAGE.split("## A policy to start from")[1].split("## ")[0]

    assert (
        "```sh\nholdfast gate init\nholdfast gate check\nholdfast gate apply" in begun
    )


def test_the_page_lists_every_tool_and_no_other() -> None:
    rows = TABLE.split("\n")[2:]

    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(TOOLS)
