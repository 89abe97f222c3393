"""What a machine of a scenario has started, and how all of it is ended."""

import contextlib
import os
import signal
import time
from pathlib import Path

PATIENCE = 20.0
"""Seconds until what will not end fails the scenario."""


def end_everything(folder: str) -> None:
    """Kill what this machine has started, until nothing of it is left."""
    deadline = time.monotonic() + PATIENCE
    while left := _left_over(folder):
        assert time.monotonic() < deadline, f"these cannot be ended: {left}"
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _left_over(folder: str) -> list[int]:
    mark = f"HOLDFAST_RUNTIME_DIR={folder}".encode()
    left = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            pid = int(environ.parent.name)
            # A painter has no environment; its last word says whose it is.
            words = (environ.parent / "cmdline").read_bytes().split(b"\0")
            ours = {mark} & {*environ.read_bytes().split(b"\0")}
            if pid != os.getpid() and (ours or folder.encode() in words):
                left.append(pid)
    return left
