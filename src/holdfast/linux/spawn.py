"""How is a session's leader started?

It gets a terminal of its own, exactly the descriptors 0, 1 and 2, default
signals, a clean environment, and nothing of ours (T49). If the command cannot
be executed, whoever asked is told why, and no process is left.
"""

import contextlib
import fcntl
import os
import signal
import termios
from dataclasses import dataclass

from holdfast.linux import processes
from holdfast.model.errors import CannotStart
from holdfast.model.text import printable

_KEPT = 3
_FAILED = 127

SHOWN = 200
"""Letters of a command or a folder that are enough to know it by."""


@dataclass(frozen=True, slots=True)
class Leader:
    """What to start, and where."""

    command: tuple[str, ...]
    cwd: str
    environment: dict[str, str]


def start_leader(leader: Leader, slave: int) -> int:
    """Start the leader on the terminal whose slave is given; return its pid.

    Raises:
        UsageError: The command cannot be executed, and why.

    """
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(leader, slave, writer, parent)  # Never returns.
    os.close(writer)
    with os.fdopen(reader, "rb") as report:
        why = report.read(1024)
    if why:
        os.waitpid(pid, 0)
        command = printable(leader.command[0], SHOWN)
        raise CannotStart(command, printable(why.decode(errors="replace")))
    return pid


def _become(leader: Leader, slave: int, writer: int, parent: int) -> None:
    try:
        # Whoever forked us may be killed; what has not begun by then never does.
        processes.die_with_parent(parent)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(_KEPT):
            os.dup2(slave, fd)
        writer = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, _KEPT)
        os.closerange(_KEPT, writer)
        os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))
        _reset_signals()
        os.chdir(leader.cwd)
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


def _reset_signals() -> None:
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
