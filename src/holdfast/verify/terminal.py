"""A client at a real terminal: its keys can be pressed, and its screen read."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time

from holdfast.verify.account import PATIENCE, Account, BrokenOff

SIZE = struct.pack("HHHH", 24, 80, 0, 0)


def attached(account: Account, session: str, by: str = "") -> "Terminal":
    """Attach to a session of holdfast, as ourselves or as another operator."""
    who = ["--as", by] if by else []
    return Terminal(account, [*account.command, *who, "attach", session])


class Terminal:
    """A pseudo-terminal with a program at it."""

    def __init__(self, account: Account, words: list[str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, SIZE)
        self.program = subprocess.Popen(  # noqa: S603  # what we verify, or compare
            words,
            env=account.variables,
            cwd=account.home,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def see(self, what: bytes) -> None:
        """Wait until the terminal has shown something."""
        if not self.shows(what, PATIENCE):
            raise BrokenOff(f"the terminal never showed {what!r}")

    def shows(self, what: bytes, patience: float) -> bool:
        """Tell whether the terminal shows something in time."""
        deadline = time.monotonic() + patience
        while what not in self.shown and time.monotonic() < deadline:
            time.sleep(0.01)
        return what in self.shown

    def press(self, keys: bytes) -> None:
        """Press keys."""
        with contextlib.suppress(OSError):
            os.write(self._master, keys)

    def kill(self) -> None:
        """Kill the client, as nothing can be killed harder."""
        self.program.kill()
        self.program.wait()

    def close(self) -> None:
        """End the client, and give the terminal back."""
        self.kill()
        self._reader.join(1)
        with contextlib.suppress(OSError):
            os.close(self._master)

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._master, 65536):
                self.shown += data
