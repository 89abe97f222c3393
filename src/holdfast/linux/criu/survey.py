"""Looks at a capsule for `can-checkpoint`, while everything in it runs.

One process after the other, so that a process that serves others too can stop in
between. What ends meanwhile is left out; what cannot be read is left at its default.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from holdfast.core.capsule.capsule_facts import CapsuleFacts, Opened, Process
from holdfast.linux import process_table, procfs
from holdfast.linux.capsule import namespaces
from holdfast.linux.criu.engine import Site
from holdfast.linux.criu.socket_ends import Ends, read_ends
from holdfast.linux.sockets import CONNECTED, Tables
from holdfast.model.session_record import CapsuleRecord

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
MAX_OPENED = 16_384
"""Descriptors of one process that are looked at."""

_STATUS = 8192
_FDINFO = 4096
_TABLE = 16 * 1024 * 1024
_ONE_MAPPING = re.compile(rb"^\S+ \S+ \S+ (\S+) \d+ +(/.*)$", re.MULTILINE)
_NAMELESS = (b"/memfd:", b"/dev/zero (deleted)", b"/anon_hugepage")
"""Memory that only looks like a removed file; CRIU knows it."""

_CAP_SYS_RESOURCE = 24


class _Ground(NamedTuple):
    """What is the same for all processes of one look."""

    depth: int
    """How many pid namespaces the capsule's is below ours."""

    volatile: frozenset[str]
    """Devices that begin empty in every capsule, as /proc/PID/maps has them."""

    tables: Tables
    ends: Ends


def survey(
    site: Site, *, is_frozen: bool = False, is_gated: bool = False
) -> Iterator[CapsuleFacts | None]:
    """Yield None after each process, and at last what was found."""
    record = site.record
    depth = len(_numbers(record.first)) - 1
    members, strangers = _belonging(record, depth)
    yield None
    mounts = _mounts(record.first)
    ends = read_ends(partial(_enter_net, site) if record.net == "own" else None)
    ground = _Ground(depth, _volatile(mounts), Tables(), ends)
    processes: list[Process] = []
    for pid in members:
        if (found := _process(pid, ground)) is not None:
            processes.append(found)
        yield None
    others = [_process(pid, ground) for pid in strangers]
    yield CapsuleFacts(
        root=next((one.pid for one in processes if one.inner == record.inner_init), 0),
        processes=tuple(processes),
        strangers=tuple(one for one in others if one is not None),
        mounts={one.number: one.point for one in mounts},
        is_rootless=record.rootless,
        has_own_net=record.net == "own",
        is_frozen=is_frozen,
        is_gated=is_gated,
        raises_limits=_has_capability(_CAP_SYS_RESOURCE),
    )


def _enter_net(site: Site) -> None:
    flags = namespaces.NEW_NET | (namespaces.NEW_USERS if site.record.rootless else 0)
    namespaces.enter(site.first, flags)


def _belonging(record: CapsuleRecord, depth: int) -> tuple[list[int], list[int]]:
    """Return the dumped tree, and what else is in the pid namespace, but its first.

    Namespaces are nested: what is in the capsule's has a number at its depth.
    """
    parents = _parents() if depth > 0 else {}
    namespace = procfs.link(f"/proc/{record.first}/ns/pid")
    lines = {pid: _ancestors(pid, parents) for pid in sorted(parents)}
    below = [pid for pid, line in lines.items() if record.first in line[1:]]
    init = next((one for one in below if _inner(one, depth) == record.inner_init), 0)
    tree = [pid for pid in below if init in lines[pid]]
    strangers = [
        pid
        for pid in lines.keys() - {record.first, *tree}
        if procfs.link(f"/proc/{pid}/ns/pid") == namespace
    ]
    return tree, sorted(strangers)


def _parents() -> dict[int, int]:
    """Return the parent of each process that lives."""
    found = (process_table.read_process(pid) for pid in procfs.numbers("/proc"))
    return {one.pid: one.parent for one in found if one is not None and not one.is_dead}


def _inner(pid: int, depth: int) -> int:
    numbers = _numbers(pid)
    return numbers[depth] if len(numbers) > depth else 0


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


def _process(pid: int, ground: _Ground) -> Process | None:
    depth = ground.depth
    before = procfs.read_stat(pid)
    raw = procfs.read(f"/proc/{pid}/status", _STATUS)
    numbers, sessions = _field(raw, b"NSpid"), _field(raw, b"NSsid")
    if before is None or not before.lives or depth >= min(len(numbers), len(sessions)):
        return None
    namespaces = {one: procfs.link(f"/proc/{pid}/ns/{one}") for one in NAMESPACES}
    opened = tuple(_opened(pid, ground))
    mapped, volatile = _mapped(pid, ground.volatile)
    found = Process(
        pid=pid,
        inner=int(numbers[depth]),
        name=before.name,
        user=_number(_field(raw, b"Uid")),
        tracer=_number(_field(raw, b"TracerPid")),
        filters=_number(_field(raw, b"Seccomp")),
        filter_count=_number(_field(raw, b"Seccomp_filters")),
        session=int(sessions[depth]),
        namespaces={name: value for name, value in namespaces.items() if value},
        opened=opened,
        mapped=mapped,
        volatile=tuple(sorted(volatile | {*_volatile_of(opened, pid, ground)})),
        is_hidden=not namespaces["user"],
    )
    after = procfs.read_stat(pid)
    is_same = after is not None and after.started == before.started and after.lives
    return found if is_same else None


def _number(words: list[bytes]) -> int:
    return int(words[0]) if words else 0


def _opened(pid: int, ground: _Ground) -> Iterator[Opened]:
    folder = f"/proc/{pid}/fd"
    for number in sorted(procfs.numbers(folder))[:MAX_OPENED]:
        if target := procfs.link(f"{folder}/{number}"):
            yield _described(pid, number, target, ground)


def _described(pid: int, number: int, target: str, ground: _Ground) -> Opened:
    path = f"/proc/{pid}/fd/{number}"
    if target.startswith("socket:["):
        return _socket(pid, number, target, ground)
    raw = b"\n" + procfs.read(f"/proc/{pid}/fdinfo/{number}", _FDINFO)
    if target.startswith("anon_inode:"):
        watches = raw.count(b"\ninotify ")
        pid_of = _number(_field(raw, b"Pid"))
        return Opened(number, target, process=pid_of, watches=watches)
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


def _socket(pid: int, number: int, target: str, ground: _Ground) -> Opened:
    inode = target[len("socket:[") : -1]
    known = ground.tables.find(pid, inode)
    remote = ""
    if known is not None and known.standing == CONNECTED and known.remote_port:
        host = f"[{known.remote}]" if ":" in known.remote else known.remote
        remote = f"{host}:{known.remote_port}" if known.protocol[:3] == "tcp" else ""
    return Opened(
        number,
        target,
        protocol=_protocol(f"/proc/{pid}/fd/{number}"),
        peer=ground.ends.peers.get(int(inode), 0),
        remote=remote,
        has_high_groups=int(inode) in ground.ends.high_groups,
    )


def _protocol(path: str) -> str:
    try:
        name = os.getxattr(path, "system.sockprotoname")
    except OSError:
        return ""
    return name.rstrip(b"\0").decode("ascii", "replace")


def _volatile_of(
    opened: tuple[Opened, ...], pid: int, ground: _Ground
) -> Iterator[str]:
    """Yield the files with a name that a process has open in the capsule's memory."""
    for one in opened:
        if not one.target.startswith("/") or one.kind:
            continue
        with contextlib.suppress(OSError):
            found = os.stat(f"/proc/{pid}/fd/{one.number}")  # noqa: PTH116  # no path
            device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}"
            is_named = stat.S_ISREG(found.st_mode) and found.st_nlink > 0
            if is_named and device in ground.volatile:
                yield one.target


def _mapped(pid: int, volatile: frozenset[str]) -> tuple[tuple[str, ...], set[str]]:
    """Return files in memory that have no name; and those in the capsule's memory."""
    nameless, named = set(), set()
    raw = procfs.read_table(f"/proc/{pid}/maps", _TABLE)
    for device, path in _ONE_MAPPING.findall(raw):
        name = path.decode("utf-8", "surrogateescape")
        if path.startswith(b"/SYSV"):
            nameless.add(name)
        elif path.endswith(b" (deleted)"):
            nameless |= set() if path.startswith(_NAMELESS) else {name}
        elif device.decode() in volatile:
            named.add(name)
    return tuple(sorted(nameless)), named


class _Mount(NamedTuple):
    number: int
    device: str
    point: str
    kind: str


def _mounts(pid: int | str) -> list[_Mount]:
    raw = procfs.read_table(f"/proc/{pid}/mountinfo", _TABLE)
    halves = (line.partition(b" - ") for line in raw.splitlines())
    return [
        _Mount(int(words[0]), words[2].decode(), os.fsdecode(words[4]), kind)
        for before, _, after in halves
        for words, kind in [(before.split(), after.split(b" ", 1)[0].decode())]
    ]


def _volatile(mounts: list[_Mount]) -> frozenset[str]:
    """Return the capsule's own file systems in memory, as /proc/PID/maps has them."""
    ours = {one.device for one in _mounts("self")}
    own = {one.device for one in mounts if one.kind == "tmpfs"} - ours
    pairs = (one.split(":") for one in own)
    return frozenset(f"{int(major):02x}:{int(minor):02x}" for major, minor in pairs)


def _has_capability(number: int) -> bool:
    words = _field(procfs.read("/proc/self/status", _STATUS), b"CapEff")
    return bool(words) and bool(int(words[0], 16) >> number & 1)
