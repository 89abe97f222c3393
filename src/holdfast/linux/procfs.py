"""What the files of /proc say about one process.

They are read with bare system calls, many of them in a row. Whatever is gone, or not
readable for us, reads as nothing: processes end while they are being looked at.
"""

import os
from typing import NamedTuple

STAT = 4096
"""Bytes of /proc/PID/stat: about fifty numbers and a name of 64 bytes."""

MAX_COMMAND = 4096
"""Bytes of a command line that are read: enough to know it by."""

TABLE = 64 * 1024
"""Bytes of a table asked for at once."""

_STATUS = 8192
"""Bytes of /proc/PID/status."""

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
"""Clock ticks in a second, in which the kernel counts processor time."""

_FIELDS = 22
"""Fields of /proc/PID/stat that are read, counted from the state."""

_STATES = {
    "R": "running",
    "S": "sleeping",
    "D": "waiting",
    "T": "stopped",
    "t": "traced",
    "I": "idle",
    "Z": "ended",
    "X": "ended",
}


class Stat(NamedTuple):
    """One process, by /proc/PID/stat."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    terminal: int
    """The device number of its terminal, as the kernel packs it."""

    cpu_ticks: int
    threads: int
    started: int
    """Clock ticks since boot. With the pid it names a process for good."""

    rss: int

    @property
    def lives(self) -> bool:
        """Whether it still runs. A first thread may end before the others."""
        return self.state not in "ZX" or self.threads > 1


def read_stat(pid: int) -> Stat | None:
    """Return what the kernel counts of a process, or None if it is gone."""
    raw = read(f"/proc/{pid}/stat", STAT)
    fields = stat_fields(raw)
    if len(fields) < _FIELDS:
        return None
    name = raw[raw.find(b"(") + 1 : raw.rfind(b")")]
    return Stat(
        pid=pid,
        name=name.decode("utf-8", "surrogateescape"),
        state=fields[0].decode(),
        parent=int(fields[1]),
        group=int(fields[2]),
        terminal=int(fields[4]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        threads=int(fields[17]),
        started=int(fields[19]),
        rss=max(0, int(fields[21])) * PAGE,
    )


def stat_fields(raw: bytes, count: int = _FIELDS) -> list[bytes]:
    """Return the first `count` fields of a stat file, from the state on.

    Fewer, if it was read from what is gone. There may be one more: the rest.
    """
    # The name may hold anything, a parenthesis too; what follows it may not.
    return raw[raw.rfind(b")") + 1 :].split(maxsplit=count)


def state_word(letter: str) -> str:
    """Return what a state letter means."""
    return _STATES.get(letter, "other")


def command_of(pid: int) -> str:
    """Return a process's command line; nothing if it has none or is gone."""
    raw = read(f"/proc/{pid}/cmdline", MAX_COMMAND)
    return raw.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "surrogateescape")


def numbers(folder: str) -> list[int]:
    """Return the names in a folder that are numbers: threads, descriptors."""
    try:
        names = os.listdir(folder)  # noqa: PTH208  # a Path for each costs more than the read
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit()]


def link(path: str) -> str:
    """Return where a link of /proc leads, or nothing."""
    try:
        return os.readlink(path)  # noqa: PTH115  # a Path costs more than the call
    except OSError:
        return ""


def status(pid: int | str, field: str) -> str:
    """Return the first word of a field of /proc/PID/status, or nothing."""
    _, _, rest = read(f"/proc/{pid}/status", _STATUS).partition(f"\n{field}:".encode())
    return rest.split(maxsplit=1)[0].decode() if rest else ""


def read(path: str, size: int) -> bytes:
    """Return what a short file of /proc says, at most `size` bytes of it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, size)
    except OSError:
        return b""
    finally:
        os.close(fd)


def read_table(path: str, limit: int) -> bytes:
    """Return what a long file of /proc says, up to about `limit` bytes of it.

    The kernel hands such a table out a page or so at a time.
    """
    pieces = bytearray()
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        while len(pieces) < limit and (piece := os.read(fd, TABLE)):
            pieces += piece
    except OSError:
        return b""
    finally:
        os.close(fd)
    return bytes(pieces)
