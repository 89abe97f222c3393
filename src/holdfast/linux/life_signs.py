"""Whether any process may still have a session, as the kernel tells.

No file says so: its writer may be gone. A holdfast process that has a session has
its listening socket, and the kernel lists that by the path it was bound to, even if the
path is gone. The leader is known by pid, start and boot: a number alone may have been
given to another process since.

A socket in another network namespace, and a process in another pid namespace, are not
seen from here.
"""

from holdfast.core.session.recovery import LeaderMark
from holdfast.linux import procfs
from holdfast.model.ids import SessionId

BOOT = "/proc/sys/kernel/random/boot_id"
SOCKETS = "/proc/net/unix"
MAX_SOCKETS = 16 * 1024 * 1024
"""Bytes read of the kernel's table: a hundred thousand sockets."""


def held_sessions() -> frozenset[SessionId]:
    """Return every session whose socket some process has."""
    table = procfs.read_table(SOCKETS, MAX_SOCKETS)
    found = set()
    for line in table.splitlines():
        _, _, name = line.rstrip().rpartition(b"/")
        if name.startswith(b"s_") and name.endswith(b".sock"):
            found.add(SessionId(name.removesuffix(b".sock").decode("ascii", "replace")))
    return frozenset(found)


def is_running(leader: LeaderMark) -> bool:
    """Tell whether the leader of a life is still there."""
    if not leader.pid or leader.boot != boot_id():
        return False
    found = procfs.read_stat(leader.pid)
    return found is not None and found.lives and found.started == leader.started


def leader_mark(pid: int) -> LeaderMark:
    """Return by what a process is known again."""
    found = procfs.read_stat(pid)
    return LeaderMark(pid, 0 if found is None else found.started, boot_id())


def boot_id() -> str:
    """Return the id of this run of the machine."""
    return procfs.read(BOOT, 64).decode("ascii", "replace").strip()
