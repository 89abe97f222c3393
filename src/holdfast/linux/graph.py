"""What runs in a session, what it has open, and where it listens.

Everything is read from /proc at the moment of asking, one process after the
other, so that a process that serves others too can stop in between. A process is
identified by its pid and its start time: before what was read about it is believed, the
kernel is asked again whether it is still the same.

    G1  What is said of a process was true of that process, and of no later one
        with its number.
    G2  What had to be left out, for a bound or for want of rights, is counted.
"""

import os
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.linux import procfs
from holdfast.linux.process_table import SLICE, Belonging, Walk
from holdfast.linux.procfs import Stat, read_stat
from holdfast.linux.sockets import Socket, Tables

MAX_ALL_OPEN = 16_384
"""Descriptors other than sockets listed of one session; the rest is counted."""

MAX_OPEN = 4096
"""Descriptors listed of one process; the rest is counted."""

_FDINFO = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ENVIRON = 1 << 18
_ACCESS = {0: "read", 1: "write", 2: "both"}
_PREFIXES = {"pipe": "pipe", "socket": "socket", "anon_inode": "event"}


class Open(NamedTuple):
    """One descriptor: what it leads to, and how it is used."""

    number: int
    kind: str
    """`file`, `device`, `terminal`, `pipe`, `socket`, `event` or `other`."""

    name: str
    offset: int
    access: str
    lock: str
    """`none`, `read` or `write`."""

    socket: Socket | None = None


class Node(NamedTuple):
    """One process of the graph, with what it has open."""

    stat: Stat
    command: str
    age: float
    opened: tuple[Open, ...]
    left_out: int
    """Descriptors that are not in `opened`; -1 if we may not look."""


def survey(
    belonging: Belonging, *, descriptors: bool, limit: int = MAX_ALL_OPEN
) -> Iterator[Node | None]:
    """Yield the processes of a session, parents first.

    None, while they are being looked for: SLICE has passed, and others may be served.
    Sockets are always told of; other descriptors only if asked for, because
    their offsets and locks take a file for each; at most `limit` of them.
    """
    walk = Walk(belonging)
    while (found := walk.go_on(time.monotonic() + SLICE)) is None:
        yield None
    tables = Tables()
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    room = limit if descriptors else 0
    for process in found:
        opened, left_out = _all_opened(process.pid, tables, room=room)
        command = procfs.command_of(process.pid)
        # Asked last: what was the same before and is the same now was it all along.
        stat = read_stat(process.pid)
        if stat is not None and stat.started == process.started and stat.lives:
            room -= sum(one.socket is None for one in opened)
            age = max(0.0, now - stat.started / procfs.TICKS)
            yield Node(stat, command or f"[{stat.name}]", age, opened, left_out)


def listeners(port: int) -> list[Stat]:
    """Return whichever processes of this machine listen on a port, and are ours.

    Every network namespace in which we can see a process is looked at.
    """
    tables = Tables()
    found: list[Stat] = []
    for pid in procfs.numbers("/proc"):
        inodes = {f"socket:[{one}]" for one in tables.listening(pid, port)}
        if not inodes:
            continue
        folder = f"/proc/{pid}/fd"
        targets = (procfs.link(f"{folder}/{fd}") for fd in procfs.numbers(folder))
        if any(target in inodes for target in targets):
            process = read_stat(pid)
            found += [] if process is None else [process]
    return found


def session_named_by(pid: int) -> str:
    """Return the session that a process says it is of: a hint, and no proof."""
    raw = b"\0" + procfs.read_table(f"/proc/{pid}/environ", _ENVIRON)
    _, _, rest = raw.partition(b"\0HOLDFAST_SESSION=")
    return rest.partition(b"\0")[0].decode("ascii", "replace")


def _all_opened(pid: int, tables: Tables, *, room: int) -> tuple[tuple[Open, ...], int]:
    """Return what a process has open, and how much of it is left out."""
    try:
        # From here each descriptor is two steps shorter to walk to.
        folder = os.open(f"/proc/{pid}/fd", _FOLDER)
    except OSError:
        return (), -1
    opened: list[Open] = []
    try:
        numbers = sorted(map(int, os.listdir(folder)))  # noqa: PTH208  # no Path
        opened.extend(_opened(pid, folder, numbers[:MAX_OPEN], tables, room))
    except OSError:
        return tuple(opened), -1  # It ended, or now belongs to another user.
    finally:
        os.close(folder)
    return tuple(opened), len(numbers) - len(opened)


def _opened(
    pid: int, folder: int, numbers: Iterable[int], tables: Tables, room: int
) -> Iterator[Open]:
    for number in numbers:
        try:
            target = os.readlink(str(number), dir_fd=folder)
        except OSError:
            continue  # It was closed meanwhile.
        if target.startswith("socket:["):
            found = tables.find(pid, target[8:-1])
            yield Open(number, "socket", target, 0, "both", "none", found)
        elif room > 0:
            room -= 1
            yield _described(pid, number, target)


def _described(pid: int, number: int, target: str) -> Open:
    raw = procfs.read(f"/proc/{pid}/fdinfo/{number}", _FDINFO)
    # pos and flags come first, whatever else there is; locks come somewhere.
    lines = raw.split(b"\n", 2)
    position, flags = _number(lines, 0, 10), _number(lines, 1, 8)
    access = _ACCESS.get(flags & os.O_ACCMODE, "none")
    return Open(number, _kind(target), target, position, access, _lock(raw))


def _number(lines: list[bytes], at: int, base: int) -> int:
    """Return the number in a line; 0 if the descriptor was closed meanwhile."""
    return int(lines[at].partition(b":")[2], base) if len(lines) > at + 1 else 0


def _kind(target: str) -> str:
    if target.startswith(("/dev/pts/", "/dev/tty")):
        return "terminal"
    if target.startswith("/dev/"):
        return "device"
    if target.startswith("/"):
        return "file"
    return _PREFIXES.get(target.partition(":")[0], "other")


def _lock(raw: bytes) -> str:
    _, found, line = raw.partition(b"\nlock:")
    if not found:
        return "none"
    return "write" if b" WRITE " in line else "read"
