"""A terminal with a program on it, and what is seen of it."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator

from holdfast.core.session.session_state import Doing, Word, decide
from holdfast.linux import processes, pty, spawn
from holdfast.linux.session_state import look
from holdfast.model.geometry import Size

PATIENCE = 20.0
PYTHON = sys.executable


class Stage:
    """One program that leads a session on a terminal of its own."""

    def __init__(self, *command: str) -> None:
        self.master, self.slave = pty.open_pty(Size(80, 24))
        variables = {"PATH": os.environ["PATH"], "TERM": "xterm", "PS1": "$ "}
        self.pid = spawn.start_leader(spawn.Leader(command, "/", variables), self.slave)

    def seen(self, *, may_trace: bool = True) -> Doing:
        """Say what it does."""
        self._drain()
        return decide(look(self.master, self.pid, may_trace=may_trace))

    def becomes(self, word: Word, *, may_trace: bool = True) -> Doing:
        """Return what is seen once it does that; a program takes time to begin."""
        give_up_at = time.monotonic() + PATIENCE
        while (said := self.seen(may_trace=may_trace)).word is not word:
            assert time.monotonic() < give_up_at, f"it never came to this: {said}"
            time.sleep(0.005)
        return said

    def says(self, text: bytes) -> None:
        """Wait until it has printed something."""
        give_up_at = time.monotonic() + PATIENCE
        heard = b""
        while text not in heard:
            assert time.monotonic() < give_up_at, f"it never said it: {heard!r}"
            heard += self._drain()
            time.sleep(0.002)

    def type(self, text: bytes) -> None:
        """Type something."""
        os.write(self.master, text)

    def close(self) -> None:
        """End it."""
        # Not its group alone: a shell's jobs have groups of their own.
        processes.kill_session(self.pid)
        os.waitpid(self.pid, 0)
        os.close(self.slave)
        os.close(self.master)

    def _drain(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return os.read(self.master, 65536)
        return b""


@contextlib.contextmanager
def stage(*command: str) -> Iterator[Stage]:
    """Run a program on a terminal of its own."""
    made = Stage(*command)
    try:
        yield made
    finally:
        made.close()
