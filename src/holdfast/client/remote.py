"""Links to sessions elsewhere, for code that reads and writes sockets and blocks.

A thread with a loop of its own keeps the channels. A caller that wants a session is
given one end of a pair of sockets, as if its holder listened on this machine; the
thread carries what comes between the other end and the channel (client.channels).
"""

import asyncio
import atexit
import contextlib
import socket
import sys
import threading
from collections.abc import Coroutine
from concurrent import futures
from functools import cache
from typing import Any, TypeVar

from holdfast.aio.first_of import first_of
from holdfast.aio.loop_thread import LoopThread
from holdfast.client.channels import Channels
from holdfast.client.current_operator import ourselves
from holdfast.client.host_link import HostLink, join_host
from holdfast.client.hosts import KnownHost
from holdfast.client.session_location import ASKING, last_end
from holdfast.crypto.identity import Identity
from holdfast.model.errors import HoldfastError, HostUnreachable, LinkEnded
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Join, Request

READ = 256 * 1024
"""Bytes taken from either side at once, and what may wait in the pair of sockets:
a caller that does not read stops the channel, and with it the host."""

LAST_WORDS = 0.5
"""Seconds in which what was said just before the end of the process goes out."""

SWITCH = 0.0005
"""Seconds until one thread makes way for another: what comes from elsewhere goes
through both, and one of them may be loading code."""

Kind = TypeVar("Kind")

Way = tuple[bytes, bytes]
"""Who we are and which host it is, by their keys: nobody uses another's channel."""


def ask(host: KnownHost, asked: Request, patience: float = ASKING) -> Facts:
    """Ask a host something, and return its answer.

    Raises:
        HoldfastError: It refused, and why.
        Unavailable: It cannot be reached, or does not answer.

    """
    return _thread().run(_ask(host, asked), patience, host.name)


def expect(host: KnownHost) -> None:
    """Start opening a channel to a host that will be asked, without waiting."""
    _thread().begin(_expect(host))


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
    relays: tuple[str, ...],
    host_public: bytes,
    invite: tuple[bytes, bytes],
    us: Identity | None = None,
) -> tuple[bytes, Facts]:
    """Use an invitation; return the host's key for handshakes and what it says.

    `us` is who joins, if that is not our operator.

    Raises:
        HoldfastError: It refused, and why.
        Unavailable: It cannot be reached, or does not answer.

    """
    joining = _join(relays, host_public, invite, us)
    return _thread().run(joining, ASKING, "the host")


# ── in the thread ─────────────────────────────────────────────────────────────


class _Links:
    """The thread in which channels are kept; it ends with the process."""

    def __init__(self) -> None:
        self.group = asyncio.TaskGroup()
        self.pumps: set[asyncio.Task[None]] = set()
        self._thread = LoopThread("links", self.group)
        self._thread.start()
        sys.setswitchinterval(SWITCH)
        atexit.register(self._say_last_words)

    def begin(self, what: Coroutine[Any, Any, None]) -> None:
        """Run something in the thread, without waiting for it."""
        self._thread.begin(what)

    def run(self, what: Coroutine[Any, Any, Kind], patience: float, whom: str) -> Kind:
        """Run something in the thread, and wait for it at most so long."""
        try:
            return self._thread.run(what, patience)
        except futures.TimeoutError:
            raise HostUnreachable(whom, f"nothing within {patience:.1f} s") from None

    def _say_last_words(self) -> None:
        with contextlib.suppress(futures.TimeoutError, RuntimeError):
            self._thread.run(self._drained(), LAST_WORDS)

    async def _drained(self) -> None:
        for channels in _channels.values():
            await channels.close()
        if self.pumps:
            await asyncio.wait(self.pumps, timeout=LAST_WORDS)


_identities: dict[tuple[str, bytes], Identity] = {}
_channels: dict[Way, Channels] = {}


_making = threading.Lock()
"""Held while the thread is made: hosts are asked from several threads at once, and a
channel belongs to one loop."""


def _thread() -> _Links:
    with _making:
        return _links()


@cache
def _links() -> _Links:
    return _Links()


def _identity() -> Identity:
    us = ourselves()
    known = us.folder, us.public_key
    if known not in _identities:
        _identities[known] = Identity.from_seed(us.seed())
    return _identities[known]


def _channels_to(host: KnownHost) -> Channels:
    us = _identity()
    found = _channels.get((us.public, host.public_key))
    if found is None or found.host != host:
        found = Channels(host, us, _thread().group)
        found.ended(LinkEnded(last_end(host.name)))
        _channels[us.public, host.public_key] = found
    return found


async def _expect(host: KnownHost) -> None:
    _channels_to(host).expect()


async def _ask(host: KnownHost, asked: Request) -> Facts:
    return await _channels_to(host).ask(asked)


async def _open(host: KnownHost, session: SessionId, end: socket.socket) -> None:
    channels = _channels_to(host)
    link = await channels.open(session)
    thread = _thread()
    pump = thread.group.create_task(_pump(channels, link, end))
    thread.pumps.add(pump)
    pump.add_done_callback(thread.pumps.discard)


async def _join(
    relays: tuple[str, ...],
    host_public: bytes,
    invite: tuple[bytes, bytes],
    us: Identity | None,
) -> tuple[bytes, Facts]:
    link = await join_host(relays, us or _identity(), host_public, invite)
    try:
        return link.static_key, await link.ask(Join())
    finally:
        await link.close()


async def _pump(channels: Channels, link: HostLink, end: socket.socket) -> None:
    """Carry both ways until one side is done, then close both."""
    with end, contextlib.suppress(HoldfastError, OSError):
        await first_of(_inward(channels, link, end), _outward(link, end))
    await link.close()


async def _inward(channels: Channels, link: HostLink, end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    try:
        while data := await link.receive():
            await loop.sock_sendall(end, data)
    except LinkEnded as error:
        channels.ended(error)


async def _outward(link: HostLink, end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(end, READ):
        await link.send(data)
