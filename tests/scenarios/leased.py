"""A movable session that says when it runs, and what is known of its lease."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator  # noqa: TC003  # an annotation people read
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Facts, Place
from tests.scenarios.support import eventually

from holdfast.client import keeper
from holdfast.linux import cgroups
from holdfast.model.session_record import listed_in
from holdfast.model.session_requests import ListSessions

TTL = 6.0
LATEST = 0.5 + 0.01
"""Seconds after the expiry in which a workload may still run."""

needs_cgroups = pytest.mark.skipif(
    os.getuid() != 0 or cgroups.ground().folder is None,
    reason="a fence needs a cgroup, and a capsule of root",
)

TICKS = """
import sys, time
with open(sys.argv[1], "w", buffering=1) as file:
    while True:
        file.write("%.4f\\n" % time.clock_gettime(time.CLOCK_BOOTTIME))
        time.sleep(0.001)
"""


def boottime() -> float:
    """Return the clock that leases are asked by."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@contextlib.contextmanager
def host_at_terminal(place: Place, relay: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a host at a terminal: if it is stopped, the keeper does not replace it."""
    master, slave = pty.openpty()
    host = subprocess.Popen(
        place.command("up", "--relay", relay),
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **place.folders},
    )
    try:
        eventually("the host is linked", place.is_linked)
        yield host
    finally:
        host.kill()
        host.wait()
        os.close(master)
        os.close(slave)


class Ticking:
    """A session that writes down the time, every millisecond."""

    shift = 0.0
    """Seconds by which its clock is ahead of ours."""

    def __init__(self, place: Place, folder: Path, name: str = "web") -> None:
        self.place = place
        self.name = name
        self._file = folder / "ticks"
        program = folder / "tick.py"
        program.write_text(TICKS)
        words = [sys.executable, str(program), str(self._file)]
        place.do("new", "--detach", "--movable", "--name", name, "--", *words)
        eventually("it is leased", lambda: self.facts()["leased"])

    def facts(self) -> Facts:
        """Return what the keeper knows of it."""
        with self.place.inhabited():
            answer = keeper.request(ListSessions())
        found: list[Facts] = listed_in(answer)  # type: ignore[assignment]
        return next(one for one in found if one["name"] == self.name)

    @property
    def last(self) -> float:
        """When it last ran."""
        whole = self._file.read_text().splitlines()[-3:-1]
        return float(whole[-1])

    @property
    def runs(self) -> bool:
        """Whether it runs now."""
        return self.now - self.last < 0.5

    @property
    def now(self) -> float:
        """What its clock says."""
        return boottime() + self.shift

    def stop_before_expiry(self) -> None:
        """Stop its holder so late that it is not replaced before the expiry."""
        expiry = float(self.facts()["expires"])
        holder = int(self.facts()["holder"])
        while self.now < expiry - 0.3:
            time.sleep(0.01)
            expiry = max(expiry, float(self.facts()["expires"]))
        os.kill(holder, signal.SIGSTOP)

    def fenced(self) -> float:
        """Wait until it stands still; return how long after its expiry it ran."""
        expiry = self.now
        deadline = time.monotonic() + 3 * TTL
        # A renewal may be on its way; after a fence it is said to be past.
        while self.now < expiry + 2 * LATEST:
            assert time.monotonic() < deadline, "its lease never ran out"
            expiry = max(expiry, float(self.facts()["expires"]))
            time.sleep(0.02)
        late = self.last - expiry
        assert not self.runs, "it was not fenced"
        assert late <= LATEST, late
        return late

    def is_state(self, word: str) -> bool:
        """Tell whether it is listed like this."""
        return bool(self.facts()["state"] == word)
