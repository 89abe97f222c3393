import asyncio

import pytest

from holdfast.host.bridge import _first_of
from holdfast.model.errors import SessionUnreachable
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)


def test_when_one_way_is_done_the_other_is_cancelled() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def at_once() -> None:
        ended.append("done")

    async def story() -> None:
        async with asyncio.timeout(20):
            await _first_of(forever(), at_once())

    asyncio.run(story())

    assert ended == ["done", "cancelled"]


def test_a_way_that_fails_fails_both() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    async def failing() -> None:
        raise SessionUnreachable(SESSION, "it is gone")

    async def story() -> None:
        async with asyncio.timeout(20):
            await _first_of(forever(), failing())

    with pytest.raises(SessionUnreachable):
        asyncio.run(story())
