"""What surrounds every call of a tool: its session, its contract, its progress."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from holdfast.mcp.contracts import OnSession, parameters_of
from holdfast.mcp.reach import Reach
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.sdk.session import Session

STEP = 1.0
"""Seconds between two reports of progress."""

Report = Callable[[float, str], Awaitable[None]]
"""Told how many seconds have passed, and what the session does."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, and what it reaches."""

    tool: str
    reach: Reach
    report: Report
    left: dict[SessionId, list[str]]
    """What earlier calls left behind, to be told with the next answer."""

    async def session(self, given: OnSession) -> Session:
        """Return the session that is meant, attached to."""
        return await self.reach.session(given.session)

    async def acting(self, given: OnSession, intent: str, effect: str) -> Session:
        """Return the session, in whose logbook the contract now stands."""
        session = await self.session(given)
        await session.intend(
            self.tool.replace("_", "-"),
            intent,
            effect=effect,
            parameters=parameters_of(given),
        )
        return session

    @contextlib.asynccontextmanager
    async def progress(self, session: Session) -> AsyncIterator[None]:
        """Report once a second what the session does, as long as the block lasts."""
        ticking = self.reach.tasks.create_task(self._tick(session))
        try:
            yield
        finally:
            ticking.cancel()

    async def _tick(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        begun_at = loop.time()
        with contextlib.suppress(HoldfastError):
            while True:
                await asyncio.sleep(STEP)
                word = (await session.state()).word
                await self.report(loop.time() - begun_at, word)


def label(session: Session) -> str:
    """Return what a session is called, and its id."""
    return f"{session.name} ({session.id})"
