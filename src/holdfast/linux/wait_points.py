"""What a process sleeps in, and whether typing would wake it.

The kernel shows the system call in which each thread sleeps, with its arguments:
the descriptor it reads, the set of descriptors it polls. A set is read from the
process's own memory, or from /proc in the case of epoll. Both need the right to
trace, which the kernel denies for programs of another user and, where Yama says
so, for all but our children.

Then less is left: the name of the function it sleeps in (wchan), and what it has
open. A process that polls, or sleeps where terminals are read, and has nothing
open that could wake it but the terminal, waits for the terminal. That is inferred
rather than seen, and marked so. Of a process that hides all of this, as anything
setuid does, only its state is known.
"""

import os
import stat
import struct
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.core.session.session_state import Sleeper, Wait
from holdfast.linux import procfs
from holdfast.linux.procfs import Stat

MAX_THREADS = 64
"""Threads examined in one process: the reader of a terminal is an early one."""

MAX_POLLED = 1024
"""Descriptors read of one poll; the default limit of open ones."""

MAX_OPEN = 256
"""Open descriptors looked at where only they can tell."""

_ANY_TERMINAL = os.makedev(5, 0)
"""/dev/tty, by which a process reaches the terminal of its session."""

_SYSCALL = 256
_WCHAN = 64
_FDINFO = 65536
_POLLFD = struct.Struct("ihh")
_READABLE = 0x0001 | 0x0002 | 0x0040
"""POLLIN, POLLPRI and POLLRDNORM; EPOLLIN and its like have the same bits."""

_CALLS = {
    "x86_64": {
        "read": (0, 19),
        "poll": (7, 271),
        "select": (23, 270),
        "epoll": (232, 281, 441),
    },
    "aarch64": {
        "read": (63, 65),
        "poll": (73,),
        "select": (72,),
        "epoll": (22, 441),
    },
}
"""System calls that can wait for a terminal, and their numbers, by machine."""

_MACHINE = {
    number: name
    for name, numbers in _CALLS.get(os.uname().machine, {}).items()
    for number in numbers
}
"""Those of this machine; empty if it is one we do not know."""

_POLLING_IN = ("poll_schedule_timeout", "do_sys_poll", "do_select", "do_poll")
_READING_IN = ("wait_woken", "n_tty_read", "tty_read")
_EPOLLING_IN = ("ep_poll", "do_epoll_wait")
"""Functions of the kernel in which processes wait for a terminal; sockets are
waited for in some of them too."""

_SLEEPING = "S"
"""How the kernel calls a process that a signal, or a key, could wake."""

_STOPS = 1 << 19 | 1 << 21
"""SIGTSTP and SIGTTOU, as bits of a mask: what shells that keep jobs ignore."""


class Terminal(NamedTuple):
    """What tells one terminal from all others."""

    folder: int
    device: int

    @classmethod
    def of(cls, fd: int) -> "Terminal":
        """Name the terminal that is open as `fd`."""
        found = os.fstat(fd)
        return cls(found.st_dev, found.st_rdev)

    def is_at(self, path: str, process: Stat) -> bool:
        """Tell whether `path` leads `process` to this terminal."""
        try:
            found = os.stat(path)  # noqa: PTH116  # a Path costs more than the call
        except OSError:
            return False
        if found.st_rdev == _ANY_TERMINAL:
            return _unpacked(process.terminal) == self.device
        return (found.st_dev, found.st_rdev) == self


class _Asleep(NamedTuple):
    """What one thread sleeps in."""

    wait: Wait
    where: str
    others: int = 0
    size: int = 0
    is_sure: bool = True


_ORDER = (Wait.READING, Wait.POLLING, Wait.UNSEEN, Wait.ELSEWHERE, Wait.NOTHING)
"""Of the threads of a process, the one that says most speaks for it."""


def sleeper(process: Stat, terminal: Terminal, *, may_trace: bool = True) -> Sleeper:
    """Return what a process sleeps in, as far as the kernel tells.

    Without `may_trace` it is answered as where tracing is not allowed.
    """
    threads = procfs.numbers(f"/proc/{process.pid}/task")[:MAX_THREADS]
    look = _thread if may_trace and _MACHINE else _unseen
    asleep = [
        look(process, f"/proc/{process.pid}/task/{thread}", terminal)
        for thread in threads
    ] or [_Asleep(Wait.NOTHING, "has just ended")]
    said = min(asleep, key=lambda one: _ORDER.index(one.wait))
    waits = said.wait in (Wait.READING, Wait.POLLING)
    return Sleeper(
        pid=process.pid,
        name=process.name,
        state=procfs.state_word(process.state),
        wait=said.wait,
        where=said.where,
        is_busy=any(one.wait is Wait.NOTHING for one in asleep),
        is_sure=said.is_sure,
        others=said.others,
        size=said.size,
        keeps_jobs=waits and keeps_jobs(process.pid),
    )


def _thread(process: Stat, folder: str, terminal: Terminal) -> _Asleep:
    words = procfs.read(f"{folder}/syscall", _SYSCALL).split()
    if not words:
        return _unseen(process, folder, terminal)
    if words[0] == b"running":
        return _Asleep(Wait.NOTHING, "runs")
    name = _MACHINE.get(int(words[0]))
    if name is None:
        return _Asleep(Wait.ELSEWHERE, f"sleeps in {_wchan(folder) or 'the kernel'}")
    arguments = [int(word, 16) for word in words[1:7]]
    if name == "read":
        return _reading(process, arguments, terminal)
    polled = _polled(process.pid, name, arguments)
    if polled is None:
        return _unseen(process, folder, terminal)
    return _polling(process, polled, terminal)


def _reading(process: Stat, arguments: list[int], terminal: Terminal) -> _Asleep:
    fd, _, size = arguments[:3]
    path = f"/proc/{process.pid}/fd/{fd}"
    if terminal.is_at(path, process):
        return _Asleep(Wait.READING, f"reads the terminal (fd {fd})", size=size)
    return _Asleep(Wait.ELSEWHERE, f"reads {_kind(path)} (fd {fd})")


def _polling(process: Stat, polled: set[int], terminal: Terminal) -> _Asleep:
    ours = {
        fd for fd in polled if terminal.is_at(f"/proc/{process.pid}/fd/{fd}", process)
    }
    others = len(polled) - len(ours)
    if not ours:
        return _Asleep(Wait.ELSEWHERE, f"polls {others} descriptors, none the terminal")
    beside = f", and {others} more" if others else ""
    where = f"polls the terminal (fd {min(ours)}{beside})"
    return _Asleep(Wait.POLLING, where, others=others)


def _polled(pid: int, name: str, arguments: list[int]) -> set[int] | None:
    """Return what a thread polls for input, or None if that cannot be read."""
    if name == "epoll":
        return _watched(pid, arguments[0])
    if name == "select":
        return _selected(pid, min(arguments[0], MAX_POLLED), arguments[1])
    count = min(arguments[1], MAX_POLLED)
    raw = _memory(pid, arguments[0], count * _POLLFD.size)
    if raw is None:
        return None
    return {
        fd
        for fd, events, _ in _POLLFD.iter_unpack(raw)
        if fd >= 0 and events & _READABLE
    }


def _selected(pid: int, count: int, address: int) -> set[int] | None:
    if not address:
        return set()
    raw = _memory(pid, address, -(-count // 8))
    if raw is None:
        return None
    return {fd for fd in range(count) if raw[fd // 8] >> fd % 8 & 1}


def _watched(pid: int, epoll: int) -> set[int]:
    found: set[int] = set()
    for line in procfs.read(f"/proc/{pid}/fdinfo/{epoll}", _FDINFO).splitlines():
        words = line.split()
        # tfd: 0 events: 19 data: … — the number is decimal and the mask is not.
        if words[:1] == [b"tfd:"] and int(words[3], 16) & _READABLE:
            found.add(int(words[1]))
    return found


def _memory(pid: int, address: int, size: int) -> bytes | None:
    try:
        fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        raw = os.pread(fd, size, address)
    except (OSError, OverflowError):
        return None
    finally:
        os.close(fd)
    return raw if len(raw) == size else None


# ── without the right to trace ────────────────────────────────────────────────


def _unseen(process: Stat, folder: str, terminal: Terminal) -> _Asleep:
    if process.state == "R":
        return _Asleep(Wait.NOTHING, "runs")
    wchan = _wchan(folder)
    where = f"sleeps in {wchan}"
    if not wchan:
        return _hidden(process)
    if wchan.startswith(_EPOLLING_IN):
        return _polling(process, _watched_by_any(process.pid), terminal)
    if not wchan.startswith(_READING_IN + _POLLING_IN):
        return _Asleep(Wait.ELSEWHERE, where)
    wakers = [*_wakers(process, terminal)]
    if not wakers or not all(wakers):
        return _Asleep(Wait.UNSEEN, where)
    wait = Wait.READING if wchan.startswith(_READING_IN) else Wait.POLLING
    return _Asleep(wait, f"{where}, with the terminal open", is_sure=False)


def _hidden(process: Stat) -> _Asleep:
    # What ends, or becomes another program, shows as little as what hides; but it
    # does not sleep, or no longer as it did a moment ago.
    now = procfs.read_stat(process.pid)
    if process.state != _SLEEPING or now is None or now.state != _SLEEPING:
        return _Asleep(Wait.NOTHING, "is about to end, or to run something else")
    return _Asleep(Wait.UNSEEN, "does not let us see what it waits for")


def _wakers(process: Stat, terminal: Terminal) -> Iterator[bool]:
    """Yield, for all that is open and could wake it, whether it is the terminal."""
    for fd in procfs.numbers(f"/proc/{process.pid}/fd")[:MAX_OPEN]:
        path = f"/proc/{process.pid}/fd/{fd}"
        if terminal.is_at(path, process):
            yield True
        elif _could_wake(path):
            yield False


def _could_wake(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  # a Path costs more than the call
    except OSError:
        return True  # We cannot tell, and must not infer anything from it.
    is_file = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return not (is_file or procfs.link(path) == os.devnull)


def _watched_by_any(pid: int) -> set[int]:
    found: set[int] = set()
    for fd in procfs.numbers(f"/proc/{pid}/fd")[:MAX_OPEN]:
        if procfs.link(f"/proc/{pid}/fd/{fd}") == "anon_inode:[eventpoll]":
            found |= _watched(pid, fd)
    return found


# ── small facts ───────────────────────────────────────────────────────────────


def _wchan(folder: str) -> str:
    found = procfs.read(f"{folder}/wchan", _WCHAN).decode("ascii", "replace")
    return "" if found == "0" else found.partition(".")[0]


def keeps_jobs(pid: int) -> bool:
    """Tell whether a process is an interactive shell, by the signals it ignores."""
    return int(procfs.status(pid, "SigIgn") or "0", 16) & _STOPS == _STOPS


def _kind(path: str) -> str:
    target = procfs.link(path)
    kind = target.partition(":")[0]
    return f"a {kind}" if kind in ("pipe", "socket") else target or "something"


def _unpacked(number: int) -> int:
    """Return a device number, which /proc/PID/stat packs in its own way."""
    return os.makedev(number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00)
