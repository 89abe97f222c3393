"""Whether a process runs, is stopped or waits, and how much CPU time it has used.

One read of /proc/PID/stat, which costs the process nothing: a thousand of them
take about fifteen milliseconds. What it does not say is whether a sleeping process
was put to sleep by its cgroup; that is asked about one at a time.
"""

from pathlib import Path
from typing import NamedTuple

from holdfast.linux import procfs

_UTIME = 11
_STIME = 12
"""Fields of /proc/PID/stat, counted from the state."""

_MOUNTS = 64 * 1024


class Pulse(NamedTuple):
    """One look at a process."""

    state: str
    """The kernel's letter."""

    cpu: float
    """Seconds of processor time it has used so far."""

    is_held: bool = False
    """Whether its cgroup is frozen, and it can do nothing about that."""


def take(pid: int) -> Pulse | None:
    """Look at a process; None if it is gone, or not shown to us."""
    raw = procfs.read(f"/proc/{pid}/stat", procfs.STAT)
    fields = procfs.stat_fields(raw, _STIME + 1)
    if len(fields) <= _STIME:
        return None
    used = int(fields[_UTIME]) + int(fields[_STIME])
    return Pulse(fields[0].decode(), used / procfs.TICKS)


def take_closely(pid: int) -> Pulse | None:
    """Look at a process, and at its cgroup as well."""
    found = take(pid)
    return None if found is None else found._replace(is_held=_is_held(pid))


def _is_held(pid: int) -> bool:
    from holdfast.linux.cgroups import own_folder  # noqa: PLC0415  # rarely needed

    mounts = procfs.read_table("/proc/self/mountinfo", _MOUNTS).decode("latin-1")
    own = procfs.read(f"/proc/{pid}/cgroup", procfs.STAT).decode("latin-1")
    folder = own_folder(mounts, own)
    held = folder is not None and _says(folder / "cgroup.events", "frozen 1")
    return held or _is_held_by_first_version(mounts, own)


def _is_held_by_first_version(mounts: str, own: str) -> bool:
    path = next(
        (line.split(":", 2)[2] for line in own.splitlines() if ":freezer:" in line), ""
    )
    for line in mounts.splitlines():
        before, _, after = line.partition(" - cgroup ")
        if path and "freezer" in after.rpartition(" ")[2].split(","):
            folder = Path(before.split(" ")[4])
            return _says(folder / path.lstrip("/") / "freezer.state", "FROZEN")
    return False


def _says(path: Path, line: str) -> bool:
    text = procfs.read(str(path), procfs.STAT).decode("latin-1")
    return line in text.splitlines()
