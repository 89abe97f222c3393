"""The host's link to the keeper: by it the host is watched, and started again.

The host says on its link how it runs. One that belongs to nobody (`up --detach`)
is started again by us however it ended, unless it said before that it leaves. One
that systemd or a user runs is theirs to start again; if it hung and nobody
has started another after a while, we do. One at a terminal can be suspended there
by a key, and is never killed: that it does not answer is said.
"""

import contextlib
import enum
import selectors
import socket
import time
from collections.abc import Callable  # noqa: TC003  # an annotation people read

from holdfast.keeper.backoff import Backoff
from holdfast.keeper.lease_fence import LeaseFence
from holdfast.keeper.reap_notices import ReapNotices
from holdfast.keeper.vault import Vault
from holdfast.keeper.watched import Knock, Means, Watched
from holdfast.linux import packets, process_start
from holdfast.linux.replacements import kill, say
from holdfast.linux.stored import places
from holdfast.model.lease_words import Movable

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

    def __init__(
        self,
        selector: selectors.BaseSelector,
        watched: Watched,
        vault: Vault | None = None,
    ) -> None:
        vault = vault or Vault()
        self.leases = LeaseFence(vault, selector, self._tell)
        """Those of sessions that this host has to renew."""

        self.reap_notices = ReapNotices(vault)
        """Which sessions this host is going to reap."""

        self.send: Callable[[socket.socket, packets.Packet], None] = packets.send
        """How it is told something."""

        self.link: socket.socket | None = None
        self.runs = Runs.TERMINAL
        self._watched = watched
        self._knock = Knock(
            places.host_socket, selector, lambda: watched.answered(NAME)
        )
        self._backoff = Backoff(PATIENT, CALM, MAX_DELAY)
        self._has_hung = False

    @property
    def pid(self) -> int:
        """The host's; 0 while it has no link to us."""
        return 0 if self.link is None else packets.process_of(self.link)

    def hello(self, link: socket.socket, runs: object) -> bool:
        """Note how the host at the other end of a link runs; False if that is odd."""
        if not isinstance(runs, str) or runs not in set(Runs):
            return False
        if link is not self.link:
            self._backoff.born(time.monotonic())
        self.link, self.runs = link, Runs(str(runs))
        self._backoff.restart_at = None
        self._has_hung = False
        pid = packets.process_of(link)
        end = None if self.runs is Runs.TERMINAL else lambda: self._kill(pid)
        means = Means(NAME, self._knock.ask, end)
        self._watched.watch(NAME, pid, means, max_cpu=MAX_CPU)
        self._watched.answered(NAME)
        return True

    def _tell(self, sessions: list[Movable]) -> None:
        if self.link is not None:
            told = [one._asdict() for one in sessions]
            self.send(self.link, {"do": "movable", "sessions": told})

    def ended(self, link: socket.socket) -> None:
        """Note that a link has ended; it may have been the host's."""
        if link is not self.link:
            return
        self.link = None
        self._knock.end()
        self._watched.rest(NAME)
        now = time.monotonic()
        if self.runs is Runs.KEPT:
            self._backoff.died(now)
        elif self._has_hung:
            self._backoff.restart_at = now + OTHERS

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return self._backoff.restart_at

    def tick(self, now: float) -> None:
        """Start another host, if it is time; one too many ends by itself."""
        if not self._backoff.take_due(now):
            return
        say("host.started", "in the place of one that is gone")
        with contextlib.suppress(OSError):
            process_start.start_host()

    def _kill(self, pid: int) -> None:
        self._has_hung = True
        kill(pid)
