"""A host: where sessions live, and how one gets there.

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
from holdfast.model.errors import (
    NotRecoverable,
    SessionNotFound,
    SessionUnreachable,
)
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Cells
from holdfast.model.session_requests import Creation, ListSessions
from holdfast.model.text import checked_name
from holdfast.sdk.driver import Driver
from holdfast.sdk.lost import demand_not_lost, lost_at, wish_for
from holdfast.sdk.pending_session import PendingSession
from holdfast.sdk.routes import Way, way_to
from holdfast.sdk.session import Session
from holdfast.sdk.standing_link import Line
from holdfast.sdk.values import LostSession, SessionInfo
from holdfast.wire.messages import Mode

Result = TypeVar("Result")


def connect(address: str = "", *, operator: str = "") -> "Host":
    """Return a host to enter: this machine, or one of the address book by its name.

    `operator` is who we act as; else it is as on the command line, by HOLDFAST_AS or
    as the user who is logged in. Somebody of a new name is made known as an agent.

    Nothing happens before the host is entered.
    """
    return Host(address, operator)


class Host:
    """One machine's sessions. Enter it, and leave it: nothing of ours stays behind."""

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
        await self._tasks.__aexit__(None, None, None)

    async def sessions(self) -> list[SessionInfo]:
        """Return every session that we may see, oldest first.

        Each is asked what it does; one that does not answer at once is listed without.

        Raises:
            Unavailable: There is no keeper, or the host cannot be reached.

        """
        return await self._listed(look=True)

    async def find(self, text: str) -> SessionInfo:
        """Return the session that is meant: by its name, its id or how that begins.

        Raises:
            UsageError: It fits none, or several.
            Unavailable: There is no keeper, or the host cannot be reached.

        """
        try:
            return keeper.resolve(text, await self._listed(look=False))
        except SessionNotFound:
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
        timeout: float = APPROVAL,
    ) -> Session:
        """Start a session and return it; enter it to be attached.

        Without a command it is the user's shell; a text is split into words as a shell
        does. It starts in this folder with this environment, to which `env` is added;
        elsewhere in the home folder of the user who runs the host. For anybody but a
        human the environment is the host's own, and what `env` adds to it is judged.

        `runtime` is `"capsule"` for a session behind walls, or `"plain"`; without it a
        human's session is plain, and anybody else's a capsule where that can be.

        If somebody has to approve it, that is waited for, at most `timeout` seconds.
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

    async def _found_lost(self, text: str) -> LostSession:
        for one in reversed(await lost_at(self.way)):
            if one.is_called(text):
                return one
        living = await self.find(text)
        why = "it lives" if living.exit is None else "it has ended; it was not lost"
        raise NotRecoverable(living.label, why)

    def attach(self, session: str | SessionInfo, *, observe: bool = False) -> Session:
        """Return a session to enter: one that was found, or by its name or id.

        With `observe` nothing can be typed, and nobody is in anybody's way.
        """
        mode = Mode.OBSERVE if observe else Mode.OPERATE
        if isinstance(session, SessionInfo):
            return Session(self, session.id, session, mode)
        return Session(self, session, None, mode)

    async def _listed(self, *, look: bool) -> list[SessionInfo]:
        told = await self.way.ask(ListSessions(look))
        return [SessionInfo(*one) for one in keeper.sessions_in(told, self.name)]

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
            raise SessionUnreachable(session, "we have left its host") from None
        finally:
            self._talks.remove(scope)
