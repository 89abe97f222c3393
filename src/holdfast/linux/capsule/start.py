"""Starts the leader of a session inside a capsule.

A capsule is a tree of processes in namespaces of its own:

    holder                has the master, pid 1's pidfd, and the lifeline's writing end
     └ pid 1: cat         reads the lifeline; when it ends, the kernel kills the rest
        └ init: sleep     adopts what has lost its parent, and keeps no zombie; the root
           │              of what can be dumped, without a descriptor from outside
           └ parent: sleep    keeps the leader's zombie, so that its end can be read
              └ leader    on /dev/pts/0, waits to be judged, as in linux/spawn.py

Holder, keeper and trustee have the writing end of the lifeline. When the last of them
is gone, or the session is forgotten, nothing of the capsule is left.
"""

import contextlib
import os
import signal
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from holdfast.linux import limits, pty, spawn
from holdfast.linux.capsule import namespaces, rights
from holdfast.linux.capsule import view as views
from holdfast.linux.capsule.network import raise_loopback
from holdfast.linux.capsule.overlays import OverlayRefused
from holdfast.linux.capsule.view import View
from holdfast.linux.clone import fork_with
from holdfast.linux.processes import become_subreaper, show_memory
from holdfast.model.errors import HoldfastError, NoCapsule, NoOwnFiles
from holdfast.model.geometry import Size
from holdfast.model.session_record import CapsuleRecord

_CREDENTIALS = struct.Struct("=3i")
_FD = struct.Struct("=i")
_MESSAGE = 4096
_GO = b"go"
_FAILED = 127

FIRST = ("cat",)
RESTING = ("sleep", "infinity")
"""What our own processes in a capsule execute: programs that every system has."""

_SEARCHED = {"PATH": "/usr/bin:/bin"}
"""Their environment. It names no session: who belongs is known by the namespace."""

COUNTER = "/proc/sys/kernel/ns_last_pid"
"""The number of the last process, in the namespace of who writes it."""

_CGROUP = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Capsule:
    """A capsule whose leader waits for the word."""

    held: spawn.Held
    record: CapsuleRecord
    master: int
    first: int
    """The pidfd of its pid 1: a signal that kills that kills all of it."""

    lifeline: int
    """The writing end. Nothing is ever written."""


class _Said(NamedTuple):
    what: str
    rest: str
    pid: int
    """Whose word it is, as we number processes."""

    fds: list[int]


class _Ends(NamedTuple):
    """What a capsule's processes have of holdfast until they execute something."""

    link: socket.socket
    report: socket.socket
    word: int
    lifeline: socket.socket
    cgroup: int | None

    def close(self) -> None:
        for one in (self.link, self.report, self.lifeline):
            one.close()
        _close(self.word, self.cgroup)


def hold_leader(leader: spawn.Leader, view: View, size: Size) -> Capsule:
    """Make a capsule; its leader executes nothing until it is told to.

    Raises:
        NoCapsule: The kernel does not let us make one.
        CannotStart: The command cannot be executed where it is to be, and why.
        NoExecGate: No exec can be held on this machine.

    """
    program = leader.program
    ours, link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    report, their_report = socket.socketpair()
    word_reader, word = os.pipe()
    # A pipe's end could be opened for writing, through /proc, by what is inside.
    theirs, lifeline = socket.socketpair()
    ends = _Ends(link, their_report, word_reader, theirs, _opened(leader.cgroup))
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    pid = -1
    try:
        pid = _fork_first(view)
        if pid == 0:
            # Else nobody inside would ever hear that we are gone.
            _close(ours.detach(), report.detach(), lifeline.detach(), word)
            _be_first(leader, program, view, ends)
        ends.close()
        record, master = _gather(ours, view, pid)
        listener = spawn.await_leader(leader, report)
        _let_go(ours)
    except (HoldfastError, OSError) as error:
        _undo(pid)
        ends.close()
        for one in (ours, report, lifeline):
            one.close()
        _close(word)
        if isinstance(error, HoldfastError):
            raise
        raise NoCapsule(_reason(error)) from error
    ours.close()
    os.set_blocking(master, False)
    pty.set_size(master, size)
    held = spawn.Held(record[0], word, report.detach(), program, listener)
    return Capsule(held, record[1], master, os.pidfd_open(pid), lifeline.detach())


@dataclass(frozen=True, slots=True)
class Vacant:
    """A capsule in which nothing runs yet, for a tree that is restored into it."""

    pid: int
    """Its pid 1, as the machine numbers it."""

    master: int
    terminal: str
    """What CRIU calls its first terminal: tty[rdev:dev]."""

    first: int
    lifeline: int

    def drop(self) -> None:
        """End it, with all that is in it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        _close(self.first, self.lifeline, self.master)


def hold_vacant(view: View, size: Size, counter: int = 0) -> Vacant:
    """Make a capsule that has a terminal, and its first process alone.

    With `counter` the next process in it has the number after this one.

    Raises:
        NoCapsule: The kernel does not let us make one.

    """
    made, awaited = begin_vacant(view, size, counter)
    try:
        awaited.wait()
    except BaseException:
        made.drop()
        raise
    return made


class Awaited(NamedTuple):
    """A first process that is about to execute what it is for."""

    link: socket.socket

    def wait(self) -> None:
        """Wait until it has.

        Raises:
            NoCapsule: It cannot.
            OSError: The kernel refuses.

        """
        with self.link:
            _see_execute(self.link)


def begin_vacant(view: View, size: Size, counter: int = 0) -> tuple[Vacant, Awaited]:
    """Make such a capsule, which can be entered already, and wait no longer.

    Raises:
        NoCapsule: The kernel does not let us make one.

    """
    ours, link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs, lifeline = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    pid = -1
    try:
        pid = _fork_first(view)
        if pid == 0:
            _close(ours.detach(), lifeline.detach())
            _be_alone(view, link, theirs, counter)
        link.close()
        theirs.close()
        said = _hear(ours)
        if said.what == "map":
            _map_users(pid)
            ours.send(b"mapped")
            said = _hear(ours)
        ours.send(_GO)
    except (HoldfastError, OSError) as error:
        _undo(pid)
        _close(ours.detach(), link.detach(), theirs.detach(), lifeline.detach())
        if isinstance(error, HoldfastError):
            raise
        raise NoCapsule(_reason(error)) from error
    (master,) = said.fds
    os.set_blocking(master, False)
    pty.set_size(master, size)
    first = os.pidfd_open(pid)
    return Vacant(pid, master, said.rest, first, lifeline.detach()), Awaited(ours)


def _fork_first(view: View) -> int:
    try:
        return fork_with(_flags(view))
    except OSError as error:
        raise NoCapsule(f"no namespaces can be made: {error.strerror}") from error


def _flags(view: View) -> int:
    flags = namespaces.NEW_PIDS | namespaces.NEW_MOUNTS | namespaces.NEW_IPC
    if not view.is_root:
        flags |= namespaces.NEW_USERS
    return flags | (namespaces.NEW_NET if view.has_own_net else 0)


def _opened(cgroup: str) -> int | None:
    """Return the folder of a cgroup: inside, its name cannot be written to."""
    with contextlib.suppress(OSError):
        return os.open(cgroup, _CGROUP) if cgroup else None
    return None


def _close(*fds: int | None) -> None:
    for fd in fds:
        if fd is not None:
            with contextlib.suppress(OSError):
                os.close(fd)


def _undo(pid: int) -> None:
    """End a capsule that came to nothing: its first process takes all with it."""
    if pid > 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _reason(error: OSError) -> str:
    why = error.strerror or str(error)
    return f"{error.filename}: {why}" if error.filename else why


# What the holder does


def _gather(
    ours: socket.socket, view: View, pid: int
) -> tuple[tuple[int, CapsuleRecord], int]:
    """Hear who is who in there; return leader and record, and the master."""
    found: dict[str, _Said] = {}
    while not {"terminal", "init", "parent", "leader"} <= found.keys():
        said = _hear(ours)
        if said.what == "map":
            _map_users(pid)
            ours.send(b"mapped")
        found[said.what] = said
    terminal, init = found["terminal"], found["init"]
    parent, leader = found["parent"], found["leader"]
    record = CapsuleRecord(
        first=pid,
        space=Path(f"/proc/{pid}/ns/pid").stat().st_ino,
        init=init.pid,
        parent=parent.pid,
        inner_init=int(init.rest),
        inner_leader=int(leader.rest),
        terminal=terminal.rest,
        rootless=not view.is_root,
        net="own" if view.has_own_net else "host",
        pipe=views.STATE_PIPE if view.pipe else "",
    )
    return (leader.pid, record), terminal.fds[0]


def _hear(ours: socket.socket) -> _Said:
    room = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(_FD.size)
    flags = socket.MSG_CMSG_CLOEXEC
    raw, attached, _, _ = ours.recvmsg(_MESSAGE, room, flags)
    what, _, rest = raw.decode(errors="replace").partition(" ")
    if what == "files":
        raise NoOwnFiles(rest)
    if what in ("", "error"):
        raise NoCapsule(rest or "its first process has ended")
    pid, fds = 0, []
    for _, kind, data in attached:
        if kind == socket.SCM_RIGHTS:
            fds = [_FD.unpack(data)[0]]
        else:
            pid = _CREDENTIALS.unpack(data)[0]
    return _Said(what, rest, pid, fds)


def _map_users(pid: int) -> None:
    """Let a capsule's user be who they are outside, and nobody else exist there."""
    uid, gid = os.geteuid(), os.getegid()
    folder = Path(f"/proc/{pid}")
    (folder / "setgroups").write_text("deny")
    (folder / "uid_map").write_text(f"{uid} {uid} 1")
    (folder / "gid_map").write_text(f"{gid} {gid} 1")


def _let_go(ours: socket.socket) -> None:
    """Let our processes in there execute what they are for, and see that they do."""
    ours.send(_GO)
    _see_execute(ours)


def _see_execute(ours: socket.socket) -> None:
    raw = ours.recv(_MESSAGE)
    if raw:
        raise NoCapsule(raw.decode(errors="replace").partition(" ")[2])


# What the capsule's processes do


@contextlib.contextmanager
def _telling(link: socket.socket) -> Iterator[None]:
    """Run what never returns; say on the link why it could not go on, and end."""
    try:
        yield
    except OSError as error:
        what = "files" if isinstance(error, OverlayRefused) else "error"
        with contextlib.suppress(OSError):
            link.send(f"{what} {_reason(error)}".encode(errors="replace"))
    finally:
        os._exit(_FAILED)


def _be_first(leader: spawn.Leader, program: str, view: View, ends: _Ends) -> NoReturn:
    with _telling(ends.link):
        slave = _furnish(view, ends.link)
        if _fork(ends.cgroup) == 0:
            _be_init(leader, program, slave, view, ends)
        _rest_first(view, ends.link, ends.lifeline)


def _be_alone(
    view: View, link: socket.socket, lifeline: socket.socket, counter: int
) -> NoReturn:
    with _telling(link):
        # Inside, /proc/sys may be read-only; the counter is that of who writes.
        fd = os.open(COUNTER, os.O_WRONLY | os.O_CLOEXEC)
        if counter:
            # Before the terminal is sent: with that it can be entered.
            os.write(fd, b"%d" % counter)
        _furnish(view, link)
        _rest_first(view, link, lifeline)


def _furnish(view: View, link: socket.socket) -> int:
    """Make what the capsule sees; send its terminal's master and return the slave."""
    os.setsid()
    if not view.is_root:
        show_memory()  # Else the files by which users are mapped are root's.
        link.send(b"map")
        if link.recv(_MESSAGE) != b"mapped":
            os._exit(_FAILED)
    views.make(view)
    if view.has_own_net:
        raise_loopback()
    master, slave, key = views.open_terminal()
    socket.send_fds(link, [f"terminal {key}".encode()], [master])
    os.close(master)
    return slave


def _rest_first(view: View, link: socket.socket, lifeline: socket.socket) -> NoReturn:
    """Be pid 1 once the leader has its terminal; end if the holder is gone."""
    if link.recv(_MESSAGE) != _GO:
        os._exit(_FAILED)
    os.dup2(lifeline.fileno(), 0)
    _execute(FIRST, _kept(view) | rights.GUARD, link, signal.SIG_IGN, first=1)


def _be_init(
    leader: spawn.Leader, program: str, slave: int, view: View, ends: _Ends
) -> NoReturn:
    with _telling(ends.link):
        os.setsid()
        # Before anything else is forked, so that nothing is ever outside.
        limits.join(leader.limited)
        become_subreaper()
        ends.link.send(b"init %d" % os.getpid())
        if os.fork() == 0:
            with _telling(ends.link):
                _be_parent(leader, program, slave, view, ends)
        _execute(RESTING, _kept(view), ends.link, signal.SIG_IGN)


def _be_parent(
    leader: spawn.Leader, program: str, slave: int, view: View, ends: _Ends
) -> NoReturn:
    ends.link.send(b"parent %d" % os.getpid())
    if os.fork() == 0:
        ends.link.send(b"leader %d" % os.getpid())
        spawn.become_leader(
            leader,
            program,
            slave,
            (ends.report.fileno(), ends.word),
            lambda: rights.give_up(_kept(view)),
        )
    _execute(RESTING, _kept(view), ends.link, signal.SIG_DFL)


def _fork(cgroup: int | None) -> int:
    """Fork into the session's cgroup, where it has one that lets us."""
    if cgroup is not None:
        with contextlib.suppress(OSError):
            return fork_with(0, cgroup)
    return os.fork()


def _kept(view: View) -> frozenset[int]:
    if not view.is_root:
        return frozenset()
    own_net = rights.KEPT_IN_OWN_NET if view.has_own_net else frozenset()
    return rights.KEPT_BY_ROOT | own_net


def _execute(
    command: tuple[str, ...],
    kept: frozenset[int],
    link: socket.socket,
    at_child: signal.Handlers,
    first: int = 0,
) -> NoReturn:
    """Be one of our processes that only wait; dead children are forgotten or kept."""
    told = link.fileno()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(first, 3):
        os.dup2(null, fd)
    os.closerange(3, told)
    os.closerange(told + 1, os.sysconf("SC_OPEN_MAX"))
    spawn.reset_signals()
    signal.signal(signal.SIGCHLD, at_child)
    os.chdir("/")
    rights.give_up(kept)
    os.execvpe(command[0], command, _SEARCHED)  # noqa: S606  # that is the job
