"""Trees of real processes, and what becomes of them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO

from holdfast.linux.process_table import Process, Tree, read_process, read_table
from holdfast.model.ids import ENTROPY, session_id

SESSION = session_id(os.urandom(ENTROPY))
PATIENCE = 20.0


def eventually(what: str, happened: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < give_up_at, f"it never came to this: {what}"
        time.sleep(0.002)


class Leader:
    """A session leader that runs a Python program, and says pids on its output."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid = process.pid
        self.input: IO[bytes] = process.stdin
        self.output: IO[bytes] = process.stdout
        self.tree = Tree.of(process.pid, SESSION)

    def pids(self) -> list[int]:
        return [int(word) for word in self.output.readline().split()]


@contextlib.contextmanager
def leader(program: str, *command: str) -> Iterator[Leader]:
    """Run a program as a session of its own, and kill all that is left of it."""
    process = subprocess.Popen(
        [*(command or (sys.executable, "-c")), program],
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], "HOLDFAST_SESSION": SESSION},
    )
    try:
        yield Leader(process)
    finally:
        process.kill()
        eventually("nothing of it lives", lambda: not _kill_rest(process.pid))
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _kill_rest(session: int) -> bool:
    rest = [
        one
        for one in read_table().values()
        if one.session == session and not one.is_dead
    ]
    for one in rest:
        ended(one.pid)
    return bool(rest)


def found(pid: int) -> Process:
    process = read_process(pid)
    assert process is not None, f"{pid} is gone"
    return process


def stands(pid: int) -> bool:
    return found(pid).state == "T"


def ended(pid: int) -> None:
    """Kill one process that nobody else will."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
