"""Which sessions does the agent have in its hands?

A host is entered when it is first needed, and a session attached to when something is
first done in it; both stay until the server ends, so that others see who is here and
a turn outlives the call that took it. Sessions that were not used for longest are let
go when there are too many. Everything entered belongs to tasks of ours: a call that is
cancelled leaves nothing half entered behind.
"""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Self

from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.sdk.host import Host, connect
from holdfast.sdk.session import Session
from holdfast.sdk.values import SessionInfo
from holdfast.wire.messages import ClientKind

MAX_KEPT = 32
"""Sessions attached to at a time: more than anybody drives at once."""


class Reach:
    """Hosts and sessions, entered once and kept."""

    def __init__(self, operator: str) -> None:
        self.operator = operator
        """Who acts."""

        self.tasks = asyncio.TaskGroup()
        self._hosts: dict[str, asyncio.Future[Host]] = {}
        self._kept: dict[SessionId, Session] = {}
        self._observed: set[SessionId] = set()
        self._leaving = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leaving.set()
        await self.tasks.__aexit__(None, None, None)

    async def host(self, name: str = "") -> Host:
        """Return a host, entered: this machine, or one of the address book.

        Raises:
            UsageError: There is no such host.

        """
        entered = self._hosts.get(name)
        if entered is None:
            entered = asyncio.get_running_loop().create_future()
            self._hosts[name] = entered
            self.tasks.create_task(self._stay(name, entered))
        return await asyncio.shield(entered)

    async def find(self, text: str) -> tuple[Host, SessionInfo]:
        """Return the session that is meant, as it is now, and its host.

        Raises:
            UsageError: It fits none, or several.
            Unavailable: The host cannot be reached.

        """
        where, stroke, name = text.rpartition("/")
        host = await self.host(where if stroke else "")
        return host, await host.find(name)

    async def session(self, text: str, *, observe: bool = False) -> Session:
        """Return a session to act in, attached to if it lives.

        Raises:
            UsageError: It fits none, or several.
            Unavailable: It cannot be reached.
            Forbidden: We may not attach.

        """
        host, found = await self.find(text)
        if found.exit_status is not None:
            await self.leave(found.id)
            return host.attach(found.id)
        kept = self._kept.pop(found.id, None)
        if kept is not None and found.id in self._observed and not observe:
            self._observed.discard(found.id)
            await self._left(kept)
            kept = None
        if kept is None:
            kept = host.attach(found.id, observe=observe)
            await self._entered(kept)
            if observe:
                self._observed.add(found.id)
        self._kept[found.id] = kept
        await self._make_room()
        return kept

    async def leave(self, session: SessionId) -> bool:
        """Detach; tell whether we were attached."""
        kept = self._kept.pop(session, None)
        self._observed.discard(session)
        if kept is not None:
            await self._left(kept)
        return kept is not None

    async def _stay(self, name: str, entered: asyncio.Future[Host]) -> None:
        try:
            async with connect(name, operator=self.operator) as host:
                host.way.program = ClientKind.MCP
                entered.set_result(host)
                await self._leaving.wait()
        except HoldfastError as error:
            if not entered.done():
                self._hosts.pop(name, None)  # The next call tries again.
                entered.set_exception(error)
                entered.exception()  # Whoever asked may have gone.

    async def _entered(self, session: Session) -> None:
        # Shielded: half an entry would count as somebody who never leaves.
        entering = self.tasks.create_task(_quietly(session.__aenter__()))
        error = await asyncio.shield(entering)
        if error is not None:
            raise error

    async def _left(self, session: Session) -> None:
        await asyncio.shield(
            self.tasks.create_task(_quietly(session.__aexit__(None, None, None)))
        )

    async def _make_room(self) -> None:
        while len(self._kept) > MAX_KEPT:
            await self.leave(next(iter(self._kept)))


async def _quietly(what: Coroutine[object, object, object]) -> HoldfastError | None:
    """Return the error instead of raising it, which would end every task."""
    try:
        await what
    except HoldfastError as error:
        return error
    return None
