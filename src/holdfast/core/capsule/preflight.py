"""Whether a capsule can be dumped and restored, and what prevents it.

Theory of operation
-------------------
CRIU finds a blocker only while everything stands still, and names it in its own words;
some it does not find before the restore. So the capsule is looked at first, while it
runs, and judged here. Each rule was seen to fail with CRIU 4.2.1; what is not known to
fail is let pass, because CRIU refuses cleanly and the session goes on.

A look is true of its moment: a program may open something the next.

Invariants, checked by tests/core/capsule/test_preflight.py:

P1  Every blocker names what is in the way, says why, and what to do about it.
P2  A connection that a restore cuts is listed by its peer and does not block.
P3  What only a session without root's rights cannot have is no blocker as root.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.core.capsule.capsule_facts import CapsuleFacts, Opened, Process
from holdfast.core.capsule.criu_words import GHOST_LIMIT


class Kind(enum.StrEnum):
    """What sort of thing is in the way; for programs."""

    TERMINAL = "terminal"
    OUTSIDE = "outside-file"
    PEER = "outside-socket"
    SOCKET = "socket-kind"
    EVENT = "event-kind"
    WATCH = "watched-file"
    DEVICE = "device"
    LARGE = "large-file"
    PIDFD = "outside-process"
    TRACED = "traced"
    FILTERED = "filtered"
    NAMESPACE = "namespace"
    MAPPED = "mapped-file"
    SHARED = "shared-memory"
    VOLATILE = "volatile-file"
    USER = "other-user"
    STRANGER = "stranger"
    SESSION = "outside-session"
    HIDDEN = "hidden"
    FROZEN = "frozen"
    PLAIN = "no-capsule"
    GATED = "exec-gate"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that keeps the capsule from being dumped, or from being restored."""

    kind: Kind
    what: str
    why: str
    remedy: str
    pid: int = 0
    """As the session sees it; 0 if it is no process's."""

    program: str = ""
    descriptor: int = -1


@dataclass(frozen=True, slots=True)
class Cut:
    """A connection that is closed for the program when it is restored."""

    pid: int
    program: str
    descriptor: int
    peer: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer: it can be dumped if nothing blocks."""

    blockers: tuple[Blocker, ...]
    cuts: tuple[Cut, ...]

    @property
    def can(self) -> bool:
        """Whether nothing is known to stand in the way."""
        return not self.blockers


MEMORY_DEVICES = 1
TERMINALS = frozenset({4, 5, *range(136, 144)})
"""Majors of consoles, of /dev/tty and /dev/ptmx, and of slaves."""

TUN = (10, 200)

OUTSIDE = 0
"""How the kernel numbers a process that has no number in a pid namespace."""

EVENTS = frozenset(
    {"eventfd", "eventpoll", "fanotify", "inotify", "pidfd", "signalfd", "timerfd"}
)
PROTOCOLS = frozenset(
    {
        *("TCP", "TCPv6", "UDP", "UDPv6", "UDP-Lite", "UDPLITEv6", "RAW", "RAWv6"),
        *("UNIX", "UNIX-STREAM", "NETLINK", "PACKET"),
    }
)

_DELETED = " (deleted)"
_KERNEL_FILES = ("/memfd:", "/dev/zero (deleted)", "/SYSV", "/anon_hugepage")
"""Names of files that lie in no mount."""

_END_IT = "end it, or wait until it is done"
_CLOSE_IT = "let the program close it, or end the program"


Found = tuple[Kind, str, str, str]
"""What sort of thing, its name, why it blocks, and what to do about it."""


NO_CAPSULE = Judgement(
    (
        Blocker(
            Kind.PLAIN,
            "the session is not in a capsule",
            "its processes have numbers, terminals and mounts of the machine's",
            "start one with `holdfast new --capsule`",
        ),
    ),
    (),
)
"""The answer about a session that runs as the user's other programs do."""


def judge(facts: CapsuleFacts) -> Judgement:
    """Say what stands in the way, and which connections a restore cuts."""
    blockers = [*_of_capsule(facts), *map(_stranger, facts.strangers)]
    inside = _Inside.of(facts)
    cuts: list[Cut] = []
    for process in facts.processes:
        blockers += _of_process(process, facts, inside)
        for one in process.opened:
            blockers += _of_descriptor(process, one, facts, inside)
            if one.remote and not facts.has_own_net:
                cuts.append(Cut(process.inner, process.name, one.number, one.remote))
    return Judgement(tuple(blockers), tuple(cuts))


@dataclass(frozen=True, slots=True)
class _Inside:
    """What belongs to the dumped tree, to tell what does not."""

    numbers: frozenset[int]
    inner: frozenset[int]
    sockets: frozenset[int]
    namespaces: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, facts: CapsuleFacts) -> "_Inside":
        """Collect it."""
        sockets = (
            _number(one.target)
            for process in facts.processes
            for one in process.opened
            if one.target.startswith("socket:[")
        )
        roots = [one for one in facts.processes if one.pid == facts.root]
        return cls(
            frozenset(one.pid for one in facts.processes),
            frozenset(one.inner for one in facts.processes),
            frozenset(sockets),
            tuple(roots[0].namespaces.items()) if roots else (),
        )


def _of_capsule(facts: CapsuleFacts) -> Iterator[Blocker]:
    if facts.is_frozen:
        why = "a frozen process cannot be stopped for a dump"
        yield Blocker(Kind.FROZEN, "the session is frozen", why, "thaw it first")
    if facts.is_gated and facts.is_rootless:
        why = "without root's rights its filter cannot be suspended"
        remedy = "start the session without --exec-gate, or as root"
        yield Blocker(Kind.GATED, "the exec gate", why, remedy)


def _stranger(process: Process) -> Blocker:
    return Blocker(
        Kind.STRANGER,
        "a process that was brought in from outside",
        "it is not below the session's first process, and would be left out",
        _END_IT,
        process.inner,
        process.name,
    )


def _of_process(
    process: Process, facts: CapsuleFacts, inside: _Inside
) -> Iterator[Blocker]:
    if process.is_hidden:
        why = "it cannot be looked at; it has other rights than the session"
        found: list[Found] = [(Kind.HIDDEN, "a process that hides", why, _END_IT)]
    else:
        found = [*_of_standing(process, facts), *_of_place(process, facts, inside)]
    for kind, what, why, remedy in found:
        yield Blocker(kind, what, why, remedy, process.inner, process.name)


def _of_standing(process: Process, facts: CapsuleFacts) -> Iterator[Found]:
    if process.tracer:
        why = "only one program can trace another, and CRIU has to"
        remedy = "end the debugger or tracer"
        yield Kind.TRACED, "a process that is traced", why, remedy
    if process.filters and facts.is_rootless:
        why = "without root's rights a system call filter cannot be suspended"
        yield Kind.FILTERED, "a process under seccomp", why, _END_IT
    own = process.filter_count - facts.is_gated
    if own > 0 and facts.is_gated and not facts.is_rootless:
        why = "below the exec gate's, a filter of its own cannot be put on again"
        yield Kind.FILTERED, "a process under seccomp", why, _END_IT
    if process.user and not facts.is_rootless and not facts.raises_limits:
        why = "root has no CAP_SYS_RESOURCE here, which another user's limits take"
        yield Kind.USER, f"a process of user {process.user}", why, _END_IT


def _of_place(
    process: Process, facts: CapsuleFacts, inside: _Inside
) -> Iterator[Found]:
    if process.session == OUTSIDE:
        why = "its kernel session is one that is not in the capsule"
        yield Kind.SESSION, "a process of a session outside", why, _END_IT
    for name, namespace in inside.namespaces:
        if process.namespaces.get(name, namespace) != namespace:
            why = "namespaces within the capsule's own cannot be restored"
            yield Kind.NAMESPACE, f"a {name} namespace of its own", why, _END_IT
    for path in process.mapped:
        if path.startswith("/SYSV"):
            why = "shared memory of System V belongs to no process and is not dumped"
            yield Kind.SHARED, "shared memory of System V", why, _END_IT
        elif facts.is_rootless:
            name = path.removesuffix(_DELETED)
            why = "it was removed or replaced, and only root can still open it"
            yield Kind.MAPPED, f"{name} in memory", why, "restart the program"
    for path in process.volatile:
        why = "it lies in the capsule's own memory, which no image has"
        yield Kind.VOLATILE, path, why, _CLOSE_IT


def _of_descriptor(
    process: Process, one: Opened, facts: CapsuleFacts, inside: _Inside
) -> Iterator[Blocker]:
    if (found := _standing_in_the_way(one, facts, inside)) is None:
        return
    kind, what, why, remedy = found
    name, number = process.name, one.number
    yield Blocker(kind, what, why, remedy, process.inner, name, number)


def _standing_in_the_way(
    one: Opened, facts: CapsuleFacts, inside: _Inside
) -> Found | None:
    if one.target.startswith("socket:["):
        return _socket(one, inside)
    if one.target.startswith("anon_inode:"):
        return _event(one, facts, inside)
    if one.target == "/dev/tty":
        why = "CRIU cannot say whose terminal it is; password questions hold it"
        return Kind.TERMINAL, "/dev/tty", why, "answer or quit the program that asks"
    if one.kind and not _is_known_device(one):
        why = "CRIU cannot put such a device into an image"
        return Kind.DEVICE, one.target, why, _CLOSE_IT
    if one.target.startswith("/") and not one.target.startswith(_KERNEL_FILES):
        return _file(one, facts, inside)
    return None


def _file(one: Opened, facts: CapsuleFacts, inside: _Inside) -> Found | None:
    number = one.target.removeprefix("/proc/")
    if number.isdecimal() and int(number) not in inside.inner:
        why = "it is the folder of a process that is not of the session's tree"
        return Kind.PIDFD, one.target, why, _CLOSE_IT
    if facts.mounts and one.mount and one.mount not in facts.mounts:
        why = "it was opened outside the capsule, where a restore does not reach"
        return Kind.OUTSIDE, one.target, why, _CLOSE_IT
    if one.allocated > GHOST_LIMIT:
        why = f"it has no name any more, and over {GHOST_LIMIT >> 20} MB"
        return Kind.LARGE, one.target.removesuffix(_DELETED), why, _CLOSE_IT
    return None


def _is_known_device(one: Opened) -> bool:
    major, _ = one.device
    is_known = major == MEMORY_DEVICES or major in TERMINALS or one.device == TUN
    return one.kind == "character" and is_known


def _event(one: Opened, facts: CapsuleFacts, inside: _Inside) -> Found | None:
    name = one.target.removeprefix("anon_inode:").strip("[]")
    if name not in EVENTS:
        why = "CRIU cannot put such a descriptor into an image"
        return Kind.EVENT, f"a descriptor of {name}", why, _END_IT
    if one.watches and facts.is_rootless:
        why = "without root's rights a watched file cannot be found again"
        return Kind.WATCH, "watched files (inotify)", why, _END_IT
    # The dead have no number; they are dumped as what they are.
    if one.process > 0 and one.process not in inside.numbers:
        why = "it refers to a process outside the session's tree"
        return Kind.PIDFD, "a pidfd", why, _CLOSE_IT
    return None


def _socket(one: Opened, inside: _Inside) -> Found | None:
    if one.protocol and one.protocol not in PROTOCOLS:
        why = "CRIU cannot put such a socket into an image"
        return Kind.SOCKET, f"a socket of {one.protocol}", why, _CLOSE_IT
    if one.has_high_groups:
        why = "CRIU knows the first 32 groups only"
        what = "a netlink socket that listens to later groups"
        return Kind.SOCKET, what, why, _END_IT
    if one.peer and one.peer not in inside.sockets:
        why = "the program at its other end is not of the session"
        return Kind.PEER, "a Unix socket to a program outside", why, _CLOSE_IT
    return None


def _number(target: str) -> int:
    digits = target.removeprefix("socket:[").removesuffix("]")
    return int(digits) if digits.isdecimal() else 0
