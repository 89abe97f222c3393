"""A host: its sessions, and how to reach them.

async with holdfast.connect() as host:          # this machine
async with holdfast.connect("laptop") as host:  # a host of the address book
"""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from typing import Self, TypeVar

from holdfast.client import keeper
from holdfast.client.proven_requests import made_here
from holdfast.client.wanted_session import environment
from holdfast.core.client.exchange import Exchange
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model import errors
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.limits import NO_LIMITS, Limits
from holdfast.model.session_record import Cells
from holdfast.model.session_requests import Creation, ListSessions, Recover
from holdfast.model.text import checked_name
from holdfast.sdk.driver import Driver
from holdfast.sdk.lost import (
    demand_not_lost,
    images_at,
    lost_at,
    remove_image,
    wish_for,
    wish_for_branch,
    wish_for_image,
)
from holdfast.sdk.pending_session import PendingSession
from holdfast.sdk.routes import Way, way_to
from holdfast.sdk.session import Session
from holdfast.sdk.standing_link import Line
from holdfast.sdk.values import ImageInfo, LostSession, SessionInfo
from holdfast.wire.messages import Mode

Result = TypeVar("Result")


def connect(address: str = "", *, operator: str = "") -> "Host":
    """Return a host to enter: this machine, or one of the address book by its name.

    `operator` is who we act as; else it is as on the command line, by HOLDFAST_AS or
    as the user who is logged in. An operator of a new name is added as an agent.

    Nothing happens before the host is entered.
    """
    return Host(address, operator)


class Host:
    """One machine's sessions. Use it as a context manager."""

    def __init__(self, name: str, operator: str) -> None:
        self.name = name
        """What we call it; empty if it is this machine."""

        self._operator = operator
        self._way: Way | None = None
        self._tasks = asyncio.TaskGroup()
        self._lines: list[Line] = []
        self._talks: list[asyncio.Timeout] = []

    @property
    def way(self) -> Way:
        """How it is reached; there only while the host is entered."""
        assert self._way is not None, "enter the host first"  # noqa: S101
        return self._way

    def way_to(self, session: SessionId) -> Way:
        """Return the way to a session of it, which may have moved elsewhere since."""
        moved = self.way.moved
        return self.way if moved is None else moved.way_to(session, self.way)

    async def __aenter__(self) -> Self:
        self._way = await way_to(self.name, self._operator, self._tasks)
        # The block's own errors are to be raised as they are, and not in a group:
        # so the group is not told of them.
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for line in self._lines:
            await line.hang_up()
        for talk in self._talks:
            talk.reschedule(0)
        await self.way.close()
        if self.way.moved is not None:
            await self.way.moved.close()
        await self._tasks.__aexit__(None, None, None)

    async def sessions(self) -> list[SessionInfo]:
        """Return every session that we may see, oldest first.

        Each is asked what it does; one that does not answer at once is listed without.

        Raises:
            Unavailable: There is no keeper, or the host cannot be reached.

        """
        return await self._listed(self.way, look=True)

    async def find(self, text: str) -> SessionInfo:
        """Return the session that is meant: by its name, its id or how that begins.

        Raises:
            UsageError: It fits none, or several.
            Unavailable: There is no keeper, or the host cannot be reached.

        """
        way = self.way_to(SessionId(text))
        try:
            return keeper.resolve(text, await self._listed(way, look=False))
        except errors.SessionNotFound:
            if not way.name and (gone := await self._gone(text)) is not None:
                return gone
            demand_not_lost(text, await lost_at(self.way))
            raise

    async def create(  # noqa: PLR0913  # all that can be said of a session
        self,
        command: str | Sequence[str] | None = None,
        *,
        name: str = "",
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        size: Size | tuple[int, int] | None = None,
        runtime: str = "",
        limits: Limits = NO_LIMITS,
        timeout: float = APPROVAL,
    ) -> Session:
        """Start a session and return it; enter it to be attached.

        Without a command it is the user's shell; a text is split into words as a shell
        does. It starts in this folder with this environment, to which `env` is added;
        elsewhere in the home folder of the user who runs the host. For anybody but a
        human the environment is the host's own, and what `env` adds to it is judged.

        `runtime` is `"capsule"` for a session behind walls, or `"plain"`; without it a
        human's session is plain, and anybody else's a capsule where that can be.
        `limits` says how much of the machine a capsule may use at most.

        If it needs approval, that is waited for, at most `timeout` seconds.
        Cancelled, it is withdrawn, and what was started is ended again if it can be.

        Raises:
            Forbidden: We may not start that; nothing was run.
            UsageError: It cannot be started, or the name is taken.
            Unsettled: Whether it was started is not known; `sessions` shows it.
            Unavailable: Nothing was started, or nobody approved it in time.

        """
        words = shlex.split(command) if isinstance(command, str) else command
        measures = size if size is None or isinstance(size, Size) else Size(*size)
        asked = Creation(
            name=checked_name(name) if name else None,
            command=tuple(words or ()),
            cwd=cwd,
            env=environment(is_personal=self.way.is_personal) | dict(env or {}),
            size=Cells(measures.columns, measures.rows) if measures else None,
            integration=True,
            runtime=runtime,
            memory=limits.memory,
            millicpus=limits.millicpus,
            pids=limits.pids,
        )
        wanted = asked if self.name else made_here(asked)
        made = await PendingSession(self, wanted, timeout).wait(self._tasks)
        return self.attach(await self.find(made))

    async def lost(self) -> list[LostSession]:
        """Return every session that was lost and that we may see, the last one last.

        Lost means with the machine, or with all of our processes at once.

        Raises:
            Unavailable: There is no keeper, or the host cannot be reached.

        """
        return await lost_at(self.way)

    async def recover(
        self,
        session: str | LostSession,
        *,
        name: str = "",
        timeout: float = APPROVAL,
    ) -> Session:
        """Start a lost session again and return it; enter it to be attached.

        It keeps its id, command, folder, size, logbook and the end of its output, and
        its name unless another is given. Its processes and their memory are gone:
        `SessionInfo.is_reconstructed` says so. The command is judged as that of
        `create` is. If its environment was not kept, it gets that of this process;
        elsewhere that of the host.

        Raises:
            Forbidden: We may not start that; nothing was run.
            UsageError: It was not lost, or cannot be recovered, or the name is taken.
            Unsettled: Whether it was started is not known; `sessions` shows it.
            Unavailable: Nothing was started, or nobody approved it in time.

        """
        one = await self._found_lost(session) if isinstance(session, str) else session
        asked = wish_for(one, checked_name(name) if name else "", self.way)
        made = await PendingSession(self, asked, timeout).wait(self._tasks)
        return self.attach(await self.find(made))

    async def restore(
        self,
        image: str,
        *,
        name: str = "",
        as_new: bool = False,
        files: str = "",
        timeout: float = APPROVAL,
    ) -> Session:
        """Let a session go on from an image and return it; enter it to be attached.

        `image` is what `Session.checkpoint` returned as one, or a session, for its
        newest. It is the session's next incarnation, and is judged as a start is; with
        `as_new` it is a new session instead, a branch, and the other one may live.
        If a file that it has open has changed since, it is refused, unless `files`
        says what becomes of it: "put-back" or "as-is".

        Raises:
            Forbidden: We may not start that; nothing was run.
            UsageError: There is no such image, it was restored before, or the session
                still lives, or a file has changed.
            PeerError: The image is damaged; nothing was started.
            Unsettled: Whether it was started is not known; `sessions` shows it.
            Unavailable: CRIU refused, or nobody approved it in time.

        """
        wanted = checked_name(name) if name else ""
        if as_new:
            branch = await wish_for_branch(image, wanted, self.way)
            return await self.made(branch, timeout)
        asked = await wish_for_image(image, wanted, self.way, files)
        return await self.made(asked, timeout)

    async def made(self, asked: Creation | Recover, timeout: float) -> Session:
        """Have a session made, and return it."""
        made = await PendingSession(self, asked, timeout).wait(self._tasks)
        return self.attach(await self.find(made))

    async def images(self, session: str = "") -> list[ImageInfo]:
        """Return the images that we may see, the newest first: all, or of one session.

        A human sees all of this machine. Anybody else, and everybody elsewhere, sees
        those of sessions on which they have the right `checkpoint`.

        Raises:
            Unavailable: The host cannot be reached.

        """
        return await images_at(self.way, session)

    async def remove_image(self, image: str) -> None:
        """Remove an image, by the name that `images` gives it.

        Raises:
            Forbidden: We may not. On this machine only a human may.
            UsageError: There is no such image.
            Unavailable: It is in use, or the host cannot be reached.

        """
        await remove_image(image, self.way)

    async def _found_lost(self, text: str) -> LostSession:
        for one in reversed(await lost_at(self.way)):
            if one.is_called(text):
                return one
        living = await self.find(text)
        why = "it lives" if living.exit is None else "it has ended; it was not lost"
        raise errors.NotRecoverable(living.label, why)

    def attach(self, session: str | SessionInfo, *, observe: bool = False) -> Session:
        """Return a session to enter: one that was found, or by its name or id.

        With `observe` nothing can be typed.
        """
        mode = Mode.OBSERVE if observe else Mode.OPERATE
        if isinstance(session, SessionInfo):
            return Session(self, session.id, session, mode)
        return Session(self, session, None, mode)

    async def _listed(self, way: Way, *, look: bool) -> list[SessionInfo]:
        told = await way.ask(ListSessions(look))
        return [SessionInfo(*one) for one in keeper.sessions_in(told, way.name)]

    async def _gone(self, text: str) -> SessionInfo | None:
        """Return a session that has moved away from this machine, as it is now."""
        moved = self.way.moved
        note = None if moved is None else await moved.led_to(text, self.way)
        if note is None:
            return None
        session = SessionId(note.session)
        there = self.way_to(session)
        try:
            return keeper.resolve(session, await self._listed(there, look=False))
        except errors.HoldfastError as error:
            raise errors.SessionMoved(note.name, note.host) from error

    def line(self, session: SessionId, mode: Mode) -> Line:
        """Return a line to a session, which is hung up at the latest when we leave."""
        self._lines = [one for one in self._lines if one.is_open]
        line = Line(self.way, session, mode, self._tasks)
        self._lines.append(line)
        return line

    async def converse(
        self, session: SessionId, what: Exchange[Result] | Driver[Result]
    ) -> Result:
        """Carry an exchange with a session through, as long as we are here.

        Raises:
            Unavailable: We have left the host.
            HoldfastError: What the exchange ends with.

        """
        driver = what if isinstance(what, Driver) else Driver(self.way, session, what)
        scope = asyncio.timeout(None)
        self._talks.append(scope)
        try:
            async with scope:
                return await driver.run()
        except TimeoutError:
            raise errors.SessionUnreachable(session, "we have left its host") from None
        finally:
            self._talks.remove(scope)
