"""A machine of its own, with sessions that tests of the SDK use."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tests.scenarios.support import PATIENCE

import holdfast

Kind = TypeVar("Kind")


def go(what: Coroutine[Any, Any, Kind]) -> Kind:
    """Run something to its end, in time."""

    async def in_time() -> Kind:
        async with asyncio.timeout(3 * PATIENCE):
            return await what

    return asyncio.run(in_time())


async def shell(host: holdfast.Host, name: str = "") -> holdfast.Session:
    """Start a shell that has nothing of this user's."""
    env = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PS1": "$ "}
    return await host.create("bash", name=name, env=env, cwd="/")


async def eventually(what: str, found: Callable[[], bool]) -> None:
    """Return as soon as it is so."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not found():
        assert asyncio.get_running_loop().time() < deadline, what
        await asyncio.sleep(0.005)
