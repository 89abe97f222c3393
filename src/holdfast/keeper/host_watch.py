"""The host's link to the keeper: by it the host is watched, and started again.

The host says on its link how it runs. One that belongs to nobody (`up --detach`)
is started again by us however it ended, unless it said before that it leaves. One
that systemd or somebody else runs is theirs to start again; if it hung and nobody
has started another after a while, we do. One at a terminal can be suspended there
by a key, and is never killed: that it does not answer is said.
"""

import contextlib
import enum
import selectors
import socket
import time

from holdfast.keeper.backoff import Backoff
from holdfast.keeper.watched import Knock, Means, Watched
from holdfast.linux import packets, process_start
from holdfast.linux.replacements import kill, say
from holdfast.linux.stored import places

PATIENT = 3
"""Deaths in a row that are answered at once."""

CALM = 10.0
"""Seconds of life after which a death is an accident again."""

MAX_DELAY = 60.0
"""Seconds between attempts at the worst: each loads all that a host needs."""

OTHERS = 5.0
"""Seconds that a host's supervisor has to restart it."""

MAX_CPU = 2.0
"""Seconds of processor time without an answer: it has threads that work beside its
loop."""

NAME = "host"


class Runs(enum.StrEnum):
    """How a host runs."""

    KEPT = "kept"
    """It belongs to nobody, and we start it again."""

    SUPERVISED = "supervised"
    TERMINAL = "terminal"
    LEAVING = "leaving"
    """It ends because it was told to."""


class HostLink:
    """What we know of the host."""

    def __init__(self, selector: selectors.BaseSelector, watched: Watched) -> None:
        self.link: socket.socket | None = None
        self.runs = Runs.TERMINAL
        self._watched = watched
        self._knock = Knock(
            places.host_socket, selector, lambda: watched.answered(NAME)
        )
        self._backoff = Backoff(PATIENT, CALM, MAX_DELAY)
        self._has_hung = False
        self._start_at: float | None = None

    @property
    def pid(self) -> int:
        """The host's; 0 while it has no link to us."""
        return 0 if self.link is None else packets.process_of(self.link)

    def hello(self, link: socket.socket, runs: object) -> bool:
        """Take how the host at the other end of a link runs; False if that is odd."""
        if not isinstance(runs, str) or runs not in set(Runs):
            return False
        if link is not self.link:
            self._backoff.born(time.monotonic())
        self.link, self.runs, self._start_at = link, Runs(str(runs)), None
        self._has_hung = False
        pid = packets.process_of(link)
        end = None if self.runs is Runs.TERMINAL else lambda: self._kill(pid)
        means = Means(NAME, self._knock.ask, end)
        self._watched.watch(NAME, pid, means, max_cpu=MAX_CPU)
        self._watched.answered(NAME)
        return True

    def ended(self, link: socket.socket) -> None:
        """Take that a link has ended; it may have been the host's."""
        if link is not self.link:
            return
        self.link = None
        self._knock.end()
        self._watched.rest(NAME)
        now = time.monotonic()
        if self.runs is Runs.KEPT:
            self._start_at = self._backoff.died(now)
        elif self._has_hung:
            self._start_at = now + OTHERS

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return self._start_at

    def tick(self, now: float) -> None:
        """Start another host, if it is time; one too many ends by itself."""
        if self._start_at is None or now < self._start_at:
            return
        self._start_at = None
        say("host.started", "in the place of one that is gone")
        with contextlib.suppress(OSError):
            process_start.start_host()

    def _kill(self, pid: int) -> None:
        self._has_hung = True
        kill(pid)
