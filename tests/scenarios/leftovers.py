"""What a machine of a scenario has started, and how all of it is ended.

A process that is killed may have started another a moment before. That one is found
too: who appears during a look is looked at as well, and one that is just becoming
another program, and so has no environment yet, is waited for.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

PATIENCE = 20.0
"""Seconds until what will not end fails the scenario."""

BECOMING = 2.0
"""Seconds for a process to become another program, on a machine that stands still."""

ENDED = {"Z", "X"}


def end_everything(folder: str, variable: str = "HOLDFAST_RUNTIME_DIR") -> None:
    """Kill what this machine has started, until nothing of it is left.

    What it has started has a variable that names its folder.
    """
    deadline = time.monotonic() + PATIENCE
    while left := left_over(folder, variable):
        assert time.monotonic() < deadline, f"these cannot be ended: {left}"
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def left_over(folder: str, variable: str) -> list[int]:
    """Return the pids of what a machine has started."""
    left: list[int] = []
    seen = {os.getpid()}
    while found := _processes() - seen:
        seen |= found
        left += [pid for pid in found if _belongs(pid, folder, variable)]
    return left


def _processes() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208


def _belongs(pid: int, folder: str, variable: str) -> bool:
    """Tell whether a process was started by the machine of a folder."""
    mark = f"{variable}={folder}".encode()
    deadline = time.monotonic() + BECOMING
    while time.monotonic() < deadline:
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        if words != [b""] or variables != [b""] or not _is_becoming(pid):
            # A painter has no environment; its last word says whose it is.
            return mark in variables or folder.encode() in words
        time.sleep(0.001)
    return False


def _is_becoming(pid: int) -> bool:
    """Tell whether a process without words is about to have some."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        is_of_the_kernel = not os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:
        return False  # It is gone, or one of the kernel's.
    return not is_of_the_kernel and stat.rpartition(")")[2].split()[0] not in ENDED
