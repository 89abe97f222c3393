"""Somebody at a terminal with the overview on it: an emulator shows what they see."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator

from tests.scenarios.support import PATIENCE

from holdfast.model.geometry import Size
from holdfast.painter.ghostty import GhosttyCore
from holdfast.term.screen import Screen


class Looker:
    """`holdfast` on a terminal of its own."""

    def __init__(self, columns: int = 80, rows: int = 24, *words: str) -> None:
        self.core = GhosttyCore(Size(columns, rows))
        self.written = 0
        self.status: int | None = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            _set_size(0, columns, rows)
            os.environ["TERM"] = "xterm"
            os.environ.pop("COLORTERM", None)
            program = [sys.executable, "-m", "holdfast", *words]
            os.execv(program[0], program)  # noqa: S606  # the test's own words

    def press(self, *keys: str) -> None:
        """Press keys: letters, or what a terminal sends for others."""
        os.write(self.master, "".join(keys).encode())

    def click(self, column: int, row: int) -> None:
        """Press the mouse's left button over a cell, counted from 0."""
        self.press(f"\x1b[<0;{column + 1};{row + 1}M")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self.core.resize(Size(columns, rows))
        _set_size(self.master, columns, rows)

    def screen(self) -> Screen:
        """Return what is to be seen now."""
        self._read(0)
        return self.core.screen()

    def sees(self, *texts: str, gone: str = "") -> str:
        """Wait until all of it is on the screen, and return the screen."""
        deadline = time.monotonic() + PATIENCE
        shown = ""
        while time.monotonic() < deadline:
            self._read(0.05)
            shown = self.core.screen().text()
            is_gone = not gone or gone not in shown
            if is_gone and all(one in shown for one in texts):
                return shown
        raise AssertionError(f"never saw {texts} without {gone!r}:\n{shown}")

    def row_of(self, text: str) -> int:
        """Return the row in which something is shown."""
        lines = self.screen().lines
        return next(at for at, line in enumerate(lines) if text in line)

    def leaves(self, key: str = "q") -> int:
        """Press a key that leaves the overview; return the exit status."""
        self.press(key)
        return self.ends()

    def ends(self) -> int:
        """Wait for the end of the program; return its status."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._read(0)
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
        raise AssertionError(f"it never ended:\n{self.core.screen().text()}")

    def close(self) -> None:
        """Kill the program, if it has not ended."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        self.core.close()

    def _read(self, wait: float) -> None:
        with contextlib.suppress(OSError):  # It has ended.
            while select.select([self.master], [], [], wait)[0]:
                came = os.read(self.master, 65536)
                self.written += len(came)
                self.core.feed(came)
                wait = 0


@contextlib.contextmanager
def looking(columns: int = 80, rows: int = 24, *words: str) -> Iterator[Looker]:
    """Have somebody look at the overview, until the end of the block."""
    looker = Looker(columns, rows, *words)
    try:
        yield looker
    finally:
        looker.close()


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
