"""`holdfast watch`: print what happens in sessions, as it happens."""

import argparse
import asyncio
import contextlib
import json
import shlex
import time
from collections import deque

import holdfast
from holdfast.cli.event_text import Happening, happening_from, with_own
from holdfast.cli.hooks import Hooks, is_wanted
from holdfast.cli.operator_names import Names
from holdfast.client import hosts
from holdfast.model.errors import HoldfastError, MalformedArgument
from holdfast.model.events import EventName
from holdfast.model.ids import SessionId  # noqa: TC001  # read by people
from holdfast.model.text import printable
from holdfast.sdk.host import Host
from holdfast.sdk.session import Session
from holdfast.sdk.values import SessionInfo

STEP = 1.0
"""Seconds between checks for new sessions, and of each one's state."""

AWAY = 10.0
"""Seconds until an unreachable host is tried again."""

MAX_REPLACED = 64
"""Processes whose replacement is remembered as reported."""

MAX_WATCHED = 128
"""Sessions watched at a time: each takes two links."""

_LIVES = (EventName.SESSION_RESTORED, EventName.SESSION_RECOVERED)
"""What a life after the first is told as: it goes on, or was started again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("sessions", metavar="NAME", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--everywhere", action="store_true")
    parser.add_argument("--on", metavar="EVENT", action="append", default=[])
    parser.add_argument("--exec", metavar="CMD")


def run(options: argparse.Namespace) -> int:
    """Watch until a signal comes, or every session named has ended."""
    for pattern in options.on:
        if not any(is_wanted(name, [pattern]) for name in EventName):
            wanted = f"an event: {', '.join(EventName)}"
            raise MalformedArgument(printable(pattern, 64), wanted)
    watch = Watch(options)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(watch.run())
    return 0


class Watch:
    """The sessions watched, and what is printed of them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._wanted: list[str] = options.on or ["*"]
        self._as_json: bool = options.json
        self._everywhere: bool = options.everywhere
        self._asked: list[str] = options.sessions
        self._hooks = Hooks(_words(options.exec), [])
        self._names = Names()
        self._watched: set[SessionId] = set()
        self._lives: dict[SessionId, int] = {}
        """Which life of each session was seen last."""

        self._replaced: deque[tuple[object, ...]] = deque(maxlen=MAX_REPLACED)

    async def run(self) -> None:
        """Watch everything asked for.

        Raises:
            HoldfastError: A session that was named is not there.

        """
        places: dict[str, list[str]] = {}
        for asked in self._asked:
            host, _, name = asked.rpartition("/")
            places.setdefault(host, []).append(name)
        if not self._asked:
            places[""] = []
        if self._everywhere:
            for known in await asyncio.to_thread(hosts.known):
                places.setdefault(known.name, [])
        errors: list[HoldfastError] = []
        async with asyncio.TaskGroup() as group:
            hooks = group.create_task(self._hooks.run())
            watching = [
                group.create_task(self._caught(errors, where, names))
                for where, names in places.items()
            ]
            await asyncio.wait(watching)
            await self._hooks.wait_done()  # The end is the event most people wait for.
            hooks.cancel()
        if errors:
            raise errors[0]

    async def _caught(
        self, errors: list[HoldfastError], where: str, names: list[str]
    ) -> None:
        while True:
            try:
                async with holdfast.connect(where) as host:
                    await self._host(host, names)
                    return
            except HoldfastError as error:
                if names:
                    errors.append(error)
                    return
                self._say(EventName.SESSION_UNREACHABLE, "", where, {"why": str(error)})
            await asyncio.sleep(AWAY)

    async def _host(self, host: Host, names: list[str]) -> None:
        found = [await host.find(name) for name in names]
        async with asyncio.TaskGroup() as group:
            for one in found:
                group.create_task(self._session(host, one))
            while not names:
                for one in await self._new(host):
                    self._watched.add(one.id)
                    group.create_task(self._session(host, one))
                await asyncio.sleep(STEP)

    async def _new(self, host: Host) -> list[SessionInfo]:
        """Return sessions not watched yet, as many as there is room for."""
        try:
            listed = await host.sessions()
        except HoldfastError as error:
            self._say(EventName.SESSION_UNREACHABLE, "", host.name, {"why": str(error)})
            await asyncio.sleep(AWAY)
            return []
        live = [one for one in listed if one.exit_status is None]
        new = [one for one in live if one.id not in self._watched]
        return new[: max(0, MAX_WATCHED - len(self._watched))]

    async def _session(self, host: Host, info: SessionInfo) -> None:
        self._watched.add(info.id)
        session = host.attach(info.id, observe=True)
        self._tell_life(info)
        self._tell(info, Happening(EventName.SESSION_SEEN, {}))
        try:
            async with session, asyncio.TaskGroup() as group:
                # It may have been lost and begun again before we were attached.
                self._tell_life(await host.find(info.id))
                looking = group.create_task(self._look(session, info))
                async for event in session.events():
                    told = happening_from(event)
                    if told is not None and self._is_new(info, told):
                        self._tell(info, told)
                looking.cancel()
        except* HoldfastError as group_of_errors:
            self._tell(info, await _end_of(host, info, group_of_errors.exceptions[0]))
        finally:
            self._watched.discard(info.id)

    def _tell_life(self, info: SessionInfo) -> None:
        """Report a life that has begun since the one that we have seen."""
        self._lives.setdefault(info.id, info.incarnation)
        told = Happening(
            _LIVES[info.is_reconstructed], {"incarnation": info.incarnation}
        )
        if self._is_new(info, told):
            self._tell(info, told)

    async def _look(self, session: Session, info: SessionInfo) -> None:
        """Report state changes: the kernel notifies nobody of them."""
        last = ""
        with contextlib.suppress(HoldfastError):
            while True:
                word = (await session.state()).word
                if last and word != last:
                    fields: dict[str, str | int] = {"state": word, "former": last}
                    self._tell(info, Happening(EventName.STATE_CHANGED, fields))
                last = word
                await asyncio.sleep(STEP)

    def _is_new(self, info: SessionInfo, told: Happening) -> bool:
        """Tell whether it was not told before, of a shared process or of a life."""
        life = told.fields.get("incarnation", 0)
        if told.name in _LIVES and isinstance(life, int):
            former = self._lives.get(info.id, 0)
            self._lives[info.id] = max(life, former)
            return life > former
        if told.name != EventName.PROCESS_REPLACED:
            return True
        key = (info.host, told.fields.get("what"), told.fields.get("pid"))
        is_new = key not in self._replaced
        self._replaced.append(key)
        return is_new

    def _tell(self, info: SessionInfo, told: Happening) -> None:
        own: dict[str, str | int] = {"name": info.name}
        self._say(told.name, info.id, info.host, with_own(own, told.fields))

    def _say(
        self, event: str, session: str, host: str, fields: dict[str, str | int]
    ) -> None:
        if not is_wanted(event, self._wanted):
            return
        at = time.time_ns() // 1_000_000
        own: dict[str, str | int] = {"event": event, "session": session, "host": host}
        facts = with_own({**own, "at_ms": at}, fields)
        if self._as_json:
            print(json.dumps(facts), flush=True)
        else:
            print(self._line(event, at, host, fields), flush=True)
        self._hooks.happened(event, facts)

    def _line(
        self, event: str, at: int, host: str, fields: dict[str, str | int]
    ) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(at / 1000))
        name = str(fields.get("name", ""))
        where = f"{host}/{name}" if host else name
        said = [
            f"{key} {self._names.told(str(value)) or 'nobody'}"
            for key, value in fields.items()
            if key != "name"
        ]
        return printable(f"{clock}  {where}  {event}  {', '.join(said)}".rstrip(), 1000)


async def _end_of(host: Host, info: SessionInfo, error: BaseException) -> Happening:
    """Return the event for a session whose events have stopped.

    A session that ends just as we attach has ended, and is not unreachable.
    """
    with contextlib.suppress(HoldfastError):
        status = (await host.find(info.id)).exit_status
        if status is not None:
            return Happening(EventName.SESSION_EXITED, {"status": status})
    return Happening(EventName.SESSION_UNREACHABLE, {"why": printable(str(error))})


def _words(command: str | None) -> list[str]:
    try:
        return shlex.split(command or "")
    except ValueError as error:
        raise MalformedArgument(printable(command or "", 64), str(error)) from None
