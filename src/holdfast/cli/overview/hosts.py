"""The hosts of an overview, asked for their sessions at intervals."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

from holdfast.client import hosts, keeper
from holdfast.core.overview.acts import Event, HostLost, SessionsListed
from holdfast.core.overview.sessions import Row, look_from, row_from
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

AWAY = 5.0
"""Seconds until a host that does not answer is tried again."""


class Hosts:
    """The machine we are on, and every host that was joined."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._entered: dict[str, Host] = {}
        self._hurried = asyncio.Event()

    def is_entered(self, name: str) -> bool:
        """Tell whether a host can be asked."""
        return name in self._entered

    def entered(self, name: str, session: str) -> Host:
        """Return a host, to reach a session of it.

        Raises:
            Unavailable: It is away.

        """
        try:
            return self._entered[name]
        except KeyError:
            why = f"{name or 'the keeper'} is away"
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
                self._tell(SessionsListed(host.name, _rows(told, host.name)))
            await self._pause(FAR_STEP if host.name else STEP)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurried.wait()
        # All who wait have been woken, and nobody else is to be.
        self._hurried.clear()


def _rows(told: Facts, host: str) -> tuple[Row, ...]:
    found = []
    for facts in listed_in(told):
        row = row_from(facts, host)
        if row is not None and isinstance(facts, Mapping):
            is_seen = bool(host) and not row.is_over
            found.append(row._replace(look=look_from(facts) if is_seen else None))
    return tuple(found)
