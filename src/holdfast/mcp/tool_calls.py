"""The frame of every tool call: its session, its contract, its progress."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from holdfast.mcp.contracts import OnSession, parameters_of
from holdfast.mcp.reach import Reach
from holdfast.model.errors import HoldfastError
from holdfast.model.expectations import Expectation
from holdfast.model.ids import SessionId
from holdfast.sdk.session import Session

STEP = 1.0
"""Seconds between two reports of progress."""

Report = Callable[[float, str], Awaitable[None]]
"""Called with the seconds passed and what the session does."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, and what it can reach."""

    tool: str
    reach: Reach
    report: Report
    left: dict[SessionId, list[str]]
    """Notes of earlier calls, reported with the next answer."""

    prompt: str = ""
    """What the client calls the prompt behind the call, if it says so."""

    used: list[SessionId] = field(default_factory=list)
    """Sessions that stay attached while the call lasts."""

    async def session(
        self, given: OnSession, *, observe: bool | None = None
    ) -> Session:
        """Return the session that is meant, attached."""
        session = await self.reach.session(given.session, observe=observe)
        self.reach.begin_call(session.id)
        self.used.append(session.id)
        return session

    def end(self) -> None:
        """Release the sessions that were used."""
        while self.used:
            self.reach.end_call(self.used.pop())

    def remember(self, session: Session, what: str, became: str) -> None:
        """Report the outcome of an abandoned call with the next answer."""
        left = self.left.setdefault(session.id, [])
        left.append(f"Your call of {what} {became}")

    async def acting(
        self,
        given: OnSession,
        intent: str,
        effect: str,
        *,
        expects: Expectation | None = None,
        idempotent: bool = False,
    ) -> Session:
        """Return the session, with the contract recorded in its logbook."""
        session = await self.session(given, observe=False)
        await session.intend(
            self.tool.replace("_", "-"),
            intent,
            effect=effect,
            parameters=parameters_of(given),
            prompt=self.prompt,
            expects=expects,
            idempotent=idempotent,
        )
        return session

    @contextlib.asynccontextmanager
    async def progress(self, session: Session | None = None) -> AsyncIterator[None]:
        """Report once a second what the session does, as long as the block lasts.

        Without one, that it is being started.
        """
        is_over = asyncio.Event()
        self.reach.tasks.create_task(self._tick(partial(_doing, session), is_over))
        try:
            yield
        finally:
            # Not cancelled: an unanswered question would cost us the link.
            is_over.set()

    async def _tick(
        self, doing: Callable[[], Awaitable[str]], is_over: asyncio.Event
    ) -> None:
        loop = asyncio.get_running_loop()
        begun_at = loop.time()
        with contextlib.suppress(HoldfastError):
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(STEP):
                        await is_over.wait()
                if is_over.is_set():
                    return
                word = await doing()
                if not is_over.is_set():
                    await self.report(loop.time() - begun_at, word)


async def _doing(session: Session | None) -> str:
    if session is None:
        return "starting a session, which may need a person's approval"
    standing = await session.who()
    if any(one.actor == standing.us for one in standing.pending):
        return "waiting for a person's approval"
    return (await session.state()).word


def label(session: Session) -> str:
    """Return a session's name and id."""
    return f"{session.name} ({session.id})"
