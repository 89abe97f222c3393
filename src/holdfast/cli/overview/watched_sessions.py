"""Looks at sessions, most often at those that are shown, and wakes none that dozes.

Each session here that is awake has a task that looks at it now and then; one elsewhere
only while it is shown, because its host tells the rest. A look at a session that dozes
would wake it, so there is none, unless the user asks for one. A session in which
nothing changes is looked at less and less, on a link that is closed in between: it can
doze while it is in an overview.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from holdfast.aio.holder_link import Link
from holdfast.cli.overview.hosts import Hosts
from holdfast.cli.overview.session_looks import look_at
from holdfast.core.overview.acts import Event, Looked
from holdfast.core.overview.overview import Overview
from holdfast.core.overview.sessions import Key, Look, Row
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.text import printable
from holdfast.wire.messages import Pending

SHOWN = (0.3, 2.0)
"""Seconds between looks at a session that is shown: while it changes, and at most."""

UNSHOWN = (2.0, 8.0)
"""The same for one that is not, and that nobody is attached to: its keeper lists what
it does each second, and no input can be pending there."""

USED = (1.0, 3.0)
"""The same for a session with clients, whose input may wait for approval."""

SLOWER = 1.5
"""So many times longer is waited after a look that has shown nothing new."""

UNCHANGED = 3
"""Looks without anything new after which the link is closed."""

MAX_LOOKED = 200
"""Sessions that are not shown and are looked at, the most urgent and newest first; of
others only what the keeper lists is known."""

AT_ONCE = 8
"""Sessions that are dialled at the same time."""

PATIENCE = 3.0
"""Seconds for a look."""


class WatchedSessions:
    """The looks at all sessions of an overview."""

    def __init__(
        self, overview: Overview, hosts: Hosts, tell: Callable[[Event], None]
    ) -> None:
        self._overview = overview
        self._hosts = hosts
        self._tell = tell
        self._room = asyncio.Semaphore(AT_ONCE)
        self._tasks: asyncio.TaskGroup | None = None
        self._looking: dict[Key, _Looker] = {}
        self._shown: set[Key] = set()
        self._is_paused = False

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """Look from now on."""
        self._tasks = tasks

    def pause(self) -> None:
        """Look at nothing: nobody sees it."""
        self._is_paused = True
        for looker in self._looking.values():
            looker.task.cancel()
        self._looking.clear()

    def resume(self) -> None:
        """Look again."""
        self._is_paused = False

    def watch(self, shown: Sequence[Row]) -> None:
        """Look at these most often; at others that are there as often as is due."""
        if self._is_paused:
            return
        self._shown = {row.key for row in shown}
        others = [row for row in self._overview.order() if not row.host]
        wanted = {
            row.key: row
            for row in [*shown, *others[:MAX_LOOKED]]
            if not row.is_over and self._hosts.is_entered(row.host)
        }
        for key in self._looking.keys() - wanted.keys():
            self._looking.pop(key).task.cancel()
        for key, row in wanted.items():
            looker = self._looking.get(key)
            if looker is None or looker.task.done():
                if not row.is_dozing:
                    self._begin(key)
            elif key in self._shown and not looker.is_shown:
                looker.hurry()

    def look_now(self, key: Key) -> None:
        """Look at a session at once, even if that wakes it."""
        looker = self._looking.get(key)
        if looker is None or looker.task.done():
            looker = self._begin(key)
        looker.may_wake = True
        looker.hurry()

    def pending(self, key: Key, ticket: int, digest: bytes) -> Pending | None:
        """Return what waits, as its holder told it last."""
        looker = self._looking.get(key)
        for one in looker.pending if looker is not None else ():
            if (one.ticket, one.digest) == (ticket, digest):
                return one
        return None

    def is_shown(self, key: Key) -> bool:
        """Tell whether a picture of a session is on the screen."""
        return key in self._shown

    def row(self, key: Key) -> Row | None:
        """Return what is known of a session, if it is still there."""
        return self._overview.known.get(key)

    async def dial(self, key: Key) -> tuple[Link, ActorId]:
        """Return a link to a session, and who we are to it.

        Raises:
            HoldfastError: It cannot be reached, and why.

        """
        host, session = key[0], SessionId(key[1])
        async with self._room:
            way = self._hosts.entered(host, session).way
            stream = await way.dial(session)
            return await Link.open(session, stream, way.credentials(session)), way.us

    def found(self, key: Key, look: Look) -> None:
        """Take what was found out."""
        self._tell(Looked(key, look))

    def _begin(self, key: Key) -> "_Looker":
        assert self._tasks is not None  # noqa: S101  # it has begun
        looker = self._looking[key] = _Looker(self, key)
        looker.task = self._tasks.create_task(looker.run())
        return looker


class _Looker:
    """Looks at one session, again and again."""

    task: asyncio.Task[None]

    def __init__(self, looking: WatchedSessions, key: Key) -> None:
        self._looking = looking
        self._key = key
        self._hurried = asyncio.Event()
        self._link: Link | None = None
        self._us = ActorId("")
        self._last: Look | None = None
        self._unchanged = 0
        self.may_wake = False
        self.is_shown = False
        """Whether it was shown at the last look."""

        self.pending: tuple[Pending, ...] = ()

    def hurry(self) -> None:
        """Look now."""
        self._hurried.set()

    async def run(self) -> None:
        """Look until the session is gone or dozes, or nobody wants to know."""
        wait = SHOWN[0]
        try:
            while (row := self._looking.row(self._key)) is not None:
                if row.is_dozing and not self.may_wake:
                    return
                self._hurried.clear()
                least, most = self._pace(row)
                if await self._look():
                    wait, self._unchanged = least, 0
                else:
                    wait = min(max(wait, least) * SLOWER, most)
                    self._unchanged += 1
                if self._unchanged >= UNCHANGED:
                    await self._hang_up()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._hurried.wait()
        finally:
            await self._hang_up()

    def _pace(self, row: Row) -> tuple[float, float]:
        """Return how many seconds to wait between looks: at least, and at most."""
        if self._looking.is_shown(self._key):
            return SHOWN
        return USED if row.attached or row.crowd else UNSHOWN

    async def _look(self) -> bool:
        """Look once; tell whether something is new."""
        self.is_shown = self._looking.is_shown(self._key)
        self.may_wake = False
        try:
            async with asyncio.timeout(PATIENCE):
                if self._link is None:
                    self._link, self._us = await self._looking.dial(self._key)
                found = await look_at(self._link, self._us, with_picture=self.is_shown)
            look, self.pending = found
        except (HoldfastError, OSError) as error:
            await self._hang_up()
            look = Look(error=printable(str(error)) or "it does not answer")
        is_new = look != self._last
        self._last = look
        if is_new:
            self._looking.found(self._key, look)
        return is_new

    async def _hang_up(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()
