"""The hosts of an overview, asked for their sessions at intervals."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

from holdfast.client import hosts, keeper
from holdfast.core.overview.acts import Event, HostLost, SessionsListed, Told
from holdfast.core.overview.sessions import Row, look_from, row_from
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
                rows = _rows(told, host.name)
                self._tell(SessionsListed(host.name, rows))
                await self._tell_of_lost(host, {row.id for row in rows})
            await self._pause(FAR_STEP if host.name else STEP)

    async def _tell_of_lost(self, host: Host, living: set[str]) -> None:
        """Say once of each session that was lost how it is started again."""
        is_asked = host.name in self._told_of
        known = self._told_of.setdefault(host.name, set())
        labels: dict[str, str] = {}
        if not host.name:
            found = await asyncio.to_thread(lost, living)
            labels = {one.id: one.label for one in found}
        elif not is_asked:  # It takes a question of its own.
            labels = {one.id: one.label for one in await host.lost()}
        new = [label for one, label in labels.items() if one not in known]
        known.update(labels)
        if new:
            self._tell(Told(_told_of_lost(new, host.name), is_bad=True))

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurried.wait()
        # All who wait have been woken, and nobody else is to be.
        self._hurried.clear()


def _told_of_lost(labels: list[str], host: str) -> str:
    if len(labels) == 1:
        return f"{labels[0]} was lost; `holdfast recover {labels[0]}` starts it again"
    how = f"recover {host}/NAME" if host else "recover --all"
    return f"{len(labels)} sessions were lost; `holdfast {how}` starts them again"


def _rows(told: Facts, host: str) -> tuple[Row, ...]:
    found = []
    for facts in listed_in(told):
        row = row_from(facts, host)
        if row is not None and isinstance(facts, Mapping):
            is_seen = bool(host) and not row.is_over
            found.append(row._replace(look=look_from(facts) if is_seen else None))
    return tuple(found)
