"""Starts a session's leader.

It gets a terminal of its own, exactly the descriptors 0, 1 and 2, default
signals, a clean environment, and nothing of holdfast's (T49). If the command cannot
be executed, the caller learns why, and no process is left.

A leader is forked before it is judged, and executes nothing until it is told to. It
reads one byte from a pipe: `GO` starts it; anything else, or the end of the pipe, makes
it exit. The process with the other end may die and be replaced; when nobody has that
end any more, the leader exits as well, and has run nothing.
"""

import contextlib
import fcntl
import os
import select
import signal
import socket
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from holdfast.linux import exec_filter, processes
from holdfast.linux.cgroup_fork import fork_into
from holdfast.linux.exec_gate import ExecGate, Notice
from holdfast.linux.exec_trace import ExecTracer, Expected
from holdfast.linux.exec_words import read_wanted
from holdfast.model.errors import CannotStart, HoldfastError, NoExecGate
from holdfast.model.text import printable

_KEPT = 3

SECRET_FD = _KEPT
"""Where a leader that has a secret reads it; it closes it before its first child."""

_FAILED = 127

REFUSED = 126
"""What a leader ends with that was not let begin."""

GO = b"+"
NO = b"-"

CHANGED = "its program was replaced"
"""Why a command did not begin that was not what had been judged."""

_STEP = 0.0005
"""Seconds between looks at a command that is being executed."""

PATIENCE = 10.0
"""Seconds from the word to the exec, on the slowest disk we believe in."""

_GATE = b"\0"
"""Begins what is reported of the exec gate; no other report begins like this."""

_WAITING = b"\1"
"""Says that the leader waits for the word."""

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

    limited: tuple[int, ...] = ()
    """Of a capsule: the lists of members of the cgroups that limit it, opened."""

    @property
    def program(self) -> str:
        """The file to execute, or nothing if there is none.

        Found once: nothing is searched for after it was judged.
        """
        name = self.command[0]
        folders = [""] if "/" in name else os.get_exec_path(self.environment)
        for folder in folders:
            path = os.path.join(self.cwd, folder, name)  # noqa: PTH118  # as given
            if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113  # ditto
                return path
        return os.path.join(self.cwd, name) if "/" in name else ""  # noqa: PTH118  # ditto


@dataclass(frozen=True, slots=True)
class Held:
    """A leader that waits for the word, and how it is talked to."""

    pid: int
    word: int
    """The end of the pipe that it reads the word from."""

    report: int
    """Where it says why it cannot begin; ends when it has begun."""

    program: str
    """The file that it will execute."""

    listener: int | None = None
    """Of its exec gate, if it has one."""


def hold_leader(leader: Leader, slave: int) -> Held:
    """Fork the leader on the terminal whose slave is given; it executes nothing yet.

    Raises:
        UsageError: It cannot be executed where it is to be, and why.
        Unavailable: No exec can be held on this machine.

    """
    program = leader.program
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    parent = os.getpid()
    pid, is_settled = _fork(leader.cgroup)
    if pid == 0:
        # If our parent is killed now, what has not started never does.
        processes.die_with_parent(parent)
        if not is_settled:
            _settle(leader.cgroup)
        become_leader(leader, program, slave, (theirs.fileno(), reader))
    theirs.close()
    os.close(reader)
    try:
        listener = await_leader(leader, ours)
    except HoldfastError:
        os.waitpid(pid, 0)
        os.close(writer)
        ours.close()
        raise
    return Held(pid, writer, ours.detach(), program, listener)


def await_leader(leader: Leader, report: socket.socket) -> int | None:
    """Wait until a leader waits for the word; return the listener of its exec gate.

    Raises:
        UsageError: It cannot be executed where it is to be, and why.
        Unavailable: No exec can be held on this machine.

    """
    said, fds, _, _ = socket.recv_fds(report, 1024, 1)
    if said == _WAITING:
        return fds[0] if fds else None
    raise _no_gate(said) if said.startswith(_GATE) else _cannot(leader, said)


def _nothing() -> None:
    pass


def start_leader(leader: Leader, slave: int) -> int:
    """Start a leader that nobody judges, for tests and figures; return its pid.

    Raises:
        UsageError: The command cannot be executed, and why.

    """
    return start_gated(leader, slave, -1)[0]


def start_gated(leader: Leader, slave: int, memory: int) -> tuple[int, int]:
    """Start a leader that asks before it executes; return its pid and the listener.

    `memory` is where notices are kept, all zero.

    Raises:
        UsageError: The command cannot be executed, and why.
        Unavailable: No exec can be held on this machine.

    """
    held = hold_leader(leader, slave)
    gate = None if held.listener is None else ExecGate(held.listener, memory)
    if gate is not None:
        gate.inherited()
    say(held.word, GO)
    why = why_not_begun(held.report, held.program, gate)
    os.close(held.word)
    os.close(held.report)
    if why:
        os.waitpid(held.pid, 0)
        if held.listener is not None:
            os.close(held.listener)
        raise _cannot(leader, why.encode())
    return held.pid, -1 if held.listener is None else held.listener


def say(word: int, what: bytes) -> None:
    """Tell a leader whether to begin; one that is gone needs no word."""
    with contextlib.suppress(OSError):
        os.write(word, what)


def has_begun(report: int) -> bool:
    """Tell whether a leader waits no more: it has begun, or is gone."""
    return bool(select.select([report], [], [], 0)[0])


def why_not_begun(
    report: int,
    program: str,
    gate: ExecGate | None = None,
    expected: Expected | None = None,
) -> str:
    """Wait until a leader that was told to has begun; return why it has not.

    What it executes first is let through its exec gate if it is `program`, which is
    what was judged, and nothing else. If that is not `expected` when it stands in
    memory, it is killed before its first instruction, and CHANGED is returned.
    """
    deadline = time.monotonic() + PATIENCE
    watched = [report] if gate is None else [report, gate.listener]
    tracer: ExecTracer | None = None
    with socket.socket(fileno=os.dup(report)) as link:
        while (left := deadline - time.monotonic()) > 0:
            select.select(watched, [], [], left if tracer is None else _STEP)
            if tracer is not None:
                if tracer.collect(is_late=True):
                    return CHANGED
                if tracer.is_busy:
                    time.sleep(_STEP)
                    continue
            # Once the command is executed, its own end of the report is closed.
            with contextlib.suppress(BlockingIOError):
                said = link.recv(1024, socket.MSG_DONTWAIT)
                return printable(said.decode(errors="replace"))
            if gate is not None:
                tracer = _let_begin(gate, program, expected) or tracer
    return "it did not begin in time"


def _let_begin(
    gate: ExecGate, program: str, expected: Expected | None
) -> ExecTracer | None:
    with contextlib.suppress(BrokenPipeError):
        notice = gate.receive()
        if notice is None:
            return None
        if not _is_judged(notice, program) or not gate.is_valid(notice.id):
            gate.refuse(notice.id)
            return None
        tracer = ExecTracer(notice.thread)
        if expected is not None and not tracer.seize(notice.thread, expected):
            gate.refuse(notice.id)  # Another process traces it.
            return None
        gate.let(notice.id)
        return tracer
    return None


def _is_judged(notice: Notice, program: str) -> bool:
    # Until its first exec a leader runs nothing but our own code: if its memory may
    # not be read, what it wants is still what it was forked for.
    return read_wanted(notice).path in (program, None)


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


def become_leader(
    leader: Leader,
    program: str,
    slave: int,
    ends: tuple[int, int],
    give_up: Callable[[], None] = _nothing,
) -> NoReturn:
    """Be the leader, in a process that was forked for it: wait, then execute.

    `ends` are where it reports to and where it reads the word; `give_up` gives up the
    rights that it is not to have.
    """
    writer, reader = ends
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(_KEPT):
            os.dup2(slave, fd)
        writer, reader = _only(writer, reader)
        if leader.secret:
            _hand_over(leader.secret)
        reset_signals()
        os.chdir(leader.cwd)
        listener = _gate_ourselves(writer) if leader.is_gated else None
        give_up()
        _await_word(writer, reader, listener)
        os.execve(program, leader.command, leader.environment)  # noqa: S606  # that is the job
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


def _only(writer: int, reader: int) -> tuple[int, int]:
    """Close everything but these two and what a leader is to have."""
    first = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, SECRET_FD + 1)
    second = fcntl.fcntl(reader, fcntl.F_DUPFD_CLOEXEC, first + 1)
    os.closerange(_KEPT, first)
    os.closerange(first + 1, second)
    os.closerange(second + 1, os.sysconf("SC_OPEN_MAX"))
    return first, second


def _gate_ourselves(report: int) -> int:
    # From here on nothing is executed unless our parent says so.
    try:
        return exec_filter.install()
    except OSError as error:
        os.write(report, _GATE + (error.strerror or str(error)).encode())
        os._exit(_FAILED)


def _await_word(report: int, reader: int, listener: int | None) -> None:
    """Say that we wait, and return once we are told to go on.

    From here on the pipe keeps us, and not our parent, who may be replaced. We must
    not keep the listener of the gate: a process that has it could answer itself.
    """
    processes.outlive_parent()
    with socket.socket(fileno=os.dup(report)) as link:
        socket.send_fds(link, [_WAITING], [] if listener is None else [listener])
    if listener is not None:
        os.close(listener)
    if os.read(reader, 1) != GO:
        os._exit(REFUSED)
    os.close(reader)


def _settle(cgroup: str) -> None:
    # Before anything is executed, so that nothing is ever outside. Where it is
    # refused the session is stopped by signals, like one without a cgroup.
    with contextlib.suppress(OSError):
        fd = os.open(f"{cgroup}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        os.write(fd, b"0")
        os.close(fd)


def reset_signals() -> None:
    """Treat every signal as programs expect it, whatever we had ignored."""
    # What is handled becomes the default by executing; what is ignored does not.
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
