"""Looks at a capsule for `can-checkpoint`, while everything in it runs.

One process after the other, so that a process that serves others too can stop in
between. What ends meanwhile is left out; what cannot be read is left at its default.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.core.capsule.capsule_facts import CapsuleFacts, Opened, Process
from holdfast.linux import procfs
from holdfast.linux.criu.socket_ends import Ends, read_ends
from holdfast.linux.sockets import CONNECTED, Tables

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
MAX_OPENED = 16_384
"""Descriptors of one process that are looked at."""

_STATUS = 8192
_FDINFO = 4096
_TABLE = 16 * 1024 * 1024
_ONE_MAPPING = re.compile(rb"^\S+ \S+ \S+ \S+ \d+ +(/.*)$", re.MULTILINE)
_NAMELESS = (b"/memfd:", b"/dev/zero (deleted)", b"/anon_hugepage")
"""Memory that only looks like a removed file; CRIU knows it."""

_CAP_SYS_RESOURCE = 24


class Asked(NamedTuple):
    """Which capsule is looked at, and what only its holder knows."""

    first: int
    """Its pid 1, as the machine numbers it."""

    root: int
    """The session's init, as the capsule numbers it."""

    is_rootless: bool
    has_own_net: bool
    mounts: frozenset[str] | None = None
    """Mount points when it was made; None if nobody noted them."""

    is_frozen: bool = False
    is_gated: bool = False
    enter_net: Callable[[], None] | None = None
    """Takes a child of ours into the capsule's network."""


def survey(asked: Asked) -> Iterator[CapsuleFacts | None]:
    """Yield None after each process, and at last what was found."""
    depth = len(_numbers(asked.first)) - 1
    members, strangers = _belonging(asked, depth)
    yield None
    ends = read_ends(asked.enter_net if asked.has_own_net else None)
    tables = Tables()
    processes: list[Process] = []
    for pid in members:
        if (found := _process(pid, depth, tables, ends)) is not None:
            processes.append(found)
        yield None
    others = [_process(pid, depth, tables, ends) for pid in strangers]
    root = next((one.pid for one in processes if one.inner == asked.root), 0)
    mounts = _mounts(asked.first)
    known = asked.mounts
    made = [] if known is None else [one for one in mounts.values() if one not in known]
    yield CapsuleFacts(
        root=root,
        processes=tuple(processes),
        strangers=tuple(one for one in others if one is not None),
        mounts=mounts,
        made_mounts=tuple(made),
        is_rootless=asked.is_rootless,
        has_own_net=asked.has_own_net,
        is_frozen=asked.is_frozen,
        is_gated=asked.is_gated,
        raises_limits=_has_capability(_CAP_SYS_RESOURCE),
    )


def _belonging(asked: Asked, depth: int) -> tuple[list[int], list[int]]:
    """Return the dumped tree, and what else is in the pid namespace, but its first.

    Namespaces are nested: what is in the capsule's has a number at its depth.
    """
    parents: dict[int, int] = {}
    inner: dict[int, int] = {}
    for pid in procfs.numbers("/proc") if depth > 0 else ():
        numbers = _numbers(pid)
        found = procfs.read_stat(pid) if len(numbers) > depth else None
        if found is not None and found.lives:
            parents[pid], inner[pid] = found.parent, numbers[depth]
    namespace = procfs.link(f"/proc/{asked.first}/ns/pid")
    tree: list[int] = []
    strangers: list[int] = []
    for pid in sorted(parents):
        line = _ancestors(pid, parents)
        if asked.first in line[1:] and asked.root in [inner[one] for one in line]:
            tree.append(pid)
        elif pid != asked.first and procfs.link(f"/proc/{pid}/ns/pid") == namespace:
            strangers.append(pid)
    return tree, strangers


def _ancestors(pid: int, parents: dict[int, int]) -> list[int]:
    """Return a process and all above it that are known, from the lowest on."""
    line = [pid]
    while (parent := parents.get(line[-1], 0)) in parents and parent not in line:
        line.append(parent)
    return line


def _numbers(pid: int) -> list[int]:
    raw = procfs.read(f"/proc/{pid}/status", _STATUS)
    return [int(one) for one in _field(raw, b"NSpid")]


def _field(raw: bytes, name: bytes) -> list[bytes]:
    _, found, rest = raw.partition(b"\n" + name + b":")
    return rest.split(b"\n", 1)[0].split() if found else []


def _process(pid: int, depth: int, tables: Tables, ends: Ends) -> Process | None:
    before = procfs.read_stat(pid)
    raw = procfs.read(f"/proc/{pid}/status", _STATUS)
    numbers, sessions = _field(raw, b"NSpid"), _field(raw, b"NSsid")
    if before is None or not before.lives or depth >= min(len(numbers), len(sessions)):
        return None
    namespaces = {one: procfs.link(f"/proc/{pid}/ns/{one}") for one in NAMESPACES}
    found = Process(
        pid=pid,
        inner=int(numbers[depth]),
        name=before.name,
        user=_number(_field(raw, b"Uid")),
        tracer=_number(_field(raw, b"TracerPid")),
        filters=_number(_field(raw, b"Seccomp")),
        session=int(sessions[depth]),
        namespaces={name: value for name, value in namespaces.items() if value},
        opened=tuple(_opened(pid, tables, ends)),
        mapped=_mapped(pid),
        is_hidden=not namespaces["user"],
    )
    after = procfs.read_stat(pid)
    is_same = after is not None and after.started == before.started and after.lives
    return found if is_same else None


def _number(words: list[bytes]) -> int:
    return int(words[0]) if words else 0


def _opened(pid: int, tables: Tables, ends: Ends) -> Iterator[Opened]:
    folder = f"/proc/{pid}/fd"
    for number in sorted(procfs.numbers(folder))[:MAX_OPENED]:
        if target := procfs.link(f"{folder}/{number}"):
            yield _described(pid, number, target, tables, ends)


def _described(
    pid: int, number: int, target: str, tables: Tables, ends: Ends
) -> Opened:
    path = f"/proc/{pid}/fd/{number}"
    if target.startswith("socket:["):
        return _socket(pid, number, target, tables, ends)
    raw = b"\n" + procfs.read(f"/proc/{pid}/fdinfo/{number}", _FDINFO)
    if target.startswith("anon_inode:"):
        return Opened(number, target, process=_number(_field(raw, b"Pid")))
    try:
        found = os.stat(path)  # noqa: PTH116  # a link of the kernel's, and no path
    except OSError:
        return Opened(number, target)
    kind = "character" if stat.S_ISCHR(found.st_mode) else ""
    kind = "block" if stat.S_ISBLK(found.st_mode) else kind
    device = (os.major(found.st_rdev), os.minor(found.st_rdev)) if kind else (0, 0)
    allocated = 0 if found.st_nlink else found.st_blocks * 512
    mount = _number(_field(raw, b"mnt_id"))
    return Opened(number, target, mount, kind, device, allocated)


def _socket(pid: int, number: int, target: str, tables: Tables, ends: Ends) -> Opened:
    inode = target[len("socket:[") : -1]
    known = tables.find(pid, inode)
    remote = ""
    if known is not None and known.standing == CONNECTED and known.remote_port:
        host = f"[{known.remote}]" if ":" in known.remote else known.remote
        remote = f"{host}:{known.remote_port}" if known.protocol[:3] == "tcp" else ""
    return Opened(
        number,
        target,
        protocol=_protocol(f"/proc/{pid}/fd/{number}"),
        peer=ends.peers.get(int(inode), 0),
        remote=remote,
        has_high_groups=int(inode) in ends.high_groups,
    )


def _protocol(path: str) -> str:
    try:
        name = os.getxattr(path, "system.sockprotoname")
    except OSError:
        return ""
    return name.rstrip(b"\0").decode("ascii", "replace")


def _mapped(pid: int) -> tuple[str, ...]:
    raw = procfs.read_table(f"/proc/{pid}/maps", _TABLE)
    found = {
        path.decode("utf-8", "surrogateescape")
        for path in _ONE_MAPPING.findall(raw)
        if path.startswith(b"/SYSV")
        or (path.endswith(b" (deleted)") and not path.startswith(_NAMELESS))
    }
    return tuple(sorted(found))


def _mounts(pid: int) -> dict[int, str]:
    raw = procfs.read_table(f"/proc/{pid}/mountinfo", _TABLE)
    lines = [line.split(b" ", 5) for line in raw.splitlines()]
    return {
        int(words[0]): words[4].decode("utf-8", "surrogateescape")
        for words in lines
        if len(words) > 5  # noqa: PLR2004  # the fifth is where it is mounted
    }


def _has_capability(number: int) -> bool:
    words = _field(procfs.read("/proc/self/status", _STATUS), b"CapEff")
    return bool(words) and bool(int(words[0], 16) >> number & 1)
