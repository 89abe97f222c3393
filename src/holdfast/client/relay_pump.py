"""Copies between a relay link and a local socket, for a remote session.

A thread, so that the relay is answered while its user is slow. It reads no further
than its user does: what waits on the way to either side is one read at most.

It ends with either side. If ours is the one that is done, what was said before goes
out first, and then leave is taken, for LAST_WORDS at most.
"""

import atexit
import contextlib
import select
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable

from holdfast.core.client.relay_way import RelayWay
from holdfast.model.errors import HoldfastError
from holdfast.wire.first_messages import NotOneOfThese

READ = 256 * 1024
"""Bytes taken from either side at once, and what may wait in the pair of sockets."""

HEARTBEAT = 20.0
"""Seconds of silence until the relay is asked whether it is there; as many later it is
gone. As in aio.relay_client."""

LAST_WORDS = 0.5
"""Seconds in which what was said just before the end of the process goes out."""

SWITCH = 0.0005
"""Seconds until one thread makes way for another; as in client.remote."""

_LATER = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class RelayPump:
    """One link, and the thread that carries it."""

    def __init__(
        self, link: socket.socket, way: RelayWay, ended: Callable[[str], None]
    ) -> None:
        """Carry what `way` leads to; `ended` is called with the relay's goodbye."""
        self._link = link
        self._way = way
        self._ended = ended
        self._user: socket.socket
        self._inward = bytearray(way.take())
        """On its way to our user."""

        self._outward = bytearray()
        """On its way to the relay."""

        self._heard_at = time.monotonic()
        self._is_asked = False
        self._leaves_at: float | None = None
        """When we are gone, whether or not the relay has taken leave too."""

        self._is_over = False

    def start(self) -> int:
        """Begin; return the descriptor of a socket that leads to the session."""
        ours, self._user = socket.socketpair()
        for end in (ours, self._user):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, READ)
        for end in (self._link, self._user):
            end.setblocking(False)  # noqa: FBT003  # the name of the call says it
        sys.setswitchinterval(SWITCH)
        thread = threading.Thread(target=self._run, name="relay", daemon=True)
        thread.start()
        atexit.register(thread.join, LAST_WORDS)
        return ours.detach()

    def _run(self) -> None:
        with (
            self._link,
            self._user,
            contextlib.suppress(OSError, HoldfastError, NotOneOfThese),
        ):
            while not self._is_over or (self._inward and self._leaves_at is None):
                self._turn()
        self._ended(self._way.why)

    def _turn(self) -> None:
        relay, user = self._look()
        if relay & select.POLLOUT:
            _sent(self._link, self._outward)
        if user & select.POLLOUT:
            self._tell_user()
        if user & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._hear_user()
        if relay & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._hear_relay()
        self._look_at_clock()

    def _look(self) -> tuple[int, int]:
        """Wait until one of the two sides can be read or written, as is wanted."""
        is_leaving = self._leaves_at is not None
        relay = user = 0
        if not self._is_over and (is_leaving or not self._inward):
            relay |= select.POLLIN
        if self._outward:
            relay |= select.POLLOUT
        elif not is_leaving and not self._is_over:
            user |= select.POLLIN
        if self._inward and not is_leaving:
            user |= select.POLLOUT
        if relay & select.POLLIN and _has_more(self._link):
            return select.POLLIN, 0
        poller = select.poll()
        if relay:
            poller.register(self._link, relay)
        if user:
            poller.register(self._user, user)
        found = dict(poller.poll(self._patience() * 1000))
        return found.get(self._link.fileno(), 0), found.get(self._user.fileno(), 0)

    def _patience(self) -> float:
        """Return the seconds until the next deadline."""
        due = self._leaves_at
        if due is None:
            due = self._heard_at + HEARTBEAT * (2 if self._is_asked else 1)
        return max(0.0, due - time.monotonic()) + 0.001

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        if self._leaves_at is not None:
            self._is_over = self._is_over or now >= self._leaves_at
        elif self._inward:
            self._heard_at = now  # Our user is slow: nobody is listened to.
        elif now >= self._heard_at + 2 * HEARTBEAT:
            raise TimeoutError
        elif now >= self._heard_at + HEARTBEAT and not self._is_asked:
            self._is_asked = True
            self._outward += self._way.ping()

    def _tell_user(self) -> None:
        try:
            _sent(self._user, self._inward)
        except OSError:
            # It left in the middle of something: what it said before still counts.
            self._inward.clear()

    def _hear_user(self) -> None:
        try:
            said = _read(self._user)
        except ConnectionResetError:
            said = b""
        if said:
            self._outward += self._way.says(said)
        elif said is not None:
            self._outward += self._way.end()
            self._leaves_at = time.monotonic() + LAST_WORDS

    def _hear_relay(self) -> None:
        raw = _read(self._link)
        if raw is None:
            return
        self._heard_at, self._is_asked = time.monotonic(), False
        if raw:
            self._outward += self._way.hear(raw)
            self._inward += self._way.take()
        self._is_over = self._is_over or self._way.is_over or not raw


def _read(link: socket.socket) -> bytes | None:
    """Return what has come: b"" at the end, None if nothing came yet."""
    try:
        return link.recv(READ)
    except _LATER:
        return None


def _sent(link: socket.socket, waiting: bytearray) -> None:
    with contextlib.suppress(*_LATER):
        del waiting[: link.send(waiting)]


def _has_more(link: socket.socket) -> bool:
    """Tell whether a socket has buffered data that no selector would report."""
    return isinstance(link, ssl.SSLSocket) and link.pending() > 0
