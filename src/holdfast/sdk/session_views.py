"""Looking at a session: screen, state, processes, output, waiting."""

import contextlib
import math
import re
from collections.abc import AsyncIterator
from typing import TypeVar

from holdfast.client.driver import attachment_to
from holdfast.core.book.logbook import Entry
from holdfast.core.client import questions, state_wait
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.screen_question import screen as screen_question
from holdfast.core.client.state_wait import Wanted, Watch
from holdfast.core.client.stream_wait import (
    EndWait,
    MatchWait,
    QuietWait,
    Reading,
    Tail,
)
from holdfast.model.errors import MalformedArgument
from holdfast.sdk import command_run, session_answers
from holdfast.sdk.driver import Driver
from holdfast.sdk.events import Event, InOrder, event_from
from holdfast.sdk.logbook import Wanted as WantedEntries
from holdfast.sdk.logbook import entries_of
from holdfast.sdk.session_base import SessionBase
from holdfast.sdk.values import Chunk, Listening, Match, Screen, State
from holdfast.wire.blame import BlameReport
from holdfast.wire.graphs import MAX_PORT, Graph
from holdfast.wire.messages import Mode

Answer = TypeVar("Answer")
Result = TypeVar("Result")

Pattern = str | bytes | re.Pattern[bytes]
"""What is looked for in the stream: a regular expression over its bytes."""

MAX_READ = 1024 * 1024
"""Bytes of the stream that are read at once unless asked otherwise."""


class SessionViews(SessionBase):
    """What can be asked without changing anything."""

    # ── looking ───────────────────────────────────────────────────────────

    async def screen(self) -> Screen:
        """Return what the session shows. Programs wrote it: it is never obeyed.

        Raises:
            Unavailable: It cannot be painted now.

        """
        seen = await self._ask(screen_question(cells=False))
        return session_answers.screen_from(seen)

    async def read(
        self, from_offset: int | None = None, max_bytes: int = MAX_READ
    ) -> Chunk:
        """Return what was printed from a byte on, or everything that is still kept.

        Does not wait for more: an empty chunk is the present end of the stream.

        Raises:
            UsageError: The stream has not come so far, or a number is no offset.

        """
        if max_bytes < 1:
            raise MalformedArgument(str(max_bytes), "a number of bytes, 1 or more")
        reading = Reading(await self._observer(), from_offset, max_bytes, self._now())
        read = await self._converse(reading)
        return Chunk(read.offset, read.content, read.gap)

    async def state(self) -> State:
        """Return what the session does, by the kernel's word, and how that is known."""
        return session_answers.state_from(await self._ask(questions.state()))

    async def graph(self, *, descriptors: bool = False) -> Graph:
        """Return what runs in the session, and what listens where."""
        return await self._ask(questions.graph(descriptors=descriptors))

    async def log(
        self, since: int = 0, *, last: int | None = None, most: int | None = None
    ) -> list[Entry]:
        """Return the entries of the session's logbook from an index on, checked.

        With `last`, the last so many instead; with `most`, no more than that. However
        long the book is, not much more than those is read.

        Raises:
            PeerError: The book was changed.
            UsageError: There is none.

        """
        wanted = WantedEntries(since, last, most)
        session = (await self._found()).id
        return await entries_of(self._host.way_to(session), session, wanted)

    async def blame(self, what: str, name: str = "", at_ms: int = 0) -> BlameReport:
        """Return who is behind something, as the session's holder knows it.

        `what` is variable, alias, function, option, trap or path-entry, with its name;
        `line`, for unsubmitted input; or `moment` or `process`, with `at_ms`.

        Raises:
            UsageError: The shell tells nothing, or the name is too long.

        """
        return await self._ask(questions.blame(what, name, at_ms))

    def events(self, *, after: int | None = None) -> AsyncIterator[Event]:
        """Yield what happens, as it happens: from now on, or from a byte on.

        "Now" is when the first event is awaited.

        Every byte comes once and in order, whatever dies meanwhile, or a Gap says
        which are gone. A program slower than the session delays only itself: what
        it has not taken waits in the session, and is a Gap if that is too long.
        Exited is the last event.

        Cancelling is safe: `end` of the last Output is the `after` to continue from.

        Raises:
            Unavailable: The session cannot be reached any more.
            Forbidden: We may not watch it.

        """
        return self._events(after)

    # ── waiting ───────────────────────────────────────────────────────────

    async def wait_for(
        self,
        pattern: Pattern,
        timeout: float | None = None,
        *,
        after: int | None = None,
    ) -> Match:
        """Wait until the session has printed something that fits, and return it.

        What was printed since we typed last counts, or everything that is still kept
        if we have typed nothing; with `after`, what was printed from that byte on.

        Raises:
            Unavailable: It did not come in time.
            UsageError: The session ended first.

        """
        start = self._typed_at if after is None else after
        wanted = command_run.pattern_from(pattern)
        observer = await self._observer()
        wait = MatchWait(observer, wanted, self._now(), timeout, start)
        return Match(*await self._converse(wait))

    async def wait_quiet(
        self, seconds: float = 1.0, timeout: float | None = None
    ) -> int:
        """Wait until nothing was printed for so long; return where the stream ends.

        Raises:
            Unavailable: It was not quiet in time.

        """
        observer = await self._observer()
        return await self._converse(QuietWait(observer, seconds, self._now(), timeout))

    async def wait_prompt(self, timeout: float | None = None) -> State:
        """Wait until the shell takes a command, by the kernel's word.

        Raises:
            Unavailable: It did not in time.
            UsageError: The session ended first.

        """
        return await self._wait_state(timeout, "at-prompt")

    async def wait_input(self, timeout: float | None = None) -> State:
        """Wait until a program waits for input; a password counts too.

        A full-screen program that is idle counts as well.

        Raises:
            Unavailable: It did not in time.
            UsageError: The session ended first.

        """
        return await self._wait_state(
            timeout, "waiting-for-input", "waiting-for-secret", "idle"
        )

    async def wait_secret(self, timeout: float | None = None) -> State:
        """Wait until a program asks for a password.

        Raises:
            Unavailable: It did not in time.
            UsageError: The session ended first.

        """
        return await self._wait_state(timeout, "waiting-for-secret")

    async def wait_port(self, port: int, timeout: float | None = None) -> Listening:
        """Wait until a process of the session listens on a port.

        Raises:
            Unavailable: None did in time.
            UsageError: The session ended first.

        """
        if not 0 < port <= MAX_PORT:
            raise MalformedArgument(str(port), f"a port from 1 to {MAX_PORT}")
        found = await self._watch(state_wait.port(port), timeout)
        return Listening(port, found.pid, found.address)

    async def wait_exit(self, timeout: float | None = None) -> int:
        """Wait until the session has ended; return its status, or minus the signal.

        Raises:
            Unavailable: It did not in time.

        """
        found = await self._found(fresh=True)
        if found.exit_status is not None:
            return found.exit_status
        observer = await self._observer()
        return await self._converse(EndWait(observer, self._now(), timeout))

    # ── inside ────────────────────────────────────────────────────────────

    async def _wait_state(self, timeout: float | None, *words: str) -> State:
        return session_answers.state_from(
            await self._watch(state_wait.state(*words), timeout)
        )

    async def _watch(
        self, wanted: Wanted[Answer, Result], timeout: float | None
    ) -> Result:
        session, now = await self._live(), self._now()
        until = math.inf if timeout is None else now + timeout
        return await self._converse(Watch(session, wanted, now, until))

    async def _observer(self) -> Attachment:
        return attachment_to((await self._found()).id, Mode.OBSERVE)

    async def _events(self, after: int | None) -> AsyncIterator[Event]:
        order = InOrder()
        tail = Tail(await self._observer(), start=after, from_now=after is None)
        driver = Driver(self._host.way, (await self._found()).id, tail)
        async with contextlib.aclosing(driver.steps()) as steps:
            async for _ in steps:
                for message in tail.take():
                    event = event_from(message)
                    if event is not None:
                        for due in order.add(event, tail.end):
                            yield due
