"""The SDK without `await`: the same words, for programs that block.

    with holdfast.sync.connect() as host:
        print(host.attach("build").run("make").status)

A thread with a loop of its own does the work, for as long as the host is entered.
Methods have the signatures and docstrings of `holdfast.Session` and `holdfast.Host`; an
interrupt while one of them waits is a cancellation there.
"""

import contextlib
import functools
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from holdfast.aio.loop_thread import LoopThread
from holdfast.core.client.timeouts import APPROVAL, ASK_TURN
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.sdk import host as hosts
from holdfast.sdk import session as sessions
from holdfast.sdk.events import Event, Noted
from holdfast.sdk.values import LostSession, SessionInfo, Standing

Kind = TypeVar("Kind")
Given = ParamSpec("Given")


def connect(address: str = "", *, operator: str = "") -> "Host":
    """Return a host to enter: this machine, or one of the address book by its name."""
    return Host(hosts.connect(address, operator=operator))


class Host:
    """One machine's sessions; see `holdfast.Host`."""

    def __init__(self, host: hosts.Host) -> None:
        self._host = host
        self._thread = LoopThread("holdfast", host)

    @property
    def name(self) -> str:
        """What we call it; empty if it is this machine."""
        return self._host.name

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.end()

    def sessions(self) -> list[SessionInfo]:
        """Return every session that we may see, oldest first."""
        return self._thread.run(self._host.sessions())

    def find(self, text: str) -> SessionInfo:
        """Return the session that is meant: by its name, its id or how that begins."""
        return self._thread.run(self._host.find(text))

    def create(  # noqa: PLR0913  # as Host.create
        self,
        command: str | Sequence[str] | None = None,
        *,
        name: str = "",
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        size: Size | tuple[int, int] | None = None,
        runtime: str = "",
        timeout: float = APPROVAL,
    ) -> "Session":
        """Start a session and return it; enter it to be attached."""
        made = self._host.create(
            command,
            name=name,
            cwd=cwd,
            env=env,
            size=size,
            runtime=runtime,
            timeout=timeout,
        )
        return Session(self._thread.run(made), self._thread)

    def lost(self) -> list[LostSession]:
        """Return every session that was lost and that we may see, the last one last."""
        return self._thread.run(self._host.lost())

    def recover(
        self,
        session: str | LostSession,
        *,
        name: str = "",
        timeout: float = APPROVAL,
    ) -> "Session":
        """Start a lost session again and return it; enter it to be attached."""
        made = self._host.recover(session, name=name, timeout=timeout)
        return Session(self._thread.run(made), self._thread)

    def attach(self, session: str | SessionInfo, *, observe: bool = False) -> "Session":
        """Return a session to enter: one that was found, or by its name or id."""
        return Session(self._host.attach(session, observe=observe), self._thread)


class Session:
    """One session, here or at a host elsewhere; see `holdfast.Session`."""

    def __init__(self, session: sessions.Session, thread: LoopThread) -> None:
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

    def __exit__(self, *_: object) -> None:
        self._run(self._session.__aexit__())

    @staticmethod
    def _blocking(
        method: Callable[
            Concatenate[sessions.Session, Given], Coroutine[Any, Any, Kind]
        ],
    ) -> Callable[Concatenate["Session", Given], Kind]:
        """Return a method that does the same and waits for it."""

        @functools.wraps(method)
        def blocking(
            self: "Session", /, *given: Given.args, **named: Given.kwargs
        ) -> Kind:
            return self._run(method(self._session, *given, **named))

        return blocking

    run = _blocking(sessions.Session.run)
    intend = _blocking(sessions.Session.intend)
    notify = _blocking(sessions.Session.notify)
    send = _blocking(sessions.Session.send)
    keys = _blocking(sessions.Session.keys)
    signal = _blocking(sessions.Session.signal)
    answer = _blocking(sessions.Session.answer)
    resize = _blocking(sessions.Session.resize)
    end = _blocking(sessions.Session.end)

    wait_for = _blocking(sessions.Session.wait_for)
    wait_quiet = _blocking(sessions.Session.wait_quiet)
    wait_prompt = _blocking(sessions.Session.wait_prompt)
    wait_input = _blocking(sessions.Session.wait_input)
    wait_secret = _blocking(sessions.Session.wait_secret)
    wait_port = _blocking(sessions.Session.wait_port)
    wait_exit = _blocking(sessions.Session.wait_exit)

    screen = _blocking(sessions.Session.screen)
    read = _blocking(sessions.Session.read)
    state = _blocking(sessions.Session.state)
    graph = _blocking(sessions.Session.graph)
    can_checkpoint = _blocking(sessions.Session.can_checkpoint)
    log = _blocking(sessions.Session.log)
    blame = _blocking(sessions.Session.blame)

    who = _blocking(sessions.Session.who)
    take = _blocking(sessions.Session.take)
    ask = _blocking(sessions.Session.ask)
    give = _blocking(sessions.Session.give)
    refuse = _blocking(sessions.Session.refuse)
    drop = _blocking(sessions.Session.drop)
    seize = _blocking(sessions.Session.seize)
    freeze = _blocking(sessions.Session.freeze)
    thaw = _blocking(sessions.Session.thaw)
    pending = _blocking(sessions.Session.pending)
    approve = _blocking(sessions.Session.approve)
    deny = _blocking(sessions.Session.deny)

    def take_noted(self) -> list[Noted]:
        """Return what the session told of by itself while attached, each thing once."""
        return self._session.take_noted()

    def is_called(self, text: str) -> bool:
        """Tell whether a text means this session, as far as that is known here."""
        return self._session.is_called(text)

    def events(self, *, after: int | None = None) -> Iterator[Event]:
        """Yield what happens, as it happens: from now on, or from a byte on."""
        coming = self._session.events(after=after)
        try:
            while (event := self._run(_next(coming))) is not None:
                yield event
        finally:
            self._run(_close(coming))

    @contextlib.contextmanager
    def turn(self, timeout: float = ASK_TURN) -> Generator[Standing, None, None]:
        """Have the turn for a while: take it, or ask for it, and drop it afterwards."""
        held = self._session.turn(timeout)
        standing = self._run(held.__aenter__())
        try:
            yield standing
        finally:
            self._run(held.__aexit__(None, None, None))


async def _next(coming: AsyncIterator[Event]) -> Event | None:
    return await anext(coming, None)


async def _close(coming: AsyncIterator[Event]) -> None:
    if isinstance(coming, AsyncGenerator):
        await coming.aclose()
