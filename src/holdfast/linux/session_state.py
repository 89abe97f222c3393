"""What the kernel says about a session, for core.session.session_state to judge.

The terminal says which process group has it, how it treats input, and what nobody has
read yet; /proc says what the processes of that group sleep in. They are looked for
among the leader's descendants, by the lists of children that the kernel keeps, because
a walk over all processes of a busy machine takes longer than everything else.
"""

import contextlib
import fcntl
import os
import struct
import termios
from collections import deque
from collections.abc import Iterator

from holdfast.core.session.session_state import Evidence
from holdfast.linux import procfs, pty
from holdfast.linux.procfs import Stat, read_stat
from holdfast.linux.wait_points import Terminal, sleeper

MAX_LOOKED_AT = 64
"""Processes of the foreground looked into: a pipeline is shorter, a parallel build
longer, and its later ones are like the first."""

MAX_DESCENDANTS = 2000
"""Descendants walked over, so that a session of any size costs some milliseconds."""

_TIOCGPTPEER = 0x5441
_COUNT = struct.Struct("i")
_CHILDREN = 1 << 16


def look(master: int, leader: int, *, may_trace: bool = True) -> Evidence:
    """Return what is to be seen of the session that `leader` leads on `master`."""
    group = pty.foreground(master)
    echo, canonical = pty.echoes(master), pty.is_canonical(master)
    with _other_end(master) as slave:
        if group is None or slave is None:
            return Evidence(group, (), echo, canonical)
        terminal, unread = Terminal.of(slave), _unread(slave)
    members = _members(group, leader)
    sleepers = tuple(sleeper(one, terminal, may_trace=may_trace) for one in members)
    ticks = sum(one.cpu_ticks for one in members)
    return Evidence(group, sleepers, echo, canonical, unread, ticks=ticks)


def _members(group: int, leader: int) -> list[Stat]:
    found: list[Stat] = []
    for process in _descendants(group, leader):
        if process.group == group and process.lives:
            found.append(process)
            if len(found) == MAX_LOOKED_AT:
                break
    return found


def _descendants(*roots: int) -> Iterator[Stat]:
    """Yield processes and their descendants, each once."""
    seen = set(roots)
    coming = deque(seen)
    while coming and len(seen) < MAX_DESCENDANTS:
        process = read_stat(coming.popleft())
        if process is None:
            continue
        yield process
        for child in children(process):
            if child not in seen:
                seen.add(child)
                coming.append(child)


def children(process: Stat) -> Iterator[int]:
    """Yield the numbers of a process's children."""
    pid = process.pid
    threads = [pid] if process.threads == 1 else procfs.numbers(f"/proc/{pid}/task")
    for thread in threads:
        raw = procfs.read(f"/proc/{pid}/task/{thread}/children", _CHILDREN)
        yield from map(int, raw.split())


@contextlib.contextmanager
def _other_end(master: int) -> Iterator[int | None]:
    """Open the terminal's other end for a moment; None if it cannot be had."""
    flags = os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        slave = int(fcntl.ioctl(master, _TIOCGPTPEER, flags))
    except OSError:
        yield None
        return
    try:
        yield slave
    finally:
        os.close(slave)


def unread(master: int) -> int | None:
    """Return how many bytes were typed and not read; None if nobody can say.

    Of a line that is not finished, in a terminal that reads whole lines, none.
    """
    with _other_end(master) as slave:
        return None if slave is None else _unread(slave)


def printed_ms(master: int) -> int | None:
    """Return when a terminal was last written to, as the kernel notes it.

    In milliseconds since 1970. It notes it every eight seconds at most, lest anybody
    can tell one key from the next.
    """
    with _other_end(master) as slave:
        return None if slave is None else os.fstat(slave).st_mtime_ns // 1_000_000


def _unread(slave: int) -> int:
    """Return how many bytes were typed that the program could read and has not."""
    raw = fcntl.ioctl(slave, termios.FIONREAD, bytes(_COUNT.size))
    count: int = _COUNT.unpack(raw)[0]
    return count
