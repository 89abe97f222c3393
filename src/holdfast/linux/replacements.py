"""Kills a holdfast process that hangs, and records that.

A process that kills a keeper cannot tell the others: the next keeper does that, which
finds the note in a file.
"""

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass

from holdfast.linux.stored import folders
from holdfast.linux.stored.small_files import write_file

MAX_WORD = 4096
"""Bytes of the file that are read."""

MAX_WHY = 200
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One process that was killed because it hung."""

    what: str
    """What it was: `holder`, `keeper`, …"""

    pid: int
    why: str
    at_ms: int
    """When, in milliseconds since 1970."""

    session: str = ""
    """Whose holder it was; empty if it was for all sessions."""

    def __str__(self) -> str:
        """Return it as a line of a log has it."""
        whose = f" of {self.session}" if self.session else ""
        return f"the {self.what}{whose} (pid {self.pid}): {self.why}"


def replacement(what: str, pid: int, why: str, session: str = "") -> Replacement:
    """Return a record of a process that is replaced now."""
    return Replacement(what, pid, why, time.time_ns() // 1_000_000, session)


def kill(pid: int) -> None:
    """Kill a process that may be gone already; never a group of them."""
    if pid > 1:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def say(event: str, text: str) -> None:
    """Write one line into the keeper's log."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{event} {text}\n")
        sys.stderr.flush()


def kill_keeper(pid: int, why: str) -> None:
    """Kill a keeper that hangs, and leave a note for the next one."""
    told = replacement("keeper", pid, why)
    say("process.replaced", str(told))
    word = json.dumps(asdict(told)).encode()
    with contextlib.suppress(OSError):  # A full disk keeps nobody from acting.
        write_file(_word_path(), word, is_durable=False)
    kill(pid)


def take_word() -> Replacement | None:
    """Return, once, which keeper was killed, if a note says so."""
    try:
        word = os.open(_word_path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(word, "rb") as file:  # noqa: PTH123  # a descriptor
            raw = file.read(MAX_WORD)
        os.unlink(_word_path())  # noqa: PTH108  # its twin is os.open
        match json.loads(raw):
            case {"pid": int(pid), "why": str(why), "at_ms": int(at_ms)}:
                return Replacement("keeper", pid, why[:MAX_WHY], at_ms)
            case _:
                return None
    except (OSError, ValueError, RecursionError):
        return None


def _word_path() -> str:
    return f"{folders.runtime_path()}/keeper.replaced"
