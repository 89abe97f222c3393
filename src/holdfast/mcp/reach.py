"""The hosts and sessions that an agent has entered.

A host is entered when it is first needed, and a session attached to when something is
first done in it. Both stay, so that others see who is here and a turn outlives the call
that took it: hosts until the server ends, sessions until nothing was done in them for
a while, or until others were used since and there are too many. Everything entered
belongs to the server's tasks: a cancelled call leaves nothing half entered behind,
and calls that come at the same time share what the first of them enters.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Self

from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.sdk.events import Noted
from holdfast.sdk.exported import ClientKind
from holdfast.sdk.host import Host, connect
from holdfast.sdk.session import Session
from holdfast.sdk.values import SessionInfo

MAX_KEPT = 32
"""Sessions attached to at a time: more than an agent drives at once."""

IDLE = 600.0
"""Seconds after the last call about a session until we leave it: longer than an agent
thinks, and short enough that who is listed as present is."""

LOOKS = 20
"""How often we look for idle sessions in that time: nobody minds half a minute."""


@dataclass(slots=True)
class _Stay:
    """One session that we are attached to, or are about to be."""

    session: Session
    observes: bool
    entering: asyncio.Task[HoldfastError | None]
    used_at: float


class Reach:
    """Hosts and sessions, entered once and kept."""

    def __init__(self, operator: str, idle: float = IDLE) -> None:
        self.operator = operator
        """Who acts."""

        self.tasks = asyncio.TaskGroup()
        self._idle = idle
        self._hosts: dict[str, asyncio.Future[Host]] = {}
        self._kept: dict[SessionId, _Stay] = {}
        self._calls: Counter[SessionId] = Counter()
        self._leaving = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.tasks.__aenter__()
        self.tasks.create_task(self._tidy())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leaving.set()
        await self.tasks.__aexit__(None, None, None)

    @property
    def kept(self) -> tuple[SessionId, ...]:
        """The sessions we are attached to, the one used last at the end."""
        return tuple(self._kept)

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

    async def session(self, text: str, *, observe: bool | None = None) -> Session:
        """Return a session to act in, attached to if it lives.

        Whether we only observe stays as it is unless it is said; at first we do not.

        Raises:
            UsageError: It fits none, or several.
            Unavailable: It cannot be reached.
            Forbidden: We may not attach.

        """
        stay = self._kept_as(text)
        if stay is not None and observe in (None, stay.observes):
            self._kept[stay.session.id] = self._kept.pop(stay.session.id)
            return stay.session
        host, found = await self.find(text)
        if found.exit_status is not None:
            await self.leave(found.id)
            return host.attach(found)
        former = None
        stay = self._kept.pop(found.id, None)
        if stay is not None and observe not in (None, stay.observes):
            former, stay = stay, None
        if stay is None:
            stay = self._begun(host, found, observes=bool(observe))
        self._kept[found.id] = stay  # The last is the one used last.
        error = await asyncio.shield(stay.entering)
        if former is not None:  # After it, so that we are here all the time.
            await self._left(former)
        if error is not None:
            if self._kept.get(found.id) is stay:
                del self._kept[found.id]
            raise error
        await self._make_room()
        return stay.session

    def _kept_as(self, text: str) -> _Stay | None:
        """Return the session that is meant, if we are in it: nobody has to be asked."""
        where, _, name = text.rpartition("/")
        for stay in self._kept.values():
            session = stay.session
            if (
                session.host == where
                and session.is_attached
                and session.is_called(name)
            ):
                return stay
        return None

    async def leave(self, session: SessionId) -> bool:
        """Detach; tell whether we were attached."""
        stay = self._kept.pop(session, None)
        if stay is not None:
            await self._left(stay)
        return stay is not None

    def noted(self, session: SessionId) -> list[Noted]:
        """Return what a session told of by itself since the last call."""
        stay = self._kept.get(session)
        return [] if stay is None else stay.session.take_noted()

    def begin_call(self, session: SessionId) -> None:
        """Take note that a call uses a session, which we do not leave meanwhile."""
        self._calls[session] += 1

    def end_call(self, session: SessionId) -> None:
        """Take note that a call is done: from now on the session may be idle."""
        self._calls[session] -= 1
        if not self._calls[session]:
            del self._calls[session]
        stay = self._kept.get(session)
        if stay is not None:
            stay.used_at = asyncio.get_running_loop().time()

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
                entered.exception()  # The caller may have gone.

    def _begun(self, host: Host, session: SessionInfo, *, observes: bool) -> _Stay:
        # In our own task: half an entry would count as a client that never leaves.
        made = host.attach(session, observe=observes)
        entering = self.tasks.create_task(_quietly(made.__aenter__()))
        return _Stay(made, observes, entering, asyncio.get_running_loop().time())

    async def _left(self, stay: _Stay) -> None:
        await asyncio.shield(self.tasks.create_task(_leave(stay)))

    async def _make_room(self) -> None:
        while len(self._kept) > MAX_KEPT:
            await self.leave(next(iter(self._kept)))

    async def _tidy(self) -> None:
        """Leave what was not used for a while, until everything is left."""
        while True:
            try:
                async with asyncio.timeout(self._idle / LOOKS):
                    await self._leaving.wait()
                    return
            except TimeoutError:
                since = asyncio.get_running_loop().time() - self._idle
            for session, stay in list(self._kept.items()):
                if stay.used_at <= since and session not in self._calls:
                    await self.leave(session)


async def _leave(stay: _Stay) -> None:
    if await stay.entering is None:
        await _quietly(stay.session.__aexit__(None, None, None))


async def _quietly(what: Coroutine[object, object, object]) -> HoldfastError | None:
    """Return the error instead of raising it, which would end every task."""
    try:
        await what
    except HoldfastError as error:
        return error
    return None
