"""The host's process: sees that a keeper lives, clears away, and answers.

It holds a link to the keeper that says nothing; when that ends, the keeper has
died, and if no holder starts another within a moment, the host does. Killing the
host costs nothing but this.
"""

import contextlib
import fcntl
import os
import selectors
import signal
import socket
import sys
import time
from pathlib import Path

from holdfast.host.clearing import clear_away
from holdfast.linux import packets, places, start
from holdfast.model.errors import HoldfastError
from holdfast.version import __version__

CLEAR_EVERY = 600.0
"""Seconds between two looks at what has ended: nothing hurries after a day."""

CLEAR_FIRST = 10.0
"""Seconds after the start: a new keeper needs a moment to hear of everything."""

GRACE = 0.5
"""Seconds left to the holders to start a keeper: they do so at once."""

MAX_DELAY = 30.0
"""Seconds between attempts to start a keeper that cannot start."""

MAX_LINKS = 64
"""Links to us at a time: whoever asks does so once and hangs up."""


class Host:
    """The process."""

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._started_at = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._listener = packets.listen(places.host_socket())
        self._listener.settimeout(0)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._links: set[socket.socket] = set()
        self._keeper: socket.socket | None = None
        self._keeper_at: float | None = self._started_at
        self._delay = GRACE
        self._clear_at = self._started_at + CLEAR_FIRST
        self._cleared = 0
        self._is_ending = False
        self._next_code: tuple[str, str] | None = None
        self._wake, self._waker = socket.socketpair()
        self._wake.settimeout(0)
        self._waker.settimeout(0)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._told_to_end)
        self._selector.register(self._wake, selectors.EVENT_READ, self._woken)

    def run(self) -> None:
        """Serve until a signal or a request ends it. Sessions go on."""
        log("host.started", pid=os.getpid(), version=__version__)
        while not self._is_ending:
            self._tick(time.monotonic())
            for key, _ in self._selector.select(self._timeout()):
                key.data(key.fileobj)
        log("host.ended", pid=os.getpid())
        places.host_socket().unlink(missing_ok=True)
        os.close(self._lock)
        if self._next_code is not None:
            self._become(*self._next_code)

    def _timeout(self) -> float:
        first = min(self._clear_at, self._keeper_at or self._clear_at)
        return max(0.0, first - time.monotonic())

    def _tick(self, now: float) -> None:
        if self._keeper_at is not None and now >= self._keeper_at:
            self._find_keeper(now)
        if now >= self._clear_at:
            self._clear_at = now + CLEAR_EVERY
            self._clear()

    # ── the keeper ────────────────────────────────────────────────────────

    def _find_keeper(self, now: float) -> None:
        self._keeper_at = None
        try:
            start.ensure_keeper()
            self._keeper = packets.connect(places.keeper_socket(), GRACE)
        except (HoldfastError, OSError) as error:
            log("keeper.missing", why=str(error), again_in=self._delay)
            self._keeper_at = now + self._delay
            self._delay = min(self._delay * 2, MAX_DELAY)
            return
        self._keeper.settimeout(0)
        self._selector.register(self._keeper, selectors.EVENT_READ, self._keeper_said)
        self._delay = GRACE
        log("keeper.found")

    def _keeper_said(self, link: socket.socket) -> None:
        try:
            if packets.receive(link) is not None:
                return
        except BlockingIOError:
            return
        self._selector.unregister(link)
        link.close()
        self._keeper = None
        self._keeper_at = time.monotonic() + GRACE
        log("keeper.lost")

    def _clear(self) -> None:
        try:
            cleared = clear_away()
        except (HoldfastError, OSError) as error:
            log("clearing.failed", why=str(error))
            return
        self._cleared += cleared
        if cleared:
            log("sessions.cleared", count=cleared)

    # ── whoever asks ──────────────────────────────────────────────────────

    def _accept(self, listener: socket.socket) -> None:
        try:
            link, _ = listener.accept()
        except OSError:
            return
        if not packets.is_ours(link) or len(self._links) >= MAX_LINKS:
            link.close()
            return
        link.settimeout(0)
        self._links.add(link)
        self._selector.register(link, selectors.EVENT_READ, self._hear)

    def _hear(self, link: socket.socket) -> None:
        try:
            heard = packets.receive(link)
        except BlockingIOError:
            return
        if heard is None:
            self._selector.unregister(link)
            self._links.discard(link)
            link.close()
            return
        for fd in heard[1]:
            os.close(fd)
        with contextlib.suppress(OSError):
            packets.send(link, self._answer(heard[0]))

    def _answer(self, packet: packets.Packet) -> packets.Packet:
        match packet:
            case {"do": "status"}:
                return self._status()
            case {"do": "end"}:
                self._is_ending = True
                return {"ok": True}
            case {"do": "replace", "python": str(python), "root": str(root)}:
                self._is_ending, self._next_code = True, (python, root)
                return {"ok": True}
            case _:
                text = f"there is no {packet.get('do')!r}"
                code = "unexpected-message"
                return {"ok": False, "code": code, "text": text, "facts": {}}

    def _status(self) -> packets.Packet:
        return {
            "ok": True,
            "pid": os.getpid(),
            "version": __version__,
            "root": str(Path(__file__).resolve().parents[2]),
            "uptime": time.monotonic() - self._started_at,
            "began": self._started_at,
            "keeper": self._keeper is not None,
            "cleared": self._cleared,
        }

    # ── the end ───────────────────────────────────────────────────────────

    def _told_to_end(self, *_: object) -> None:
        self._is_ending = True

    def _woken(self, wake: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            wake.recv(4096)

    def _become(self, python: str, root: str) -> None:
        environment = {**os.environ, "PYTHONPATH": root}
        try:
            os.execve(python, [python, "-m", "holdfast", "up"], environment)  # noqa: S606  # that is the job
        except OSError as error:
            log("host.not_replaced", why=str(error))


def log(event: str, **fields: object) -> None:
    """Write one line: what happened, and its facts."""
    words = [f"{name}={value!r}" for name, value in fields.items()]
    with contextlib.suppress(OSError):
        sys.stderr.write(" ".join([event, *words]) + "\n")
        sys.stderr.flush()


def serve() -> bool:
    """Be the host of this user on this machine; False if there is one already.

    Raises:
        UsageError: The place for its socket is not ours.

    """
    lock = os.open(places.runtime_dir() / "host.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    Host(lock).run()
    return True
