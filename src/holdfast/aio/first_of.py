"""Two directions of one connection, carried until either is done."""

import asyncio
from collections.abc import Coroutine

from holdfast.model.errors import HoldfastError


async def first_of(*ways: Coroutine[None, None, None]) -> None:
    """Run all until one is done; the others are cancelled then.

    Raises:
        HoldfastError: What one of them failed with.
        OSError: What one of them failed with.

    """
    errors: list[HoldfastError | OSError] = []

    async def caught(way: Coroutine[None, None, None]) -> None:
        try:
            await way
        except (HoldfastError, OSError) as error:
            errors.append(error)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(caught(way)) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    if errors:
        raise errors[0]
