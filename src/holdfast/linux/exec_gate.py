"""Processes that wait to execute something, and the answers to them.

The listener of an exec filter (linux/exec_filter.py) hands out *notices*: a process is
waiting in execve. A notice is handed out once; the process that took it has to answer.
If that process is killed in between, nobody else gets the notice, and the exec would
wait for ever. So notices are received straight into memory that outlives us, one to a
slot, and leave it after the answer: a successor finds there what was taken but not
answered, and answers it.

    G1  A notice that was taken is in a slot before the call that takes it returns,
        and stays there until it is answered or its process no longer waits.
    G2  Taking never blocks: it is tried only if the kernel says that there is one.
    G3  An answer to a process that is gone, or was answered, changes nothing.

A process that gets a signal while it waits stops waiting, and asks again after the
signal, under another number.
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import select
import struct
from typing import NamedTuple

from holdfast.linux import exec_filter
from holdfast.linux.libc import checked, libc

_RECEIVE = 0xC0502100
_RECEIVE_NUMBER = ctypes.c_ulong(_RECEIVE)
_SEND = 0xC0182101
_IS_VALID = 0x80082102
"""The number as it was before Linux 5.9; the kernel takes both."""

_SET_FLAGS = 0x40082104
_SAME_PROCESSOR = 1
"""Wake who waits on the processor that answers: it has nothing else to do."""

_NOTICE = struct.Struct("=QIIiIQ6Q")
_NOTHING = bytes(_NOTICE.size)
_NUMBER = struct.Struct("=Q")
_ANSWER = struct.Struct("=QqiI")
_CONTINUE = 1

SIZE = mmap.PAGESIZE
"""Bytes of memory for the slots."""

SLOTS = 48
"""Notices taken and not answered at a time; with more, the rest waits in the
kernel. Three times what one actor may have open at the gate."""


class Notice(NamedTuple):
    """A thread that stands in execve or execveat."""

    id: int
    thread: int
    call: str
    is_narrow: bool
    """Whether its pointers have four bytes."""

    arguments: tuple[int, ...]


class ExecGate:
    """The side that answers."""

    def __init__(self, listener: int, memory: int) -> None:
        self.listener = listener
        self._memory = mmap.mmap(memory, SIZE)
        self._slots = [
            ctypes.byref(ctypes.c_char.from_buffer(self._memory, at * _NOTICE.size))
            for at in range(SLOTS)
        ]
        self._taken: dict[int, int] = {}
        self._free: list[int] = []
        self._poll = select.poll()
        self._poll.register(listener, select.POLLIN)
        # An older kernel does not know it, and does well without.
        with contextlib.suppress(OSError):
            fcntl.ioctl(listener, _SET_FLAGS, _SAME_PROCESSOR)

    @property
    def is_full(self) -> bool:
        """Whether no more can be taken before something is answered."""
        return not self._free

    def inherited(self) -> list[Notice]:
        """Return what a predecessor has taken and not answered. Call it first."""
        found = []
        for slot in range(SLOTS):
            notice = self._read(slot)
            if notice is None or not self.is_valid(notice.id):
                self._clear(slot)
            else:
                self._taken[notice.id] = slot
                found.append(notice)
        return found

    def receive(self) -> Notice | None:
        """Return who wants to execute something, or None if nobody does now.

        Raises:
            BrokenPipeError: Nobody is left who could ask.

        """
        ready = self._poll.poll(0)
        if not ready:
            return None
        if not ready[0][1] & select.POLLIN:
            raise BrokenPipeError("no process has this filter any more")
        slot = self._free[-1]
        try:
            # Not by `fcntl`, which would copy it into our memory first (G1).
            checked(libc.ioctl(self.listener, _RECEIVE_NUMBER, self._slots[slot]))
        except OSError as error:
            self._wipe(slot)
            if error.errno in (errno.ENOENT, errno.EINTR):
                return None  # It was killed, or got a signal, just now.
            raise
        notice = self._read(slot)
        assert notice is not None  # noqa: S101  # the kernel has just written it
        self._free.pop()
        self._taken[notice.id] = slot
        return notice

    def is_valid(self, notice: int) -> bool:
        """Tell whether a process still waits for this answer.

        Ask it after reading from the process: its number may be another's by now.
        """
        try:
            fcntl.ioctl(self.listener, _IS_VALID, _NUMBER.pack(notice))
        except OSError:
            return False
        return True

    def let(self, notice: int) -> bool:
        """Let an exec happen; False if nobody waits for the answer any more."""
        return self._answer(notice, 0, _CONTINUE)

    def refuse(self, notice: int, number: int = errno.EPERM) -> bool:
        """Make an exec fail; False if nobody waits for the answer any more."""
        return self._answer(notice, -number, 0)

    def drop(self, notice: int) -> None:
        """Forget a notice whose process waits no more."""
        slot = self._taken.pop(notice, None)
        if slot is not None:
            self._clear(slot)

    def _answer(self, notice: int, error: int, flags: int) -> bool:
        try:
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(notice, 0, error, flags))
        except OSError:
            return False
        finally:
            self.drop(notice)
        return True

    def _read(self, slot: int) -> Notice | None:
        found = _NOTICE.unpack_from(self._memory, slot * _NOTICE.size)
        number, thread, _, call, dialect, _, *arguments = found
        name = exec_filter.CALLS.get((dialect, call))
        if not number or name is None:
            return None
        is_narrow = dialect in (exec_filter.I386, exec_filter.ARM) or bool(
            call & exec_filter.X32
        )
        return Notice(number, thread, name, is_narrow, tuple(arguments))

    def _clear(self, slot: int) -> None:
        self._wipe(slot)
        self._free.append(slot)

    def _wipe(self, slot: int) -> None:
        # The kernel refuses to write a notice where something stands.
        at = slot * _NOTICE.size
        self._memory[at : at + _NOTICE.size] = _NOTHING


def why_not() -> str:
    """Return why no exec can be held here; nothing if one can. Tries it out."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _try_out()
        except OSError as error:
            os.write(writer, (error.strerror or str(error)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as report:
        why = report.read(1024).decode(errors="replace")
    os.waitpid(pid, 0)
    return why


def _try_out() -> None:
    """Hold one exec and let it go on, in a process that is for nothing else."""
    listener = exec_filter.install()
    memory = os.memfd_create("exec-gate", os.MFD_CLOEXEC)
    os.ftruncate(memory, SIZE)
    gate = ExecGate(listener, memory)
    gate.inherited()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError):
            os.execv("/proc/self/no-such-program", ["no-such-program"])  # noqa: S606  # it must fail
        os._exit(0)
    select.select([listener], [], [], 5)
    notice = gate.receive()
    if notice is None or not gate.let(notice.id):
        raise OSError(errno.ENOTSUP, "the kernel does not let an exec go on")
    os.waitpid(child, 0)
