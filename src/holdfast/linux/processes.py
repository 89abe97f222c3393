"""The identity of a process, whether it is alive, and how it ended.

A pidfd names a process for good: it is never fooled by a number that the kernel gives
to another process (T25).
"""

import contextlib
import fcntl
import os
import re
import signal
import struct
from pathlib import Path

from holdfast.linux.libc import checked, libc

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_DUMPABLE = 4
_PR_SET_PDEATHSIG = 1

_INFO = struct.Struct("=QQ 11I i")
"""struct pidfd_info, first version: mask, cgroup, pid to fsgid, exit code."""

_PIDFD_INFO_EXIT = 1 << 3
_TELLS_EXITS = (6, 15)
"""The first kernel that keeps a status for the owner of a pidfd."""

_PIDFD_GET_INFO = 0xC0000000 | _INFO.size << 16 | 0xFF << 8 | 11


def become_subreaper() -> None:
    """Let orphans of our descendants fall to us instead of to init."""
    checked(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def hide_memory() -> None:
    """Keep our memory out of core files and away from other processes (T47)."""
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def show_memory() -> None:
    """Take `hide_memory` back, for a process that is about to execute another."""
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill us when our parent dies; end at once if it has."""
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)  # It was faster than the call.


def outlive_parent() -> None:
    """Take `die_with_parent` back."""
    libc.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


def reap() -> dict[int, int]:
    """Collect every child that has ended: pid, and code or negative signal."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)


def exit_of(pidfd: int) -> int | None:
    """Return how the process ended, if the kernel will say; code or -signal.

    Works for processes that are not our children, from Linux 6.15 on, once
    their parent has collected them.
    """
    raw = bytearray(_INFO.size)
    struct.pack_into("=Q", raw, 0, _PIDFD_INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _PIDFD_GET_INFO, raw)
    except OSError:
        return None
    mask, *_, status = _INFO.unpack(raw)
    if not mask & _PIDFD_INFO_EXIT:
        return None
    return os.waitstatus_to_exitcode(status)


def tells_exits() -> bool:
    """Tell whether `exit_of` can say how a process ended that was collected.

    By the kernel's version: to try it would take a process that ends.
    """
    numbers = re.findall("[0-9]+", os.uname().release)[:2]
    return tuple(map(int, numbers)) >= _TELLS_EXITS


def exit_of_zombie(pid: int) -> int | None:
    """Return how a process ended that nobody has collected yet; code or -signal.

    Where init does not collect orphans, as in many containers, they stay.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("latin-1")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    if fields[0] != "Z":
        return None
    return os.waitstatus_to_exitcode(int(fields[-1]))


def is_alive(pid: int) -> bool:
    """Tell whether there is a process with this number that has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return exit_of_zombie(pid) is None


def exit_of_child(pid: int) -> int | None:
    """Collect a child's exit status and return it; None if it is not our child."""
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status) if found else None


def signal_group(pidfd: int, pid: int, number: int) -> None:
    """Send a signal to the leader and its group, if the leader still lives."""
    try:
        signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def kill_session(leader: int) -> int:
    """Kill every process of the leader's session; return how many there were.

    Whose session a process is of, the kernel says in one call; where a thousand
    sessions end together, opening a file for each process would take minutes.
    """
    killed = 0
    for name in os.listdir("/proc"):  # noqa: PTH208  # a Path for each costs more than the call
        if not name.isdigit():
            continue
        pid = int(name)
        try:
            if os.getsid(pid) == leader:
                os.kill(pid, signal.SIGKILL)
                killed += 1
        except OSError:
            continue  # It was faster.
    return killed
