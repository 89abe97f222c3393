"""The base of a session object: which session, and how it is attached.

A program that enters a session is attached until the block is left: seen by others, and
keeping the turn. One that does not is attached for the moment of each act.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Self, TypeVar

from holdfast.core.client import questions
from holdfast.core.client.exchange import Exchange
from holdfast.core.client.questions import SessionQuestion
from holdfast.model.errors import SessionOver
from holdfast.model.ids import SessionId
from holdfast.model.session_record import ParentRecord
from holdfast.sdk import session_answers
from holdfast.sdk.events import Noted
from holdfast.sdk.standing_link import Line
from holdfast.sdk.values import SessionInfo, Standing
from holdfast.wire.codec import Message
from holdfast.wire.messages import Mode

if TYPE_CHECKING:
    from holdfast.sdk.host import Host

Result = TypeVar("Result")


class SessionBase:
    """One session of a host, looked up when it is first needed."""

    def __init__(
        self, host: "Host", wanted: str, info: SessionInfo | None, mode: Mode
    ) -> None:
        self._host = host
        self._wanted = wanted
        self._info = info
        self._mode = mode
        self._line: Line | None = None
        self._typed_at: int | None = None
        """Where the stream stood just before we typed last."""

    @property
    def id(self) -> SessionId:
        """Its id; empty until the session has been looked up."""
        return SessionId("") if self._info is None else self._info.id

    @property
    def parent(self) -> ParentRecord | None:
        """Of a branch: what it was made from, once the session has been looked up."""
        return None if self._info is None else self._info.parent

    @property
    def name(self) -> str:
        """Its name, as it was when the session was looked up."""
        return self._wanted if self._info is None else self._info.name

    @property
    def host(self) -> str:
        """What we call the host it lives at; empty if that is this machine."""
        return self._host.way_to(self.id).name

    def take_noted(self) -> list[Noted]:
        """Return what the session told of by itself while attached, each thing once.

        Such as a server in it that listens no longer.
        """
        if self._line is None:
            return []
        return self._line.take_noted()

    @property
    def is_attached(self) -> bool:
        """Whether we are in it, and it lives, as far as was heard."""
        return self._line is not None and self._line.is_attached

    def is_called(self, text: str) -> bool:
        """Tell whether a text means this session, as far as that is known here."""
        return text == self.id or self._host.way.is_called(self.id, text)

    async def __aenter__(self) -> Self:
        line = await self._standing_line()
        await line.enter()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._line is not None:
            await self._line.leave()

    # ── inside ────────────────────────────────────────────────────────────

    async def _found(self, *, fresh: bool = False) -> SessionInfo:
        if self._info is None or fresh:
            wanted = self.id or self._wanted
            self._info = await self._host.find(wanted)
        return self._info

    async def _live(self) -> SessionId:
        found = await self._found()
        if found.exit_status is not None:
            raise SessionOver("exited")
        return found.id

    async def _standing_line(self) -> Line:
        session = await self._live()
        if self._line is None:
            self._line = self._host.line(session, self._mode)
        return self._line

    @contextlib.asynccontextmanager
    async def _attached(self) -> AsyncGenerator[Line, None]:
        line = await self._standing_line()
        await line.enter()
        try:
            yield line
        finally:
            await line.leave()

    async def _ask(self, question: SessionQuestion[Result]) -> Result:
        async with self._attached() as line:
            return await line.ask(question)

    async def _request(self, *asked: Message) -> Standing:
        async with self._attached() as line:
            done = await line.ask(questions.request(line.us, *asked))
        return session_answers.standing_from(done)

    async def _converse(self, exchange: Exchange[Result]) -> Result:
        """Carry something through on a link of its own: nobody else waits for it."""
        return await self._host.converse((await self._found()).id, exchange)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
