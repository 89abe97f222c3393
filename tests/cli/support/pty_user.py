"""Somebody at a terminal: a real PTY with the real command line on it."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import Any

PATIENCE = 15.0


class User:
    """Runs `holdfast` with `words` on a terminal of 80 columns and 24 rows."""

    def __init__(
        self,
        *words: str,
        size: tuple[int, int] = (80, 24),
        env: dict[str, str] | None = None,
        is_looking: bool = True,
    ) -> None:
        self._master, self.slave = pty.openpty()
        self.resize(*size)
        # Not the default, so that it shows whether ours or the user's is restored.
        modes = termios.tcgetattr(self.slave)
        modes[3] &= ~termios.ECHOCTL
        modes[6][termios.VINTR] = b"\x07"
        termios.tcsetattr(self.slave, termios.TCSANOW, modes)
        self.before = self.modes()
        self._changed = threading.Condition()
        self._eyes = threading.Event()
        self._eyes.set()
        self.shown = b""
        self.program = subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            env={**os.environ, **(env or {})},
        )
        if is_looking:
            threading.Thread(target=self._look, daemon=True).start()

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.slave)

    def is_raw(self) -> bool:
        return not self.modes()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def waits_until_raw(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.is_raw():
            assert time.monotonic() < deadline
            os.sched_yield()

    def resize(self, columns: int, rows: int) -> None:
        packed = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, packed)

    def types(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def sees(self, text: bytes) -> None:
        with self._changed:
            found = self._changed.wait_for(lambda: text in self.shown, PATIENCE)
        assert found, (text, self.shown)

    def looks_away(self) -> None:
        """Have the terminal take nothing more once it is full, as after Ctrl-S."""
        self._eyes.clear()

    def looks_again(self) -> None:
        self._eyes.set()

    def signal(self, number: int) -> None:
        self.program.send_signal(number)

    def left(self) -> int:
        return self.program.wait(PATIENCE)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.program.kill()
        self.program.wait()
        self.looks_again()
        os.close(self.slave)
        os.close(self._master)

    def _look(self) -> None:
        with contextlib.suppress(OSError):
            while raw := os.read(self._master, 65536):
                with self._changed:
                    self.shown += raw
                    self._changed.notify_all()
                self._eyes.wait()
