"""Agents: real clients of the protocol, that start our server or connect to it."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp.client.client import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.scenarios.gated import write_policy
from tests.scenarios.support import PATIENCE, Machine

from holdfast.model.ids import SessionId

Kind = TypeVar("Kind")

FREE = '[default]\nagent = "allow"\n'
"""A policy under which agents do as they like."""

ASKED = (
    FREE + '[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\nfirst = "touch"\n'
)
"""One under which they must ask for some things."""

SOURCE = str(Path(__file__).parents[2] / "src")

WHY = "see whether it works"


async def until(what: Callable[[], Awaitable[Kind]]) -> Kind:
    """Return what is found as soon as something is."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await what()):  # noqa: ASYNC110  # others change it
            await asyncio.sleep(0.01)
    return found


async def until_exists(path: Path) -> None:
    """Return once a file is there."""

    async def exists() -> bool:
        return path.exists()  # noqa: ASYNC240  # a moment

    await until(exists)


class Agent:
    """One agent, and what it is told."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **given: object) -> dict[str, Any]:
        """Call a tool, and return what it answers, which must be no error."""
        facts = await self.tried(tool, **given)
        assert "error" not in facts, facts["error"]
        return facts

    def begin(self, tool: str, **given: object) -> asyncio.Task[dict[str, Any]]:
        """Begin a call, to be awaited later or given up."""
        loop = asyncio.get_running_loop()
        begun = loop.create_task(self.call(tool, **given))
        begun.add_done_callback(lambda one: one.cancelled() or one.exception())
        return begun

    async def refused(self, tool: str, **given: object) -> dict[str, Any]:
        """Call a tool, and return the error it must answer."""
        error: dict[str, Any] = (await self.tried(tool, **given))["error"]
        return error

    async def tried(self, tool: str, **given: object) -> dict[str, Any]:
        """Call a tool, and return what it answers."""
        result = await self.client.call_tool(tool, given)
        facts = result.structured_content
        assert isinstance(facts, dict)
        assert result.is_error == ("error" in facts)
        return facts


@contextlib.asynccontextmanager
async def agent(
    *words: str, mode: str = "auto", hear: MessageHandlerFnT | None = None
) -> AsyncIterator[Agent]:
    """Start our server as a client does, and yield who uses it."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", *words, "mcp"],
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    with open(os.devnull, "w") as quiet:  # noqa: ASYNC230, PTH123  # it opens at once
        async with (
            plainly(),
            Client(
                stdio_client(started, errlog=quiet),
                cache=None,
                mode=mode,
                message_handler=hear,
            ) as client,
        ):
            yield Agent(client)


@contextlib.asynccontextmanager
async def plainly() -> AsyncIterator[None]:
    """Raise what went wrong as it is, and not in groups of groups."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def shell(here: Machine, policy: str = FREE) -> SessionId:
    """Start a shell that somebody else owns, under a policy."""
    write_policy(policy)
    answer = here.ask(
        do="create",
        command=["bash"],
        cwd="/",
        env={"PATH": os.environ["PATH"], "PS1": "$ ", "HOME": "/var/empty"},
        size=[80, 24],
        name="build",
        integration=True,
    )
    assert answer["ok"], answer
    return SessionId(str(answer["id"]))
