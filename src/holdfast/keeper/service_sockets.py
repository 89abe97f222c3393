"""Service sockets: processes that are started when a client connects.

The process gets the listening socket itself and serves all clients; while it runs,
the keeper does not watch the socket. When it dies the keeper watches it again, and
the next connection has another one started: connections queue meanwhile.
"""

import selectors
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from holdfast.keeper.backoff import Backoff
from holdfast.keeper.watched import Knock, Means, Watched
from holdfast.linux import packets
from holdfast.linux.programs import (
    judge_environment,
    judge_program,
    painter_program,
)
from holdfast.linux.replacements import kill
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError

PATIENT = 3
"""Deaths in a row answered at once: hostile output kills a painter, and its next of
kin; a plug-in that kills its judge may be asked by several sessions."""

CALM = 5.0
"""Seconds of life after which a death is an accident again. One whose library is
missing dies within a second."""

MAX_DELAY = 10.0
"""Seconds between attempts at the worst: each costs a quarter of a second of CPU."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is started, and the socket that it is started for."""

    what: str
    socket: Callable[[], Path]
    words: Callable[[], list[str]]
    max_cpu: float
    """Seconds of processor time without an answer, loading the code included."""

    environment: Callable[[], dict[str, str]] = dict


# One request to a painter may take two seconds; what a judge asks works elsewhere.
PAINTER = Program("painter", places.painter_socket, painter_program, 2.5)
JUDGE = Program("judge", places.judge_socket, judge_program, 1.2, judge_environment)


class ServiceSocket:
    """A listening socket, and the process behind it if there is one."""

    def __init__(
        self,
        program: Program,
        selector: selectors.BaseSelector,
        listener: socket.socket | None = None,
        *,
        watched: Watched,
    ) -> None:
        self.pid = 0
        self.listener = listener or packets.listen(program.socket())
        self.listener.settimeout(0)
        self._program = program
        self._selector = selector
        self._watched = watched
        self._knock = Knock(
            program.socket, selector, lambda: watched.answered(program.what)
        )
        self._backoff = Backoff(PATIENT, CALM, MAX_DELAY)
        self._is_open = False
        self._open()

    def take_up(self, pid: int) -> None:
        """Go on with a process that runs already; 0 is none."""
        self.pid = pid
        if pid:
            self._shut()
            self._backoff.born(time.monotonic())
            self._watch()

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return self._backoff.restart_at

    def tick(self, now: float) -> None:
        """Look at the socket again, if it is time."""
        if self._backoff.take_due(now):
            self._open()

    def ended(self, pid: int, now: float) -> None:
        """Note that a child process has ended."""
        if pid and pid == self.pid:
            self.pid = 0
            self._knock.end()
            self._watched.rest(self._program.what)
            self._backoff.died(now)
            self.tick(now)

    def end(self) -> None:
        """End the process, if there is one: another can do all that it did."""
        kill(self.pid)

    def remove(self) -> None:
        """End the process, and take the socket away."""
        self.end()
        self._program.socket().unlink(missing_ok=True)

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._selector.register(
                self.listener, selectors.EVENT_READ, self._somebody_knocks
            )

    def _shut(self) -> None:
        if self._is_open:
            self._is_open = False
            self._selector.unregister(self.listener)

    def _somebody_knocks(self, listener: socket.socket, _events: int) -> None:
        now = time.monotonic()
        self._shut()
        self._backoff.born(now)
        try:
            started = subprocess.Popen(  # noqa: S603  # our own program
                self._program.words(),
                stdin=listener.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=self._program.environment(),
                start_new_session=True,
            )
        except (OSError, HoldfastError):
            self._backoff.died(now)
            return
        started.returncode = 0  # SIGCHLD collects it.
        self.pid = started.pid
        self._watch()

    def _watch(self) -> None:
        what, most = self._program.what, self._program.max_cpu
        means = Means(what, self._knock.ask, self.end)
        self._watched.watch(what, self.pid, means, max_cpu=most)
