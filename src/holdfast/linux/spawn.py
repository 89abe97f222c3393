"""How is a session's leader started?

It gets a terminal of its own, exactly the descriptors 0, 1 and 2, default
signals, a clean environment, and nothing of ours (T49). If the command cannot
be executed, whoever asked is told why, and no process is left.
"""

import contextlib
import fcntl
import os
import select
import signal
import socket
import termios
from dataclasses import dataclass

from holdfast.linux import exec_filter, processes
from holdfast.linux.exec_gate import ExecGate
from holdfast.linux.forking import fork_into
from holdfast.model.errors import CannotStart, NoExecGate
from holdfast.model.text import printable

_KEPT = 3

SECRET_FD = _KEPT
"""Where a leader that has a secret reads it; it closes it before its first child."""

_FAILED = 127

_GATE = b"\0"
"""Begins what is reported of the exec gate; no other report begins like this."""

SHOWN = 200
"""Letters of a command or a folder that are enough to know it by."""


@dataclass(frozen=True, slots=True)
class Leader:
    """What to start, and where."""

    command: tuple[str, ...]
    cwd: str
    environment: dict[str, str]
    cgroup: str = ""
    """The folder of its cgroup; what it forks is in there too. Empty for none."""

    secret: bytes = b""
    """A line that only the leader itself is to know: it reads it from descriptor
    SECRET_FD, once. Empty for none."""

    is_gated: bool = False
    """Whether it, and whatever it starts, asks before it executes anything."""


def start_leader(leader: Leader, slave: int) -> int:
    """Start the leader on the terminal whose slave is given; return its pid.

    Raises:
        UsageError: The command cannot be executed, and why.

    """
    reader, writer = os.pipe()
    parent = os.getpid()
    pid, is_settled = _fork(leader.cgroup)
    if pid == 0:
        _become(leader, slave, writer, parent, is_settled=is_settled)  # Never returns.
    os.close(writer)
    with os.fdopen(reader, "rb") as report:
        why = report.read(1024)
    if why:
        os.waitpid(pid, 0)
        raise _cannot(leader, why)
    return pid


def start_gated(leader: Leader, slave: int, memory: int) -> tuple[int, int]:
    """Start a leader that asks before it executes; return its pid and the listener.

    What it executes first is the command it was made for, and is let through.
    `memory` is where notices are kept, all zero.

    Raises:
        UsageError: The command cannot be executed, and why.
        Unavailable: No exec can be held on this machine.

    """
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    pid, is_settled = _fork(leader.cgroup)
    if pid == 0:
        _become(leader, slave, theirs.fileno(), parent, is_settled=is_settled)
    theirs.close()
    with ours:
        why, fds, _, _ = socket.recv_fds(ours, 1024, 1)
        if not fds:
            os.waitpid(pid, 0)
            raise _no_gate(why) if why.startswith(_GATE) else _cannot(leader, why)
        why = _let_begin(ours, ExecGate(fds[0], memory))
    if why:
        os.waitpid(pid, 0)
        os.close(fds[0])
        raise _cannot(leader, why)
    return pid, fds[0]


def _let_begin(report: socket.socket, gate: ExecGate) -> bytes:
    """Let the leader execute its command; return why it could not, or nothing."""
    gate.inherited()
    while True:
        select.select([report.fileno(), gate.listener], [], [])
        # Once the command is executed, its own end of the report is closed.
        with contextlib.suppress(BlockingIOError):
            return report.recv(1024, socket.MSG_DONTWAIT)
        with contextlib.suppress(BrokenPipeError):
            notice = gate.receive()  # One for each folder of PATH.
            if notice is not None:
                gate.let(notice.id)


def _no_gate(why: bytes) -> NoExecGate:
    said = why.removeprefix(_GATE).decode(errors="replace")
    return NoExecGate(printable(said))


def _cannot(leader: Leader, why: bytes) -> CannotStart:
    command = printable(leader.command[0], SHOWN)
    return CannotStart(command, printable(why.decode(errors="replace")))


def _fork(cgroup: str) -> tuple[int, bool]:
    """Fork; return what os.fork does, and whether the child is in its cgroup."""
    if cgroup:
        # Where the call is unknown or forbidden, the child moves there by itself.
        with contextlib.suppress(OSError):
            return fork_into(cgroup), True
    return os.fork(), not cgroup


def _become(
    leader: Leader, slave: int, writer: int, parent: int, *, is_settled: bool
) -> None:
    try:
        # Whoever forked us may be killed; what has not begun by then never does.
        processes.die_with_parent(parent)
        if not is_settled:
            _settle(leader.cgroup)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(_KEPT):
            os.dup2(slave, fd)
        writer = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, SECRET_FD + 1)
        os.closerange(_KEPT, writer)
        os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))
        if leader.secret:
            _hand_over(leader.secret)
        _reset_signals()
        os.chdir(leader.cwd)
        if leader.is_gated:
            _gate_ourselves(writer)
        processes.outlive_parent()
        os.execvpe(leader.command[0], leader.command, leader.environment)  # noqa: S606  # that is the job
    except OSError as error:
        why = error.strerror or str(error)
        if error.filename == leader.cwd:
            why = f"its folder {leader.cwd[:SHOWN]} cannot be entered: {why}"
        os.write(writer, why.encode(errors="replace"))
    except ValueError:
        # A NUL, or half a surrogate pair, in a word, a variable or the folder.
        os.write(writer, b"it has characters that no program can be given")
    finally:
        os._exit(_FAILED)


def _hand_over(secret: bytes) -> None:
    # A pipe can be read once, and nobody else has its other end.
    reader, writer = os.pipe()
    os.write(writer, secret + b"\n")
    os.dup2(reader, SECRET_FD)
    os.set_inheritable(SECRET_FD, True)  # noqa: FBT003  # how it is called


def _gate_ourselves(report: int) -> None:
    # From here on nothing is executed unless our parent says so. We must not keep
    # the listener: whoever has it could answer for itself.
    try:
        listener = exec_filter.install()
    except OSError as error:
        os.write(report, _GATE + (error.strerror or str(error)).encode())
        os._exit(_FAILED)
    with socket.socket(fileno=os.dup(report)) as link:
        socket.send_fds(link, [_GATE], [listener])
    os.close(listener)


def _settle(cgroup: str) -> None:
    # Before anything is executed, so that nothing is ever outside. Where it is
    # refused the session is stopped by signals, like one without a cgroup.
    with contextlib.suppress(OSError):
        fd = os.open(f"{cgroup}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        os.write(fd, b"0")
        os.close(fd)


def _reset_signals() -> None:
    # What is handled becomes the default by executing; what is ignored does not.
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
