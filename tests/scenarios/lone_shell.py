"""An integrated shell without a holder: what it prints and tells is read here."""

import contextlib
import os
import select
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.scenarios.support import PATIENCE
from tests.shells.real_shells import be_used_by_fish

from holdfast.core.shell.shell_state import ShellState
from holdfast.core.shell.state_messages import StateMessages, Unknown
from holdfast.linux import pty, shells, spawn
from holdfast.model.geometry import Size
from holdfast.term.marks import Began, Ended, Mark, Prompted, read_mark
from holdfast.term.queries import QueryFilter, QueryKind

NONCE = b"a" * 32
KEY = b"b" * 32

AGAIN = 0.5
"""Seconds after which a key that had no effect is pressed again."""


def demand(program: str) -> str:
    """Return the shell, or skip the test where it is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    return program


class LoneShell:
    """A shell on a terminal of its own; `told` is all that came through its pipe."""

    def __init__(self, program: str, home: Path, *, reads: bool = True) -> None:
        self.pipe = home / "pipe"
        os.mkfifo(self.pipe, 0o600)
        self.ask(everything=True)
        self.fd = os.open(self.pipe, os.O_RDWR | os.O_NONBLOCK) if reads else None
        self.messages = StateMessages(KEY)
        self.told = self.shown = b""
        self.marks: list[Mark] = []
        self._filter = QueryFilter()
        be_used_by_fish(home)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm"}
        started = shells.integrated((program,), environment)
        assert started is not None
        self.master, slave = pty.open_pty(Size(80, 24))
        leader = spawn.Leader(
            started.command,
            str(home),
            started.environment,
            secret=b" ".join((NONCE, KEY, os.fsencode(self.pipe))),
        )
        self.pid = spawn.start_leader(leader, slave)
        os.close(slave)
        self.wait_prompts(1)

    def ask(self, *, everything: bool) -> None:
        """Say by the pipe's mode whether everything is to be told."""
        self.pipe.chmod(0o700 if everything else 0o600)

    def enter(self, line: str) -> Ended | None:
        """Enter a line, and wait for the next prompt; return how it ended."""
        before = len(self.marks)
        prompts = len(self.prompts)
        self.type(line + "\r")
        self.wait_prompts(prompts + 1)
        ends = [one for one in self.marks[before:] if isinstance(one, Ended)]
        return ends[-1] if ends else None

    def type(self, keys: str) -> None:
        """Type something, and wait for nothing."""
        os.write(self.master, keys.encode("utf-8", "surrogateescape"))

    @property
    def prompts(self) -> list[Prompted]:
        """All marks of prompts."""
        return [one for one in self.marks if isinstance(one, Prompted)]

    @property
    def lines(self) -> list[str]:
        """All lines that were executed."""
        return [one.line for one in self.marks if isinstance(one, Began)]

    def state(self) -> ShellState | Unknown | None:
        """Return what was told with the last prompt."""
        return self.messages.prompted(self.prompts[-1].number)

    def known(self) -> ShellState:
        """Return what was told with the last prompt, which must be something new."""
        found = self.state()
        assert isinstance(found, ShellState), found
        self.ask(everything=False)
        return found

    def stop_reading(self) -> None:
        """Take nothing out of the pipe from now on, but keep it open."""
        self.fd = None

    def end(self) -> None:
        """End it, and whatever it has started."""
        os.close(self.master)
        if self.fd is not None:
            os.close(self.fd)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def interrupt(self) -> None:
        """Press Ctrl-C until a prompt comes: what is pressed too early is lost."""
        count = len(self.prompts) + 1
        pressed_at = 0.0

        def found() -> bool:
            nonlocal pressed_at
            if time.monotonic() - pressed_at > AGAIN:
                self.type("\x03")
                pressed_at = time.monotonic()
            return len(self.prompts) >= count

        self._wait("prompt", found)

    def wait_prompts(self, count: int) -> None:
        """Wait until so many prompts were shown."""
        self._wait("prompt", lambda: len(self.prompts) >= count)
        self._take_told()

    def wait_lines(self, count: int) -> None:
        """Wait until so many lines were executed."""
        self._wait("line", lambda: len(self.lines) >= count)

    def wait_ends(self, count: int) -> None:
        """Wait until so many lines have ended."""
        self._wait(
            "end", lambda: sum(isinstance(one, Ended) for one in self.marks) >= count
        )

    def wait_shown(self, wanted: bytes) -> None:
        """Wait until the terminal has shown something."""
        self._wait("text", lambda: wanted in self.shown)

    def wait_until(self, found: Callable[[], bool]) -> None:
        """Wait until something is so."""
        self._wait("answer", found)

    def _wait(self, what: str, found: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not found():
            assert time.monotonic() < deadline, f"no {what}: {self.shown[-600:]!r}"
            self._read()

    def _read(self) -> None:
        wanted = [self.master] + ([] if self.fd is None else [self.fd])
        ready = select.select(wanted, [], [], 0.05)[0]
        if self.fd in ready:
            self._take_told()
        if self.master in ready:
            found = self._filter.feed(os.read(self.master, 65536))
            self.shown += found.visible
            for query in found.queries:
                mark = read_mark(query.raw, NONCE)
                if query.kind is QueryKind.MARK and mark is not None:
                    self.marks.append(mark)

    def _take_told(self) -> None:
        if self.fd is None:
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                found = os.read(self.fd, 65536)
                self.told += found
                self.messages.feed(found)
