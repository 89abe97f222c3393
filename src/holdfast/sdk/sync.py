"""The SDK without `await`: the same names, for blocking programs.

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
)
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from holdfast.aio.loop_thread import LoopThread
from holdfast.core.client.timeouts import APPROVAL, ASK_TURN
from holdfast.model.ids import SessionId
from holdfast.model.session_record import ParentRecord
from holdfast.sdk import host as hosts
from holdfast.sdk import session as async_session
from holdfast.sdk.events import Event, Noted
from holdfast.sdk.values import ImageInfo, LostSession, SessionInfo, Standing

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

    @staticmethod
    def _starting(
        method: Callable[
            Concatenate[hosts.Host, Given], Coroutine[Any, Any, async_session.Session]
        ],
    ) -> Callable[Concatenate["Host", Given], "Session"]:
        """Return a method that does the same, and returns a session that blocks."""

        @functools.wraps(method)
        def starting(
            self: "Host", /, *given: Given.args, **named: Given.kwargs
        ) -> "Session":
            made = self._thread.run(method(self._host, *given, **named))
            return Session(made, self._thread)

        return starting

    create = _starting(hosts.Host.create)
    recover = _starting(hosts.Host.recover)
    restore = _starting(hosts.Host.restore)

    def lost(self) -> list[LostSession]:
        """Return every session that was lost and that we may see, the last one last."""
        return self._thread.run(self._host.lost())

    def images(self, session: str = "") -> list[ImageInfo]:
        """Return the images that we may see, the newest first."""
        return self._thread.run(self._host.images(session))

    def remove_image(self, image: str) -> None:
        """Remove an image, by the name that `images` gives it."""
        self._thread.run(self._host.remove_image(image))

    def attach(self, session: str | SessionInfo, *, observe: bool = False) -> "Session":
        """Return a session to enter: one that was found, or by its name or id."""
        return Session(self._host.attach(session, observe=observe), self._thread)


class Session:
    """One session, here or at a host elsewhere; see `holdfast.Session`."""

    def __init__(self, session: async_session.Session, thread: LoopThread) -> None:
        self._session = session
        self._thread = thread
        self._run = thread.run

    @property
    def id(self) -> SessionId:
        """Its id; empty until the session has been looked up."""
        return self._session.id

    @property
    def parent(self) -> ParentRecord | None:
        """Of a branch: what it was made from, once the session has been looked up."""
        return self._session.parent

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
            Concatenate[async_session.Session, Given], Coroutine[Any, Any, Kind]
        ],
    ) -> Callable[Concatenate["Session", Given], Kind]:
        """Return a method that does the same and waits for it."""

        @functools.wraps(method)
        def blocking(
            self: "Session", /, *given: Given.args, **named: Given.kwargs
        ) -> Kind:
            return self._run(method(self._session, *given, **named))

        return blocking

    run = _blocking(async_session.Session.run)
    intend = _blocking(async_session.Session.intend)
    notify = _blocking(async_session.Session.notify)
    send = _blocking(async_session.Session.send)
    keys = _blocking(async_session.Session.keys)
    signal = _blocking(async_session.Session.signal)
    answer = _blocking(async_session.Session.answer)
    resize = _blocking(async_session.Session.resize)
    end = _blocking(async_session.Session.end)
    discard = _blocking(async_session.Session.discard)

    wait_for = _blocking(async_session.Session.wait_for)
    wait_quiet = _blocking(async_session.Session.wait_quiet)
    wait_prompt = _blocking(async_session.Session.wait_prompt)
    wait_input = _blocking(async_session.Session.wait_input)
    wait_secret = _blocking(async_session.Session.wait_secret)
    wait_port = _blocking(async_session.Session.wait_port)
    wait_exit = _blocking(async_session.Session.wait_exit)

    screen = _blocking(async_session.Session.screen)
    read = _blocking(async_session.Session.read)
    state = _blocking(async_session.Session.state)
    graph = _blocking(async_session.Session.graph)
    checkpoint = _blocking(async_session.Session.checkpoint)
    preview = _blocking(async_session.Session.preview)
    can_checkpoint = _blocking(async_session.Session.can_checkpoint)
    log = _blocking(async_session.Session.log)
    blame = _blocking(async_session.Session.blame)

    who = _blocking(async_session.Session.who)
    take = _blocking(async_session.Session.take)
    ask = _blocking(async_session.Session.ask)
    give = _blocking(async_session.Session.give)
    refuse = _blocking(async_session.Session.refuse)
    drop = _blocking(async_session.Session.drop)
    seize = _blocking(async_session.Session.seize)
    freeze = _blocking(async_session.Session.freeze)
    thaw = _blocking(async_session.Session.thaw)
    pending = _blocking(async_session.Session.pending)
    approve = _blocking(async_session.Session.approve)
    deny = _blocking(async_session.Session.deny)

    def fork(self, *, name: str = "", timeout: float = APPROVAL) -> "Session":
        """Make a branch of the session and return it; enter it to be attached."""
        made = self._run(self._session.fork(name=name, timeout=timeout))
        return Session(made, self._thread)

    def promote(self, *, force: bool = False, timeout: float = APPROVAL) -> "Session":
        """Let the parent of this branch go on as the branch did, and return it."""
        made = self._run(self._session.promote(force=force, timeout=timeout))
        return Session(made, self._thread)

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
        """Hold the turn for a while: take it, or ask for it, and drop it afterwards."""
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
