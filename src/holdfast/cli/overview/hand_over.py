"""Lends the terminal to another holdfast command, and waits for its end.

A process of its own: it paints first (ADR 0037), and has the terminal, the signals and
the memory to itself.
"""

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
import sys
from typing import Self

from holdfast.core.overview.acts import Attach, Create

MAX_ERRORS = 64 * 1024


class HandOver:
    """One command that is to have the terminal."""

    def __init__(self, *words: str) -> None:
        self._words = words

    @classmethod
    def for_(cls, effect: Attach | Create) -> Self:
        """Return the command that does what is wanted."""
        match effect:
            case Attach((host, session), observes):
                address = f"{host}/{session}" if host else session
                return cls("attach", *(["--observe"] if observes else []), address)
            case Create(host, name, command):
                options = [*(["--on", host] if host else [])]
                options += ["--name", name] if name else []
                return cls("new", *options, "--", *_split(command))

    async def run(self) -> str:
        """Run it to its end; return what it complained of last.

        Cancelled, it is told to hang up.
        """
        program = [sys.executable, "-P", "-m", "holdfast", *self._words]
        running = subprocess.Popen(program, stderr=subprocess.PIPE)  # noqa: S603, ASYNC220  # our own; it is waited for in a thread
        try:
            said = await asyncio.to_thread(_wait, running)
        except asyncio.CancelledError:
            running.send_signal(signal.SIGHUP)
            raise
        return said if running.returncode else ""


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _wait(running: "subprocess.Popen[bytes]") -> str:
    """Wait for a process; stop with it, and go on with it."""
    while True:
        pid, status = os.waitpid(running.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            running.returncode = os.waitstatus_to_exitcode(status)
            break
        os.kill(os.getpid(), signal.SIGSTOP)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    assert running.stderr is not None  # noqa: S101  # it is a pipe
    with running.stderr as errors:
        lines = errors.read(MAX_ERRORS).decode(errors="replace").splitlines()
    return lines[0].removeprefix("holdfast: ") if lines else ""
