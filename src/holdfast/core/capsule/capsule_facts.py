"""The facts about a capsule that decide whether it can be dumped.

Read from /proc by holdfast.linux.criu.survey, judged by
holdfast.core.capsule.preflight. What could not be read is left at its default, which
stands in nobody's way: CRIU itself has the last word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Opened:
    """One descriptor."""

    number: int
    target: str
    """Where its link in /proc leads."""

    mount: int = 0
    """The mount that it was opened through; 0 if there is none or nobody knows."""

    kind: str = ""
    """`character` or `block` for a device, else nothing."""

    device: tuple[int, int] = (0, 0)
    allocated: int = 0
    """Bytes on disk of a file that has no name any more."""

    protocol: str = ""
    """Of a socket, as the kernel calls it: TCP, UNIX, NETLINK."""

    peer: int = 0
    """Of a Unix socket: the number of the socket at the other end."""

    remote: str = ""
    """Of a TCP connection: address and port at the other end."""

    has_high_groups: bool = False
    """Of a netlink socket: whether it listens to a group above the 32nd."""

    process: int = 0
    """Of a pidfd: which process it stands for."""

    watches: int = 0
    """Of inotify: how many files and folders it watches."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the capsule."""

    pid: int
    """As the machine numbers it."""

    inner: int
    """As the capsule numbers it."""

    name: str
    user: int = 0
    tracer: int = 0
    filters: int = 0
    """The seccomp mode: 0 is none."""

    filter_count: int = 0
    """How many seccomp filters it is under."""

    session: int = 0
    """The leader of its kernel session, as the capsule numbers it; 0 is outside."""

    namespaces: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    opened: tuple[Opened, ...] = ()
    mapped: tuple[str, ...] = ()
    """Files in its memory that have no name any more, and shared memory of System V."""

    volatile: tuple[str, ...] = ()
    """Files that it uses in the capsule's own /dev/shm, /run and the like."""

    is_hidden: bool = False
    """Whether we may not look at it."""


@dataclass(frozen=True, slots=True)
class CapsuleFacts:
    """A capsule, with all its processes but the first."""

    root: int
    """The session's init, as the machine numbers it."""

    processes: tuple[Process, ...]
    strangers: tuple[Process, ...] = ()
    """In its pid namespace, but not below the session's init."""

    mounts: Mapping[int, str] = field(default_factory=dict)
    """Mount points by number."""

    is_rootless: bool = False
    has_own_net: bool = False
    is_frozen: bool = False
    is_gated: bool = False
    raises_limits: bool = True
    """Whether CRIU may read and set the limits of other users' processes."""
