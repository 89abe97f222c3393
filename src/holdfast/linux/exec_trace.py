"""Checks that what was executed is what was judged.

Between the judgement and the exec, a process that shares the memory can change the
arguments, and anyone who may write to a folder can put another file there. So the exec
is *traced*: the kernel stops the process once more when the new program is in memory
but has not run a single instruction. There it is compared with what was judged; a
process that turns out to be something else is killed.

    T1  What was let go on under a trace runs only what was judged.
    T2  Everything that was traced is let go after one stop, whatever became of it.
    T3  A tracer that dies lets everything go, and kills nothing.

One stop always comes: that of the exec, or one that we ask for when there was none for
a while: then the exec has failed or was interrupted. A thread that wants to execute
something else before that is traced already.
"""

import contextlib
import ctypes
import errno
import os
import signal
from typing import NamedTuple

from holdfast.linux import processes, procfs
from holdfast.linux.exec_files import Mark, mark_of
from holdfast.linux.exec_words import process_of
from holdfast.linux.libc import checked, libc
from holdfast.linux.process_table import tracer_of

_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17
_OPTION_EXEC = 0x10
_STOPPED_BY_EXEC = signal.SIGTRAP | 4 << 8
_OF_ALL_KINDS = 0x40000000

_ptrace_call = ctypes.CFUNCTYPE(
    ctypes.c_long,
    ctypes.c_long,
    ctypes.c_long,
    ctypes.c_void_p,
    ctypes.c_void_p,
    use_errno=True,
)(("ptrace", libc))

_MAX_WORDS = 128 * 1024
"""Bytes of words that are compared: more than a judgement reads."""


class Expected(NamedTuple):
    """What was judged: the file, and the words; None for what was not known."""

    mark: Mark | None
    words: tuple[str | None, ...]


class Traced(NamedTuple):
    """A thread that was let go on, and what it is to execute."""

    thread: int
    process: int
    expected: Expected


class ExecTracer:
    """Sees what becomes of execs that were let go on."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._traced: dict[int, Traced] = {}
        self._has_worked = False

    @property
    def is_busy(self) -> bool:
        """Whether a stop is yet to come."""
        return bool(self._traced)

    def knows(self, thread: int) -> bool:
        """Tell whether a stop of this thread is yet to come."""
        return thread in self._traced

    def seize(self, thread: int, expected: Expected) -> bool:
        """Make the kernel stop a thread at its exec; False if it must not go on.

        Where this machine lets nobody be traced, it may go on: that is one of the
        things that the gate does not hold. One that another process traces must not.
        """
        try:
            self._begin(thread, expected)
        except ProcessLookupError:
            return True  # It is gone.
        except PermissionError:
            return not self._has_worked and not tracer_of(thread)
        except OSError:
            return False
        return True

    def seizes(self, thread: int, expected: Expected) -> bool:
        """Do the same; False if it is not traced by us then, for whatever reason.

        True also tells that nobody else traces it, and that nobody can.
        """
        try:
            self._begin(thread, expected)
        except OSError:
            return False
        return True

    def _begin(self, thread: int, expected: Expected) -> None:
        if thread not in self._traced:
            _ptrace(_SEIZE, thread, _OPTION_EXEC)
            self._has_worked = True
        elif tracer_of(thread) != os.getpid():
            # A thread that has executed takes its process's number; its own is free.
            raise OSError(errno.EBUSY, "another has the number of one that is traced")
        self._traced[thread] = Traced(thread, process_of(thread), expected)

    def collect(self, *, is_late: bool = False) -> list[Traced]:
        """Release stopped processes, and return those we killed.

        If it `is_late`, those that should have stopped are told to.
        """
        killed = []
        for one in [*self._traced.values()]:
            stop = self._stop_of(one)
            if stop is None:
                if is_late:
                    with contextlib.suppress(OSError):
                        _ptrace(_INTERRUPT, one.thread, 0)
                continue
            if stop == _STOPPED_BY_EXEC and not _is(one.process, one.expected):
                killed.append(one)
                with contextlib.suppress(OSError):
                    os.kill(one.process, signal.SIGKILL)
                # Its parent learns of its end when we have; so it stays with us.
                expected = Expected(None, (None,))
                gone = Traced(one.process, one.process, expected)
                self._traced.pop(one.thread)
                self._traced[one.process] = gone
                continue
            del self._traced[one.thread]
            self._let_go(one, stop)
        return killed

    def _stop_of(self, one: Traced) -> int | None:
        """Return at what a thread has stopped; 0 if it is gone."""
        # A thread that was not the first has the process's number after its exec.
        for pid in dict.fromkeys((one.thread, one.process)):
            options = os.WSTOPPED | os.WNOHANG | _OF_ALL_KINDS
            if pid != self._leader:
                options |= (
                    os.WEXITED
                )  # The leader is our child: others ask how it ended.
            try:
                found = os.waitid(os.P_PID, pid, options)
            except ChildProcessError:
                continue
            if found is None:
                is_over = pid == self._leader and not processes.is_alive(pid)
                return 0 if is_over else None
            return found.si_status if found.si_code == os.CLD_TRAPPED else 0
        return 0

    def _let_go(self, one: Traced, stop: int) -> None:
        pid = one.process if stop == _STOPPED_BY_EXEC else one.thread
        number = stop if 0 < stop < signal.NSIG and stop != signal.SIGTRAP else 0
        with contextlib.suppress(OSError):
            _ptrace(_DETACH, pid, number)


def _is(pid: int, expected: Expected) -> bool:
    """Tell whether a process that has just executed something is what was judged."""
    if expected.mark is not None and mark_of(f"/proc/{pid}/exe") != expected.mark:
        return False
    words = expected.words or ("",)  # The kernel gives at least an empty name.
    path = f"/proc/{pid}/cmdline"
    known = [word for word in words if word is not None]
    if len(known) == len(words):
        told = "\0".join((*known, "")).encode()
        return procfs.read(path, len(told) + 1) == told
    found = procfs.read_table(path, _MAX_WORDS).split(b"\0")[:-1]
    if words[-1] is None:
        words = words[:-1]  # There may be more, or none.
    elif len(found) != len(words):
        return False
    return len(found) >= len(words) and all(
        word is None or word.encode() == one
        for word, one in zip(words, found, strict=False)
    )


def _ptrace(request: int, pid: int, data: int) -> None:
    checked(_ptrace_call(request, pid, None, data))
