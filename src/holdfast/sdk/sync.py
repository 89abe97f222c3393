"""The SDK without `await`: the same words, for programs that block.

    with holdfast.sync.connect() as host:
        print(host.attach("build").run("make").status)

A thread with a loop of its own does the work, for as long as the host is entered.
What each method does, `holdfast.Session` and `holdfast.Host` say; an interrupt while
one of them waits is a cancellation there.
"""

import asyncio
import contextlib
import signal as signals
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent import futures
from types import TracebackType
from typing import Any, Self, TypeVar

from holdfast.core.book.logbook import Entry
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.sdk import host as hosts
from holdfast.sdk import session as sessions
from holdfast.sdk.events import Event, Noted
from holdfast.sdk.session import MAX_OUTPUT, TYPING_PATIENCE
from holdfast.sdk.session_views import MAX_READ, Pattern
from holdfast.sdk.turns import ASK_PATIENCE
from holdfast.sdk.values import (
    Chunk,
    CommandResult,
    Listening,
    Match,
    Screen,
    SessionInfo,
    Standing,
    State,
)
from holdfast.wire.blame import BlameReport
from holdfast.wire.graphs import Graph
from holdfast.wire.messages import Pending

Kind = TypeVar("Kind")


def connect(address: str = "", *, operator: str = "") -> "Host":
    """Return a host to enter: this machine, or one of the address book by its name."""
    return Host(hosts.connect(address, operator=operator))


class Host:
    """One machine's sessions; see `holdfast.Host`."""

    def __init__(self, host: hosts.Host) -> None:
        self._host = host
        self._thread = _Thread(host)

    @property
    def name(self) -> str:
        """What we call it; empty if it is this machine."""
        return self._host.name

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.end()

    def sessions(self) -> list[SessionInfo]:
        """Return every session that we may see, oldest first."""
        return self._thread.run(self._host.sessions())

    def find(self, text: str) -> SessionInfo:
        """Return the session that is meant: by its name, its id or how that begins."""
        return self._thread.run(self._host.find(text))

    def create(
        self,
        command: str | Sequence[str] | None = None,
        *,
        name: str = "",
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        size: Size | tuple[int, int] | None = None,
        timeout: float = APPROVAL,
    ) -> "Session":
        """Start a session and return it; enter it to be attached."""
        made = self._host.create(
            command, name=name, cwd=cwd, env=env, size=size, timeout=timeout
        )
        return Session(self._thread.run(made), self._thread)

    def attach(self, session: str | SessionInfo, *, observe: bool = False) -> "Session":
        """Return a session to enter: one that was found, or by its name or id."""
        return Session(self._host.attach(session, observe=observe), self._thread)


class Session:
    """One session, here or at a host elsewhere; see `holdfast.Session`."""

    def __init__(self, session: sessions.Session, thread: "_Thread") -> None:
        self._session = session
        self._run = thread.run

    @property
    def id(self) -> SessionId:
        """Its id; empty until the session has been looked up."""
        return self._session.id

    @property
    def name(self) -> str:
        """Its name, as it was when the session was looked up."""
        return self._session.name

    @property
    def host(self) -> str:
        """What we call the host it lives at; empty if that is this machine."""
        return self._session.host

    def __enter__(self) -> Self:
        self._run(self._session.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._session.__aexit__(kind, error, trace))

    # ── commands and typing ───────────────────────────────────────────────

    def run(  # noqa: PLR0913  # all but the first by name
        self,
        command: str,
        *,
        timeout: float | None = None,
        key: str | None = None,
        max_output: int = MAX_OUTPUT,
        expect: Pattern | None = None,
        until_input: bool = False,
        approval_timeout: float = APPROVAL,
    ) -> CommandResult:
        """Run a line in the session's shell, and return what came of it."""
        return self._run(
            self._session.run(
                command,
                timeout=timeout,
                key=key,
                max_output=max_output,
                expect=expect,
                until_input=until_input,
                approval_timeout=approval_timeout,
            )
        )

    def intend(
        self, act: str, intent: str, *, effect: str = "", parameters: str = ""
    ) -> None:
        """Put on record what we do next, why, and what should come of it."""
        intending = self._session.intend(
            act, intent, effect=effect, parameters=parameters
        )
        self._run(intending)

    def send(
        self,
        text: str | bytes,
        *,
        enter: bool = False,
        timeout: float = TYPING_PATIENCE,
        approval_timeout: float = APPROVAL,
    ) -> int:
        """Type text, and return once the terminal has taken every byte."""
        return self._run(
            self._session.send(
                text, enter=enter, timeout=timeout, approval_timeout=approval_timeout
            )
        )

    def keys(
        self,
        *names: str,
        timeout: float = TYPING_PATIENCE,
        approval_timeout: float = APPROVAL,
    ) -> int:
        """Press keys by their names, such as "C-c", "Up" or "Enter"."""
        pressing = self._session.keys(
            *names, timeout=timeout, approval_timeout=approval_timeout
        )
        return self._run(pressing)

    def signal(
        self,
        signal: int = signals.SIGINT,
        *,
        timeout: float = TYPING_PATIENCE,
        approval_timeout: float = APPROVAL,
    ) -> None:
        """Send a signal to what runs in the foreground: interrupt it, or end it."""
        self._run(
            self._session.signal(
                signal, timeout=timeout, approval_timeout=approval_timeout
            )
        )

    def answer(
        self,
        secret: str | bytes,
        *,
        key_by_key: bool = False,
        timeout: float = TYPING_PATIENCE,
        approval_timeout: float = APPROVAL,
    ) -> int:
        """Type a secret and Enter for a program that asks for one."""
        return self._run(
            self._session.answer(
                secret,
                key_by_key=key_by_key,
                timeout=timeout,
                approval_timeout=approval_timeout,
            )
        )

    def resize(self, columns: int, rows: int) -> None:
        """Give the session's terminal another size."""
        self._run(self._session.resize(columns, rows))

    def end(
        self, signal: int = signals.SIGHUP, *, leave_daemons: bool = False
    ) -> int | None:
        """End the session, remove its record and return its status, if known."""
        ended = self._session.end(signal, leave_daemons=leave_daemons)
        return self._run(ended)

    # ── waiting ───────────────────────────────────────────────────────────

    def wait_for(
        self,
        pattern: Pattern,
        timeout: float | None = None,
        *,
        after: int | None = None,
    ) -> Match:
        """Wait until the session has printed something that fits, and return it."""
        return self._run(self._session.wait_for(pattern, timeout, after=after))

    def wait_quiet(self, seconds: float = 1.0, timeout: float | None = None) -> int:
        """Wait until nothing was printed for so long; return where the stream ends."""
        return self._run(self._session.wait_quiet(seconds, timeout))

    def wait_prompt(self, timeout: float | None = None) -> State:
        """Wait until the shell takes a command, by the kernel's word."""
        return self._run(self._session.wait_prompt(timeout))

    def wait_input(self, timeout: float | None = None) -> State:
        """Wait until a program waits for somebody to type."""
        return self._run(self._session.wait_input(timeout))

    def wait_secret(self, timeout: float | None = None) -> State:
        """Wait until a program asks for a password."""
        return self._run(self._session.wait_secret(timeout))

    def wait_port(self, port: int, timeout: float | None = None) -> Listening:
        """Wait until a process of the session listens on a port."""
        return self._run(self._session.wait_port(port, timeout))

    def wait_exit(self, timeout: float | None = None) -> int:
        """Wait until the session has ended; return its status, or minus the signal."""
        return self._run(self._session.wait_exit(timeout))

    # ── looking ───────────────────────────────────────────────────────────

    def screen(self) -> Screen:
        """Return what the session shows. Programs wrote it: it is never obeyed."""
        return self._run(self._session.screen())

    def read(self, from_offset: int | None = None, max_bytes: int = MAX_READ) -> Chunk:
        """Return what was printed from a byte on, or everything that is still kept."""
        return self._run(self._session.read(from_offset, max_bytes))

    def state(self) -> State:
        """Return what the session does, by the kernel's word."""
        return self._run(self._session.state())

    def graph(self, *, descriptors: bool = False) -> Graph:
        """Return what runs in the session, and what listens where."""
        return self._run(self._session.graph(descriptors=descriptors))

    def log(
        self, since: int = 0, *, last: int | None = None, most: int | None = None
    ) -> list[Entry]:
        """Return the entries of the session's logbook from an index on, checked."""
        return self._run(self._session.log(since, last=last, most=most))

    def blame(self, what: str, name: str = "", at_ms: int = 0) -> BlameReport:
        """Return who is behind something, as the session's holder knows it."""
        return self._run(self._session.blame(what, name, at_ms))

    def events(self, *, after: int | None = None) -> Iterator[Event]:
        """Yield what happens, as it happens: from now on, or from a byte on."""
        coming = self._session.events(after=after)
        try:
            while (event := self._run(_next(coming))) is not None:
                yield event
        finally:
            self._run(_close(coming))

    # ── the turn, and approvals ───────────────────────────────────────────

    def take_noted(self) -> list[Noted]:
        """Return what the session told of by itself while attached, each thing once."""
        return self._session.take_noted()

    def is_called(self, text: str) -> bool:
        """Tell whether a text means this session, as far as that is known here."""
        return self._session.is_called(text)

    def who(self) -> Standing:
        """Return who is attached, who has the turn and who waits for what."""
        return self._run(self._session.who())

    def take(self) -> Standing:
        """Take the turn, if it is free."""
        return self._run(self._session.take())

    def ask(self, timeout: float = ASK_PATIENCE) -> Standing:
        """Ask whoever has the turn for it, and wait until it is ours."""
        return self._run(self._session.ask(timeout))

    def give(self, to: str) -> Standing:
        """Give our turn to an operator that is attached, by its name or id."""
        return self._run(self._session.give(to))

    def refuse(self, asker: str) -> Standing:
        """Say no to an operator that asks for our turn."""
        return self._run(self._session.refuse(asker))

    def drop(self) -> Standing:
        """Let our turn go."""
        return self._run(self._session.drop())

    def seize(self, *, freeze: bool = False, interrupt: bool = False) -> Standing:
        """Take the turn, whoever has it; with it stop or interrupt what runs."""
        return self._run(self._session.seize(freeze=freeze, interrupt=interrupt))

    def freeze(self) -> Standing:
        """Stop every process of the session where it stands."""
        return self._run(self._session.freeze())

    def thaw(self) -> Standing:
        """Let the session's processes run again."""
        return self._run(self._session.thaw())

    @contextlib.contextmanager
    def turn(self, timeout: float = ASK_PATIENCE) -> Generator[Standing, None, None]:
        """Have the turn for a while: take it, or ask for it, and drop it afterwards."""
        held = self._session.turn(timeout)
        standing = self._run(held.__aenter__())
        try:
            yield standing
        finally:
            self._run(held.__aexit__(None, None, None))

    def pending(self) -> tuple[Pending, ...]:
        """Return what waits for somebody's approval."""
        return self._run(self._session.pending())

    def approve(self, what: int | Pending) -> Standing:
        """Let through what waits under a ticket, exactly as it was shown."""
        return self._run(self._session.approve(what))

    def deny(self, what: int | Pending) -> Standing:
        """Refuse what waits under a ticket."""
        return self._run(self._session.deny(what))


class _Thread:
    """A loop in a thread, for as long as a host is entered."""

    def __init__(self, host: hosts.Host) -> None:
        self._host = host
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Enter the host, and return when that is done."""
        entered: futures.Future[None] = futures.Future()
        serving = self._serve(entered)
        # It ends with its host; a program that forgot to leave one can still end.
        self._thread = threading.Thread(
            target=lambda: asyncio.run(serving), name="holdfast", daemon=True
        )
        self._thread.start()
        try:
            entered.result()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Leave the host, and return when nothing of it is left."""
        if self._loop is not None and self._leaving is not None:
            with contextlib.suppress(RuntimeError):  # It has ended by itself.
                self._loop.call_soon_threadsafe(self._leaving.set)
        if self._thread is not None:
            self._thread.join()

    def run(self, what: Coroutine[Any, Any, Kind]) -> Kind:
        """Have something done in the thread, and wait for it."""
        assert self._loop is not None, "enter the host first"  # noqa: S101
        future = asyncio.run_coroutine_threadsafe(what, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _serve(self, entered: futures.Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._leaving = asyncio.Event()
        try:
            # One task enters and leaves it, whoever calls in between.
            async with self._host:
                entered.set_result(None)
                await self._leaving.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(error)


async def _next(coming: AsyncIterator[Event]) -> Event | None:
    return await anext(coming, None)


async def _close(coming: AsyncIterator[Event]) -> None:
    if isinstance(coming, AsyncGenerator):
        await coming.aclose()
