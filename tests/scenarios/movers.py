"""Two hosts that let each other in, a relay between them, and a session that moves."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator  # an annotation people read

from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.support import eventually

TTL = 6.0


class Hosts:
    """alpha and beta, and the relay between them."""

    def __init__(self, point: RelayPlace, alpha: Place, beta: Place) -> None:
        self.relay = point
        self.alpha = alpha
        self.beta = beta
        for place in (alpha, beta):
            place.up(point.url)
        let_in(beta, alpha, "beta")
        let_in(alpha, beta, "alpha")

    def begin(self, *words: str, name: str = "web") -> str:
        """Start a movable session at alpha; return its id once it has its lease."""
        made = self.alpha.facts("new", "--detach", "--movable", "--name", name, *words)
        self.leased(self.alpha)
        return str(made["id"])

    def leased(self, place: Place) -> None:
        """Wait until a host has the lease of its one session."""

        def is_held() -> bool:
            found = place.status().get("leases") or []
            return bool(found) and all(one["state"] == "held" for one in found)

        eventually("it is leased", is_held)

    def lives_at(self, session: str) -> list[str]:
        """Return at which hosts a session lives."""
        found = []
        for name, place in (("alpha", self.alpha), ("beta", self.beta)):
            listed = json.loads(place.do("ls", "--json"))
            sessions = listed["sessions"] if isinstance(listed, dict) else listed
            living = ("lost", "stopped")
            if any(
                one["id"] == session and one["state"] not in living for one in sessions
            ):
                found.append(name)
        return found


@contextlib.contextmanager
def hosts(*options: str) -> Iterator[Hosts]:
    """Return two hosts that are ended when the block is; `options` are the relay's."""
    with (
        relay("--lease-ttl", str(TTL), *options) as point,
        places(2) as (alpha, beta),
    ):
        yield Hosts(point, alpha, beta)


def let_in(there: Place, here: Place, name: str) -> None:
    """Have one host let the other one in, which calls it `name`."""
    words = ("--as", "mover", "--kind", "service", "--can", "move,create")
    here.do("join", "--as-host", there.invite(*words), "--name", name)


class Attached:
    """A terminal that is attached, and what it has shown."""

    def __init__(self, place: Place, name: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({**place.folders, "TERM": "xterm-256color"})
            os.execv(sys.executable, place.command("attach", name))  # noqa: S606  # ours
        self.shown = b""
        self.times: list[float] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self.fd, 65536):
                self.shown += data
                self.times.append(time.monotonic())

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self.fd, text.encode())

    def shows(self, text: str) -> bool:
        """Tell whether something was shown."""
        return text.encode() in self.shown

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def moving(place: Place, name: str, to: str) -> "subprocess.Popen[str]":
    """Begin a move; who calls it may kill it."""
    return subprocess.Popen(
        place.command("move", name, to, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **place.folders},
    )
