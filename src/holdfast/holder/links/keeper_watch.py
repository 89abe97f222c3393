"""Watches the keeper from the nursery, in case its trustee hangs as well.

Keeper and trustee watch each other, so anything that stops both at the same moment
stops both watches. The nursery is there for all sessions anyway, and has a link to the
keeper: it checks once a second and is more patient than the trustee, which acts first
if it can. A keeper that it finds hanging it kills. The trustee is told apart from other
children by its command line, which is the keeper's own, because it is a fork of it.
If it is stopped it is woken, since it may hold what nobody else has; if it has been
running all the while it is killed.
"""

import contextlib
import os
import signal
import socket
import time

from holdfast.linux import packets, process_activity, procfs
from holdfast.linux.process_table import read_table
from holdfast.linux.replacements import kill, kill_keeper, replacement, say
from holdfast.linux.watchdog import SILENCE, SOON, Act, Watchdog

KEEPER = "keeper"

PATIENCE = 2 * SILENCE
"""Seconds without an answer: twice what the trustee gives it."""

MAX_CPU = 4.0
"""Seconds of processor time without an answer: in an upgrade the keeper loads new code
in its own place."""

TRUSTEE_CPU = 1.0
"""Seconds of processor time between question and kill that a trustee does not need."""

STOPPED = "T"


class KeeperWatch:
    """The nursery's link to the keeper, and what it knows of it."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._keeper = os.getppid()
        self._watchdog = Watchdog()
        self._trustees: dict[int, float] = {}
        """Forks of the keeper, and how much each had worked when it was asked."""

    def receive(self) -> tuple[packets.Packet, list[int]] | None:
        """Return the next request; None when the keeper is gone."""
        while True:
            heard = self._wait()
            if heard is None:
                return None
            self._watchdog.answered(KEEPER, time.monotonic())
            match heard[0].get("do"):
                case "ping":
                    self._say("pong")
                    # An older keeper would not know what it is asked.
                    if heard[0].get("pongs"):
                        self._begin()
                case "pong":
                    pass
                case _:
                    self._link.settimeout(None)
                    return heard

    def _begin(self) -> None:
        now = time.monotonic()
        self._watchdog.watch(
            KEEPER, self._keeper, now, every=SOON, max_cpu=MAX_CPU, silence=PATIENCE
        )

    def _wait(self) -> tuple[packets.Packet, list[int]] | None:
        while True:
            due_at = self._watchdog.next_deadline()
            now = time.monotonic()
            self._link.settimeout(None if due_at is None else max(due_at - now, 0.001))
            with contextlib.suppress(TimeoutError):
                return packets.receive(self._link)
            now = time.monotonic()
            # It is our parent: its number is its own while we are its child.
            if self._watchdog.due(now) and os.getppid() == self._keeper:
                self._look(now)

    def _look(self, now: float) -> None:
        found = process_activity.take_closely(self._keeper)
        match self._watchdog.looked(KEEPER, found, now):
            case Act.ASK:
                self._trustees = _work_of(_forks_of(self._keeper))
                self._say("ping")
            case Act.REPLACE:
                # Before the keeper is gone: then nobody knows whose they are.
                forks = _forks_of(self._keeper)
                kill_keeper(self._keeper, self._watchdog.stalled(KEEPER))
                for pid in forks:
                    self._free(pid)
            case _:
                pass

    def _free(self, pid: int) -> None:
        """Wake a trustee that is stopped, and end one that does nothing but work."""
        found = process_activity.take_closely(pid)
        if found is None or found.is_held:
            return
        if found.state == STOPPED:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        elif found.cpu - self._trustees.get(pid, found.cpu) >= TRUSTEE_CPU:
            why = "it ran without an end"
            say("process.replaced", str(replacement("trustee", pid, why)))
            kill(pid)

    def _say(self, word: str) -> None:
        self._link.settimeout(0)
        # One whose socket is full has something to take first.
        with contextlib.suppress(OSError):
            packets.send(self._link, {"do": word})


def _forks_of(keeper: int) -> list[int]:
    """Return the children of a process that have executed nothing since."""
    own = procfs.read(f"/proc/{keeper}/cmdline", procfs.MAX_COMMAND)
    return [
        one.pid
        for one in read_table().values()
        if one.parent == keeper
        and procfs.read(f"/proc/{one.pid}/cmdline", procfs.MAX_COMMAND) == own
    ]


def _work_of(pids: list[int]) -> dict[int, float]:
    looks = {pid: process_activity.take(pid) for pid in pids}
    return {pid: found.cpu for pid, found in looks.items() if found is not None}
