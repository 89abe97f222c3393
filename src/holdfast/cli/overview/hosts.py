"""The hosts of an overview, asked for their sessions at intervals."""

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping

from holdfast.client import hosts, keeper
from holdfast.core.overview.acts import Event, HostLost, SessionsListed, Told
from holdfast.core.overview.sessions import Row, look_from, row_from, row_of_lost
from holdfast.linux.stored.lost_sessions import lost
from holdfast.model.errors import HoldfastError, NoKeeper, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Facts, listed_in
from holdfast.model.session_requests import ListSessions, Overview
from holdfast.model.text import printable
from holdfast.sdk.host import Host, connect

STEP = 1.0
"""Seconds between two lists: the keeper tells nobody of sessions that come and go."""

FAR_STEP = 2.0
"""The same for a host elsewhere, which is asked for all that it knows at once."""

LOST_STEP = 10.0
"""Seconds between two questions to a host elsewhere about what was lost there."""

AWAY = 5.0
"""Seconds until a host that does not answer is tried again."""


class Hosts:
    """The machine we are on, and every host that was joined."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._entered: dict[str, Host] = {}
        self._hurried = asyncio.Event()
        self._told_of: dict[str, set[str]] = {}
        """Lost sessions that people were told of, by host."""

        self._gone_there: dict[str, tuple[float, list[Row]]] = {}
        """What hosts elsewhere said last of sessions that no process has, and when."""

        self._is_hurried = False

    def is_entered(self, name: str) -> bool:
        """Tell whether a host can be asked."""
        return name in self._entered

    def entered(self, name: str, session: str) -> Host:
        """Return a host, to reach a session of it.

        Raises:
            Unavailable: It cannot be reached.

        """
        try:
            return self._entered[name]
        except KeyError:
            why = f"{name or 'the keeper'} cannot be reached"
            raise SessionUnreachable(SessionId(session), why) from None

    def hurry(self) -> None:
        """Ask every host now: something was changed."""
        self._hurried.set()

    async def follow(self, tasks: asyncio.TaskGroup) -> None:
        """Follow this machine and all hosts that are known now."""
        tasks.create_task(self._follow(""))
        with contextlib.suppress(HoldfastError, OSError):
            for known in await asyncio.to_thread(hosts.known):
                tasks.create_task(self._follow(known.name))

    async def _follow(self, name: str) -> None:
        while True:
            try:
                async with connect(name) as host:
                    self._entered[name] = host
                    await self._list(host)
            except (HoldfastError, OSError) as error:
                self._tell(HostLost(name, printable(str(error))))
            finally:
                self._entered.pop(name, None)
            await asyncio.sleep(AWAY)

    async def _list(self, host: Host) -> None:
        asked = Overview() if host.name else ListSessions(look=True)
        while True:
            try:
                told = await host.way.ask(asked)
            except NoKeeper as error:
                # It may be on its way, or there was never a session.
                if await asyncio.to_thread(keeper.sessions_by_socket):
                    self._tell(HostLost(host.name, printable(str(error))))
                else:
                    self._tell(SessionsListed(host.name, ()))
            else:
                rows = _rows(told, host.name)
                gone = await self._gone(host, {row.id for row in rows})
                self._tell(SessionsListed(host.name, (*rows, *gone)))
                self._tell_of_lost(host.name, gone)
            await self._pause(FAR_STEP if host.name else STEP)

    async def _gone(self, host: Host, living: set[str]) -> list[Row]:
        """Return the sessions that no process has; elsewhere, as of a while ago."""
        if not host.name:
            found = await asyncio.to_thread(lost, living)
            return [row_of_lost(one) for one in found]
        now = asyncio.get_running_loop().time()
        asked_at, rows = self._gone_there.get(host.name, (-math.inf, []))
        if now >= asked_at + LOST_STEP or self._is_hurried:
            rows = [row_of_lost(one) for one in await host.lost()]
            self._gone_there[host.name] = (now, rows)
        return [row for row in rows if row.id not in living]

    def _tell_of_lost(self, host: str, gone: list[Row]) -> None:
        """Say once of each session that was lost how it is started again."""
        known = self._told_of.setdefault(host, set())
        labels = {row.id: row.label for row in gone if not row.image}
        new = [label for one, label in labels.items() if one not in known]
        known.update(labels)
        if new:
            self._tell(Told(_told_of_lost(new), is_bad=True))

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurried.wait()
        # All who wait have been woken, and nobody else is to be.
        self._is_hurried = self._hurried.is_set()
        self._hurried.clear()


def _told_of_lost(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"{labels[0]} was lost; Enter on it starts it again"
    return f"{len(labels)} sessions were lost; Enter on one starts it again"


def _rows(told: Facts, host: str) -> tuple[Row, ...]:
    found = []
    for facts in listed_in(told):
        row = row_from(facts, host)
        if row is not None and isinstance(facts, Mapping):
            is_seen = bool(host) and not row.is_over
            found.append(row._replace(look=look_from(facts) if is_seen else None))
    return tuple(found)
