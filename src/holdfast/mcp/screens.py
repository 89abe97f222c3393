"""Live screens as resources: read one, or subscribe to its changes.

    holdfast://sessions            every session of this machine
    holdfast://NAME-OR-ID/screen   what one shows

A change is reported at most twice a second for each screen, however much is printed;
the client then reads the screen itself.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote, unquote

from holdfast.mcp import contracts, read_tools
from holdfast.mcp.reach import Reach
from holdfast.mcp.tool_calls import Call
from holdfast.mcp.tool_output import Facts
from holdfast.model.errors import AskedTooOften, HoldfastError, MalformedArgument
from holdfast.model.text import printable
from holdfast.sdk.events import Exited, Output, Resized, StateChanged

LIST = "holdfast://sessions"
TEMPLATE = "holdfast://{session}/screen"
_SCREEN = re.compile(r"holdfast://([^/]{1,200})/screen")

CALM = 0.5
"""Seconds between two notices about one screen."""

MAX_WATCHED = 32
"""Screens watched at a time."""

_CHANGES = (Output, Resized, StateChanged, Exited)

Changed = Callable[[str], Awaitable[None]]
"""Called with the address of a screen that has changed."""


def uri_of(session: str) -> str:
    """Return the address of a session's screen."""
    return f"holdfast://{quote(session, safe='')}/screen"


def session_of(uri: str) -> str:
    """Return which session's screen it is.

    Raises:
        UsageError: It is not the address of a screen.

    """
    found = _SCREEN.fullmatch(uri)
    if found is None:
        raise MalformedArgument(printable(uri, 64), f"{LIST} or {TEMPLATE}")
    return unquote(found[1])


async def listed(reach: Reach) -> list[tuple[str, str]]:
    """Return address and name of each screen of this machine."""
    host = await reach.host()
    return [
        (uri_of(one.id), one.name)
        for one in await host.sessions()
        if one.exit_status is None
    ]


async def content(call: Call, uri: str) -> Facts:
    """Return the content of an address."""
    try:
        if uri == LIST:
            return await read_tools.list_sessions(call, contracts.OnHost())
        return await read_tools.screen(
            call, contracts.OnSession(session=session_of(uri))
        )
    finally:
        call.end()


class Watched:
    """The screens that clients have subscribed to."""

    def __init__(self, reach: Reach, changed: Changed) -> None:
        self._reach = reach
        self._changed = changed
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._wanted: dict[str, int] = {}

    def watch(self, uri: str) -> None:
        """Report changes at an address from now on; each call needs a `forget`.

        Raises:
            UsageError: The address is not a screen's.
            Unavailable: Too many are watched.

        """
        if uri == LIST:
            raise MalformedArgument(uri, "a screen, and only screens report changes")
        session = session_of(uri)
        if uri not in self._watching:
            if len(self._watching) >= MAX_WATCHED:
                raise AskedTooOften("screens watched at a time", MAX_WATCHED)
            watching = self._reach.tasks.create_task(self._watch(uri, session))
            self._watching[uri] = watching
            watching.add_done_callback(lambda _: self._ended(uri, watching))
        self._wanted[uri] = self._wanted.get(uri, 0) + 1

    def forget(self, uri: str) -> None:
        """Stop reporting, if nobody else is subscribed."""
        left = self._wanted.get(uri, 0) - 1
        if left > 0:
            self._wanted[uri] = left
            return
        self._wanted.pop(uri, None)
        watching = self._watching.pop(uri, None)
        if watching is not None:
            watching.cancel()

    def close(self) -> None:
        """Stop reporting everything."""
        for watching in self._watching.values():
            watching.cancel()

    async def _watch(self, uri: str, session: str) -> None:
        has_changed = asyncio.Event()
        teller = self._reach.tasks.create_task(self._tell(uri, has_changed))
        try:
            with contextlib.suppress(HoldfastError):
                host, found = await self._reach.find(session)
                async for event in host.attach(found.id, observe=True).events():
                    if isinstance(event, _CHANGES):
                        has_changed.set()
            has_changed.set()  # A client that reads it learns why nothing more comes.
            await asyncio.sleep(CALM)
        finally:
            teller.cancel()

    async def _tell(self, uri: str, has_changed: asyncio.Event) -> None:
        while True:
            await has_changed.wait()
            has_changed.clear()
            await self._changed(uri)
            await asyncio.sleep(CALM)

    def _ended(self, uri: str, watching: asyncio.Task[None]) -> None:
        if self._watching.get(uri) is watching:
            del self._watching[uri]
