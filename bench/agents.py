"""How long an agent waits: for the server, for a command, for a look.

A real client of the protocol starts the server as agents' programs do, and calls its
tools; most of the start is the loading of the protocol's library.
"""

import asyncio
import statistics
import time

from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.agents import WHY, Agent, agent, shell
from tests.scenarios.support import machine


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about agents."""
    starts: list[float] = []
    runs: list[float] = []
    states: list[float] = []

    async def story() -> None:
        for _ in range(scale.pick(10, 2)):
            progress("agents, start")
            begun_at = time.monotonic()
            async with agent() as bot:
                starts.append((time.monotonic() - begun_at) * 1000)
                await bot.call("attach", session="build")
                for _ in range(scale.pick(20, 5)):
                    given = {"command": "true", "intent": WHY}
                    runs.append(await _timed(bot, "run", **given))
                    states.append(await _timed(bot, "state"))

    with machine() as here:
        shell(here)
        asyncio.run(story())
    start, run = statistics.median(starts), statistics.median(runs)
    table.add(Row("MCP server, started until it answers, p50", start, "ms", None, 1000))
    table.add(Row("a `run` of `true` by MCP, p50", run, "ms", None, 60))
    table.add(Row("a `run` of `true` by MCP, p99", percentile(runs, 0.99), "ms"))
    table.add(Row("`state` by MCP, p50", statistics.median(states), "ms"))


async def _timed(bot: Agent, tool: str, **given: str) -> float:
    begun_at = time.monotonic()
    await bot.call(tool, session="build", **given)
    return (time.monotonic() - begun_at) * 1000
