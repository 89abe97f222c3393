"""The host's process: one loop, in which everything the host does is a task.

It holds a link to the keeper that says nothing; when that ends, the keeper has
died, and if no holder starts another within a moment, the host does. It clears
away what ended long ago, answers requests on its own socket, and keeps the
links by which operators elsewhere come in. Killing it costs nothing but this:
local operators do not need it, and remote ones come back.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.aio.log import log
from holdfast.host import lease_requests
from holdfast.host.checkpoint_driver import CheckpointDriver
from holdfast.host.drain import Drainer, wish_of
from holdfast.host.expired_records import clear_away
from holdfast.host.guests import wall
from holdfast.host.own_tasks import own_tasks
from holdfast.host.reaper import ReaperDriver
from holdfast.host.remote_links import Links
from holdfast.linux import packets, process_start
from holdfast.linux.processes import hide_memory
from holdfast.linux.stored import config, places
from holdfast.model.errors import HoldfastError, UnexpectedMessage
from holdfast.model.process_status import HostStatus
from holdfast.model.session_record import as_facts
from holdfast.model.session_requests import (
    ClaimLease,
    DrainHost,
    End,
    Look,
    PassLease,
    ReapStandings,
    Replace,
    Request,
    Status,
    request_from,
)
from holdfast.version import __version__
from holdfast.wire.host_requests import refusal

CLEAR_EVERY = 600.0
"""Seconds between two looks at what has ended: nothing hurries after a day."""

CLEAR_FIRST = 10.0
"""Seconds after the start: a new keeper needs a moment to hear of everything."""

GRACE = 0.5
"""Seconds left to the holders to start a keeper: they do so at once."""

MAX_DELAY = 30.0
"""Seconds between attempts to start a keeper that cannot start."""

MAX_LINKS = 64
"""Links to us at a time: a client asks once and hangs up."""


KEPT = "kept"
"""How a host runs that belongs to nobody; docs/spec/keeper.md has the words."""

LEAVING = "leaving"


class Host:
    """The process."""

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._started_at = time.monotonic()
        self._listener = packets.listen(places.host_socket())
        self._listener.settimeout(0)
        self._askers: set[socket.socket] = set()
        self._links = Links()
        self._reaper = ReaperDriver()
        self._checkpoints = CheckpointDriver()
        self._drainer = Drainer()
        self._keeper: socket.socket | None = None
        self._runs = _how_it_runs()
        self._cleared = 0
        self._ending = asyncio.Event()
        self._next_code: tuple[str, str] | None = None
        self._group: asyncio.TaskGroup

    def run(self) -> None:
        """Serve until a signal or a request ends it. Sessions go on."""
        log("host.started", pid=os.getpid(), version=__version__)
        asyncio.run(self._serve())
        log("host.ended", pid=os.getpid())
        places.host_socket().unlink(missing_ok=True)
        os.close(self._lock)
        if self._next_code is not None:
            _become(*self._next_code, is_kept=self._runs == KEPT)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._ending.set)
        loop.add_signal_handler(signal.SIGTERM, self._terminated)
        loop.add_signal_handler(signal.SIGUSR1, self._drain)
        loop.add_reader(self._listener, self._accept)
        async with asyncio.TaskGroup() as self._group:
            tasks = [
                self._group.create_task(self._look_after_keeper()),
                self._group.create_task(self._clear_from_time_to_time()),
                self._group.create_task(self._links.run()),
                self._group.create_task(self._reaper.run()),
                self._group.create_task(self._checkpoints.run()),
                *map(self._group.create_task, own_tasks()),
            ]
            await self._ending.wait()
            await self._drainer.wait()
            self._tell_keeper(LEAVING)
            for task in tasks:
                task.cancel()
        loop.remove_reader(self._listener)
        for link in (self._listener, *self._askers):
            link.close()

    def _terminated(self) -> None:
        """End; if the settings say so, let sessions leave first. Twice ends at once."""
        host = config.settings().host
        if host.drains_at_end and not self._ending.is_set():
            self._drainer.begin(host.drain_deadline)
        elif self._drainer.is_on:
            self._drainer.abandon()
        self._ending.set()

    def _drain(self) -> None:
        """Let sessions leave: a machine in the cloud was told that it goes."""
        self._drainer.begin(config.settings().host.drain_deadline)

    # ── the keeper ────────────────────────────────────────────────────────

    async def _look_after_keeper(self) -> None:
        delay = GRACE
        while True:
            try:
                # Starting one takes its time, in which operators are served.
                link = await asyncio.to_thread(_find_keeper)
            except (HoldfastError, OSError) as error:
                log("keeper.missing", why=str(error), again_in=delay)
                await asyncio.sleep(delay)
                delay = min(delay * 2, MAX_DELAY)
                continue
            delay = GRACE
            log("keeper.found")
            with link:
                self._keeper = link
                self._links.leases.keeper_found(link)
                self._reaper.keeper_found(link)
                self._drainer.keeper_found(link)
                self._tell_keeper(self._runs)
                await _wait_gone(link, self._links.leases.heard)
            self._keeper = None
            self._links.leases.keeper_lost()
            self._reaper.keeper_lost()
            self._drainer.keeper_found(None)
            log("keeper.lost")
            await asyncio.sleep(GRACE)

    def _tell_keeper(self, runs: str) -> None:
        """Say how we run: it watches us, and starts us again if nobody else would."""
        with contextlib.suppress(OSError):
            if self._keeper is not None:
                packets.send(self._keeper, {"do": "host", "runs": runs})

    async def _clear_from_time_to_time(self) -> None:
        await asyncio.sleep(CLEAR_FIRST)
        while True:
            try:
                cleared = await asyncio.to_thread(clear_away, wall())
            except (HoldfastError, OSError) as error:
                log("clearing.failed", why=str(error))
            else:
                self._cleared += cleared
                if cleared:
                    log("sessions.cleared", count=cleared)
            await asyncio.sleep(CLEAR_EVERY)

    # ── local askers ──────────────────────────────────────────────────────

    def _accept(self) -> None:
        try:
            link, _ = self._listener.accept()
        except OSError:
            return
        if not packets.is_ours(link) or len(self._askers) >= MAX_LINKS:
            link.close()
            return
        link.settimeout(0)
        self._askers.add(link)
        asyncio.get_running_loop().add_reader(link, self._hear, link)

    def _hear(self, link: socket.socket) -> None:
        try:
            heard = packets.receive(link)
        except BlockingIOError:
            return
        if heard is None:
            asyncio.get_running_loop().remove_reader(link)
            self._askers.discard(link)
            link.close()
            return
        packets.close(heard[1])
        try:
            asked = request_from(heard[0])
        except HoldfastError as error:
            _say(link, refusal(error))
            return
        if isinstance(asked, ClaimLease | PassLease):
            self._group.create_task(self._answer_later(link, asked))
        else:
            _say(link, self._answer(asked))

    async def _answer_later(
        self, link: socket.socket, asked: ClaimLease | PassLease
    ) -> None:
        """Answer what only a relay knows."""
        try:
            answer = await lease_requests.answer(self._links.leases, asked)
        except HoldfastError as error:
            answer = refusal(error)
        _say(link, answer)

    def _answer(self, asked: Request) -> packets.Packet:
        match asked:
            case Status():
                return {"ok": True, **as_facts(self._status())}
            case End():
                self._ending.set()
            case Look():
                self._links.look()
            case DrainHost() | ReapStandings():
                return self._report(asked)
            case Replace(python, root):
                self._next_code = python, root
                self._ending.set()
            case _:
                what = type(asked).__name__
                return refusal(UnexpectedMessage(what, "asking a host here"))
        return {"ok": True}

    def _report(self, asked: DrainHost | ReapStandings) -> packets.Packet:
        if isinstance(asked, DrainHost):
            if asked.seconds > 0:
                self._drainer.begin(asked.seconds, wish_of(asked))
            return {"ok": True, **as_facts(self._drainer.report())}
        if asked.look:
            self._reaper.look_now()
        return {"ok": True, **as_facts(self._reaper.report())}

    def _status(self) -> HostStatus:
        return self._links.status()._replace(
            pid=os.getpid(),
            version=__version__,
            root=str(Path(__file__).resolve().parents[2]),
            uptime=time.monotonic() - self._started_at,
            began=self._started_at,
            keeper=self._keeper is not None,
            cleared=self._cleared,
        )


def _say(link: socket.socket, answer: packets.Packet) -> None:
    with contextlib.suppress(OSError):
        packets.send(link, answer)


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
    hide_memory()  # Keys are in it.
    Host(lock).run()
    return True


def _find_keeper() -> socket.socket:
    process_start.ensure_keeper()
    link = packets.connect(places.keeper_socket(), GRACE)
    link.settimeout(0)
    return link


async def _wait_gone(link: socket.socket, heard: Callable[[bytes], None]) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(ConnectionError):
        while raw := await loop.sock_recv(link, packets.MAX_PACKET):
            heard(raw)


def _how_it_runs() -> str:
    # Taken out: whatever we start is not what this is said of.
    if os.environ.pop(process_start.HOST_IS_KEPT, ""):
        return KEPT
    return "terminal" if os.isatty(0) else "supervised"


def _become(python: str, root: str, *, is_kept: bool) -> None:
    environment = {**os.environ, "PYTHONPATH": root}
    if is_kept:
        environment[process_start.HOST_IS_KEPT] = "1"
    try:
        os.execve(python, [python, "-P", "-m", "holdfast", "up"], environment)  # noqa: S606  # that is the job
    except OSError as error:
        log("host.not_replaced", why=str(error))
