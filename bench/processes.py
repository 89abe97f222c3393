"""What a process weighs and how long it has worked, as the kernel counts it."""

import contextlib
import os
from pathlib import Path

from holdfast.client import keeper
from holdfast.model.session_record import HeldRecord, listed_in
from holdfast.model.session_requests import ListSessions


def pss(pid: int) -> float:
    """Return the MiB of a process, shared pages divided among those who share."""
    return _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss:") / 1024


def resident(pid: int) -> float:
    """Return the MiB of a process that are in memory now."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "VmRSS:") / 1024


def peak(pid: int) -> float:
    """Return the most MiB of a process that were ever in memory."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "VmHWM:") / 1024


def worked(pids: list[int]) -> float:
    """Return the seconds these processes have been on a processor, together.

    The scheduler's own count: in ticks of 10 ms, a thousand processes that each
    work for 1 ms would not be seen at all.
    """
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return total / 1e9


def holders() -> list[int]:
    """Return the holders of all sessions."""
    listed = listed_in(keeper.request(ListSessions()))
    return [HeldRecord.from_facts(one).holder for one in listed]


def ours() -> list[int]:
    """Return our processes: those of the runtime folder that is set now."""
    mark = f"HOLDFAST_RUNTIME_DIR={os.environ['HOLDFAST_RUNTIME_DIR']}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            pid = int(environ.parent.name)
            if pid != os.getpid() and mark in environ.read_bytes().split(b"\0"):
                found.append(pid)
    return found


def _kilobytes(path: Path, field: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    return 0
