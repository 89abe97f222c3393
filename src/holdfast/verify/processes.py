"""Processes as the kernel tells of them, and signals only to those proven ours."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_FIELD = 19
"""Where /proc/PID/stat has the start time, counted after the name's bracket."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that no other can be taken for: its pid, and when it began."""

    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.pid} (started {self.started})"


def process(pid: int) -> Process | None:
    """Return the living process of this pid, or None."""
    fields = _fields(pid)
    if fields is None or fields[0] in "ZX":
        return None
    return Process(pid, int(fields[START_FIELD]))


def parent(pid: int) -> int:
    """Return the pid of its parent; 0 if it is gone."""
    fields = _fields(pid)
    return 0 if fields is None else int(fields[1])


def marked(mark: bytes) -> Iterator[int]:
    """Return the processes that bear the mark."""
    for name in os.listdir("/proc"):  # noqa: PTH208  # names are all that is needed
        if name.isdigit() and int(name) != os.getpid() and _has(int(name), mark):
            yield int(name)


def send(pid: int, number: int, mark: bytes) -> bool:
    """Send a signal if the process bears the mark; tell whether it was sent.

    The descriptor comes first: whatever happens to the pid after that, the signal
    reaches the process that it stands for, or none.
    """
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not _has(pid, mark):
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def kill(pid: int, mark: bytes) -> bool:
    """Kill a process that bears the mark, and wait until it is dead."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not send(pid, signal.SIGKILL, mark):
            return False
        select.select([handle], [], [], 5)
        return True
    finally:
        os.close(handle)


def kill_all(mark: bytes, patience: float = 10) -> int:
    """Kill every process that bears the mark; return how many there were.

    All are stopped before the first is killed, so that none sees another die.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        left = [pid for pid in marked(mark) if process(pid) is not None]
        if not left:
            break
        killed.update(left)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                send(pid, number, mark)
        time.sleep(0.02)
    while time.monotonic() < deadline and any(map(process, killed)):
        time.sleep(0.02)  # A dying one has no environment, and still its sockets.
    return len(killed)


def _has(pid: int, mark: bytes) -> bool:
    """Tell whether the mark is a variable, or its value an argument, of a process.

    The painter has no environment, and is told the folder by an argument.
    """
    value = mark.partition(b"=")[2]
    return mark in _strings(pid, "environ") or value in _strings(pid, "cmdline")


def _strings(pid: int, name: str) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0")
    except OSError:
        return []


def _fields(pid: int) -> list[str] | None:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return text.rpartition(")")[2].split()
    return None
