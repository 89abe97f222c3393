"""An agent whose server runs in this process, on a machine of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from mcp.client.client import Client
from tests.scenarios.agents import Agent, plainly
from tests.scenarios.support import PATIENCE

import holdfast
from holdfast.core.book.logbook import EntryKind
from holdfast.mcp.server import serving

Kind = TypeVar("Kind")


@contextlib.asynccontextmanager
async def agent(name: str = "mcp-agent") -> AsyncIterator[Agent]:
    """Yield a real client of the protocol, connected to our server."""
    async with (
        plainly(),
        serving(name) as server,
        Client(server.protocol, cache=None) as client,
    ):
        yield Agent(client)


def told(story: Callable[[], Coroutine[Any, Any, Kind]]) -> Kind:
    """Run a story to its end, in time, and return what it returns."""

    async def in_time() -> Kind:
        async with asyncio.timeout(3 * PATIENCE):
            return await story()

    return asyncio.run(in_time())


async def given_up(call: "asyncio.Task[Any]") -> None:
    """Cancel a call, as a client does that no longer wants its answer."""
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call


async def notes_of(
    bot: Agent, until: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
) -> list[str]:
    """Return what the next answer that has notes says of calls given up."""

    async def noted() -> list[str]:
        found: list[str] = (await bot.call("who", session="build")).get("notes", [])
        return found

    notes: list[str] = await until(noted)
    return notes


async def intended(person: holdfast.Session, times: int) -> bool:
    """Tell whether an agent has said as often what it means to do."""
    kinds = [one.kind for one in await person.log()]
    return kinds.count(EntryKind.INTENDED) >= times
