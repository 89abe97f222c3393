"""Links to sessions elsewhere, for code that reads and writes sockets and blocks.

A thread with a loop of its own keeps the channels. Whoever wants a session is
given one end of a pair of sockets, as if its holder listened on this machine; the
thread carries what comes between the other end and the channel. A channel on
which something was asked is kept a moment: whoever lists sessions opens one next.
"""

import asyncio
import atexit
import contextlib
import socket
import threading
from collections.abc import Coroutine
from concurrent import futures
from typing import Any, TypeVar

from holdfast.client.acting import ourselves
from holdfast.client.hostlink import HostLink, join_host, reach_host
from holdfast.client.hosts import KnownHost
from holdfast.crypto.identity import Identity
from holdfast.model.errors import (
    CreationUnknown,
    HoldfastError,
    HostUnreachable,
    LinkEnded,
    Revoked,
)
from holdfast.model.ids import SessionId
from holdfast.wire.requests import Packet

READ = 256 * 1024
"""Bytes taken from either side at once, and what may wait in the pair of sockets:
whoever does not read stops the channel, and with it the host."""

PARKED = 3.0
"""Seconds that an answered channel is kept for what is asked next."""

LAST_WORDS = 0.5
"""Seconds in which what was said just before the end of the process goes out."""

ASKING = 30.0
"""Seconds for a question, with everything on the way to it."""

Kind = TypeVar("Kind")

Way = tuple[bytes, bytes]
"""Who we are and which host it is, by their keys: nobody uses another's channel."""


def ask(host: KnownHost, do: str, fields: dict[str, object]) -> Packet:
    """Ask a host something, and return its answer.

    Raises:
        HoldfastError: It refused, and why.
        Unavailable: It cannot be reached, or does not answer.

    """
    return _thread().run(_ask(host, do, fields), ASKING, host.name)


def open_session(host: KnownHost, session: SessionId, patience: float) -> socket.socket:
    """Return a socket that leads to the holder of a session elsewhere.

    Raises:
        Forbidden: The host does not let us in.
        Unavailable: It cannot be reached within `patience` seconds.

    """
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, READ)
    theirs.setblocking(False)  # noqa: FBT003  # the name of the call says it
    try:
        _thread().run(_open(host, session, theirs), patience, host.name)
    except BaseException:
        ours.close()
        theirs.close()
        raise
    return ours


def join(
    relays: tuple[str, ...], host_public: bytes, invite: tuple[bytes, bytes]
) -> tuple[bytes, Packet]:
    """Use an invitation; return the host's key for handshakes and what it says.

    Raises:
        HoldfastError: It refused, and why.
        Unavailable: It cannot be reached, or does not answer.

    """
    return _thread().run(_join(relays, host_public, invite), ASKING, "the host")


# ── in the thread ─────────────────────────────────────────────────────────────


class _Thread:
    """A loop in a thread, which ends with the process."""

    def __init__(self) -> None:
        self.group: asyncio.TaskGroup
        self.pumps: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop
        is_ready = threading.Event()
        run = asyncio.run
        threading.Thread(
            target=lambda: run(self._serve(is_ready)), name="links", daemon=True
        ).start()
        is_ready.wait()
        atexit.register(self._say_last_words)

    def run(self, what: Coroutine[Any, Any, Kind], patience: float, whom: str) -> Kind:
        """Have something done in the thread, and wait for it so long."""
        future = asyncio.run_coroutine_threadsafe(what, self._loop)
        try:
            return future.result(patience)
        except futures.TimeoutError:
            future.cancel()
            raise HostUnreachable(whom, f"nothing within {patience:.1f} s") from None

    async def _serve(self, is_ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as self.group:
            is_ready.set()
            await asyncio.Event().wait()

    def _say_last_words(self) -> None:
        with contextlib.suppress(futures.TimeoutError, RuntimeError):
            asyncio.run_coroutine_threadsafe(self._drained(), self._loop).result(
                LAST_WORDS
            )

    async def _drained(self) -> None:
        for way in list(_parked):
            if (link := _take_parked(way)) is not None:
                await link.close()
        if self.pumps:
            await asyncio.wait(self.pumps, timeout=LAST_WORDS)


_starting = threading.Lock()
_threads: list[_Thread] = []
_identities: dict[tuple[str, bytes], Identity] = {}
_parked: dict[Way, tuple[HostLink, asyncio.TimerHandle]] = {}
_hinted: set[Way] = set()
"""Hosts that hung up on us saying that we are revoked: a hint, which a relay can
forge, and which decides what it means when we are not let in again."""


def _thread() -> _Thread:
    with _starting:  # Several hosts may be asked at the same time.
        if not _threads:
            _threads.append(_Thread())
    return _threads[0]


def _identity() -> Identity:
    us = ourselves()
    known = us.folder, us.public_key
    if known not in _identities:
        _identities[known] = Identity.from_seed(us.seed())
    return _identities[known]


async def _reached(host: KnownHost) -> HostLink:
    try:
        return await reach_host(host, _identity())
    except HostUnreachable as error:
        if _way(host) in _hinted:
            raise Revoked(host.name) from error
        raise


async def _ask(host: KnownHost, do: str, fields: dict[str, object]) -> Packet:
    if do == "create":
        # Never twice: whether a host that went away has made it, nobody knows.
        link = await _reached(host)
        try:
            return await _asked(host, link, do, fields)
        except LinkEnded as error:
            raise CreationUnknown(str(error)) from error
    parked = _take_parked(_way(host))
    if parked is not None:
        try:
            return await _asked(host, parked, do, fields)
        except LinkEnded:
            pass  # It ended while it lay idle; the rest can be asked again.
    return await _asked(host, await _reached(host), do, fields)


async def _asked(
    host: KnownHost, link: HostLink, do: str, fields: dict[str, object]
) -> Packet:
    try:
        answer = await link.ask(do, **fields)
    except BaseException:
        await link.close()
        raise
    _park(_way(host), link)
    return answer


async def _open(host: KnownHost, session: SessionId, end: socket.socket) -> None:
    link = _take_parked(_way(host))
    if link is not None:
        try:
            await _opened(link, session)
        except LinkEnded:
            link = None
    if link is None:
        link = await _reached(host)
        await _opened(link, session)
    _hinted.discard(_way(host))
    thread = _thread()
    pump = thread.group.create_task(_pump(host, link, end))
    thread.pumps.add(pump)
    pump.add_done_callback(thread.pumps.discard)


async def _opened(link: HostLink, session: SessionId) -> None:
    try:
        await link.open_session(session)
    except BaseException:
        await link.close()
        raise


async def _join(
    relays: tuple[str, ...], host_public: bytes, invite: tuple[bytes, bytes]
) -> tuple[bytes, Packet]:
    link = await join_host(relays, _identity(), host_public, invite)
    try:
        return link.static_key, await link.ask("join")
    finally:
        await link.close()


async def _pump(host: KnownHost, link: HostLink, end: socket.socket) -> None:
    """Carry both ways until one side is done, then close both."""
    with end:
        async with asyncio.TaskGroup() as group:
            ways = {
                group.create_task(_inward(host, link, end)),
                group.create_task(_outward(link, end)),
            }
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
    await link.close()


async def _inward(host: KnownHost, link: HostLink, end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(HoldfastError, OSError):
        try:
            while data := await link.receive():
                await loop.sock_sendall(end, data)
        except LinkEnded as error:
            if error.facts["why"] == Revoked.code:
                _hinted.add(_way(host))


async def _outward(link: HostLink, end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(HoldfastError, OSError):
        while data := await loop.sock_recv(end, READ):
            await link.send(data)


def _way(host: KnownHost) -> Way:
    return _identity().public, host.public_key


def _park(way: Way, link: HostLink) -> None:
    loop = asyncio.get_running_loop()
    _unpark(way)  # Of two that were asked at once, one is enough.
    _parked[way] = link, loop.call_later(PARKED, _unpark, way)


def _take_parked(way: Way) -> HostLink | None:
    link, timer = _parked.pop(way, (None, None))
    if timer is not None:
        timer.cancel()
    return link


def _unpark(way: Way) -> None:
    link = _take_parked(way)
    if link is not None:
        _thread().group.create_task(link.close())
