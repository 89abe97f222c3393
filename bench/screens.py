"""Programs on terminals of our own: the command line, tmux, or nothing between.

One way of reading for all of them, so that what differs is what is measured.
"""

import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE = 120.0
"""Seconds until something that never comes ends the run: a flood takes its time."""

ROWS, COLUMNS = 24, 80

_KEPT = 256
"""Bytes remembered between two reads, so that a mark cut in two is found."""


class NeverCame(Exception):
    """What a screen had to show was not shown."""

    def __init__(self, mark: bytes, tail: bytes) -> None:
        super().__init__(f"no {mark!r} after {tail[-_KEPT:]!r}")


class Screen:
    """A program on a terminal of 80 columns and 24 rows, and its viewer."""

    def __init__(self, *words: str) -> None:
        self.read = 0
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
            os.environ["TERM"] = "xterm-256color"
            os.execvp(words[0], words)  # noqa: S606  # the bench's own words
        os.set_blocking(self._master, False)

    def types(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def sees(self, mark: bytes, timeout: float = PATIENCE) -> None:
        """Read, keeping next to nothing, until `mark` is shown."""
        tail = b""
        deadline = time.monotonic() + timeout
        while mark not in tail:
            try:
                came = os.read(self._master, 65536)
                self.read += len(came)
                tail = tail[-_KEPT:] + came
            except BlockingIOError:
                # Asked only when there is nothing: it costs as much as the reading.
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self._master], [], [], left)[0]:
                    raise NeverCame(mark, tail) from None
            except OSError:
                raise NeverCame(mark, tail) from None

    def settles(self, quiet: float = 0.1) -> None:
        """Read until nothing has come for `quiet` seconds."""
        with contextlib.suppress(OSError):
            while select.select([self._master], [], [], quiet)[0]:
                if not os.read(self._master, 65536):
                    return

    def close(self) -> None:
        """Kill the program and wait for its end."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._master)
        os.waitpid(self.pid, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def holdfast(*words: str) -> list[str]:
    """Return how a user starts the command line."""
    installed = Path(sys.executable).parent / "holdfast"
    if installed.exists():
        return [str(installed), *words]
    return [sys.executable, "-m", "holdfast", *words]


def finished(words: Sequence[str]) -> float:
    """Run a command without a terminal, and return how many seconds it took."""
    began_at = time.perf_counter()
    subprocess.run(  # noqa: S603  # the bench's own words
        words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - began_at


class Tmux:
    """A tmux server of our own, without a status line that would be drawn too."""

    def __init__(self, folder: Path) -> None:
        self._words = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux.sock")]
        self.run("new-session", "-d", "-s", "keep", "sleep 10000")
        self.run("set-option", "-g", "status", "off")

    @classmethod
    def found(cls, folder: Path) -> Self | None:
        """Return a server, or None where there is no tmux."""
        return cls(folder) if shutil.which("tmux") else None

    def words(self, *words: str) -> list[str]:
        """Return how one tmux command is started."""
        return [*self._words, *words]

    def run(self, *words: str) -> None:
        """Run one tmux command."""
        subprocess.run(  # noqa: S603  # the bench's own words
            self.words(*words),
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def new(self, name: str, command: str) -> None:
        """Start a session that nobody is attached to."""
        size = ("-x", str(COLUMNS), "-y", str(ROWS))
        self.run("new-session", "-d", "-s", name, *size, command)

    def attach(self, name: str) -> Screen:
        """Attach on a terminal of our own."""
        return Screen(*self._words, "attach", "-t", name)

    def end(self, name: str) -> None:
        """End a session."""
        self.run("kill-session", "-t", name)

    def close(self) -> None:
        """End the server."""
        self.run("kill-server")
