"""A shell that people type into: on a terminal, with its history and its prompt."""

import os
import pty
import select
import subprocess
import time
from types import TracebackType
from typing import Self

from tests.shells.real_shells import PROGRAMS, Happened, World, happened

from holdfast.core.shell.shell_grammar import Grammar

PATIENCE = 20.0
"""Seconds for one line; a shell that waits for more of it never comes back."""


class Interactive:
    """One shell at its prompt, into which line after line is typed."""

    def __init__(self, world: World, grammar: Grammar) -> None:
        self._world = world
        self._grammar = grammar
        self._log = world.root / f"{grammar}.log"
        self._number = 0
        program, *options = PROGRAMS[grammar]
        self._master, slave = pty.openpty()
        self._shell = subprocess.Popen(
            ["/usr/bin/setsid", "--ctty", f"/usr/bin/{program}", *options, "-i"],
            cwd=world.root,
            env=world.environment(self._log),
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        if self._grammar is Grammar.FISH:
            self._type("function fish_prompt; end")  # Its own one runs programs.
        self._synchronise()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shell.kill()
        self._shell.wait()
        os.close(self._master)

    def run(self, line: str) -> Happened:
        """Type a line in a folder of its own, and wait until it is done."""
        folder = self._world.folder()
        self._log.write_bytes(b"")
        self._type(f"cd {folder}")
        self._synchronise()
        self._type(line)
        self._synchronise()
        real = happened(folder, self._log)
        # What an earlier line left in the background may come late.
        late = f"{self._world.root}/line-"
        runs = tuple(run for run in real.runs if not run.folder.startswith(late))
        return Happened(runs, real.written)

    def _type(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\r")

    def _synchronise(self) -> None:
        """Type a line that shows when everything before it is done."""
        self._number += 1
        token = f"done-{self._number}".encode()
        self._type(f"sync {token.decode()}")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self._master], [], [], 0.01)
            if ready:
                os.read(self._master, 65536)
            if self._log.exists() and token + b"\0" in self._log.read_bytes():
                raw = self._log.read_bytes()
                self._log.write_bytes(raw[: raw.rindex(b"sync\0")])
                return
        raise TimeoutError("the shell waits for more")
