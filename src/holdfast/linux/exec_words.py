"""What a process waiting in execve wants to execute.

Path and arguments are in its own memory, and are read there. What cannot be read, or
is too long, is marked as unknown: such an argument or path is None. A process that
shares that memory may change all of it after we have looked: what is read here is what
it said when it asked, and linux/exec_trace.py sees what came of it.

What the kernel executes in place of a script is found too, step by step
(core/policy/exec_chain.py).
"""

import ctypes
import functools
import os
from typing import NamedTuple

from holdfast.core.policy.exec_chain import (
    MAX_DEPTH,
    interpreter_of,
    registered,
    words_for,
)
from holdfast.linux import exec_files, procfs
from holdfast.linux.exec_arguments import read_arguments
from holdfast.linux.exec_files import File, Formats, Mark
from holdfast.linux.exec_gate import Notice
from holdfast.linux.libc import libc
from holdfast.linux.process_table import tracer_of
from holdfast.linux.roots import Root, root_of

_tgkill = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, use_errno=True
)(("tgkill", libc))

_HERE = -100
_EMPTY_PATH = 0x1000


class Step(NamedTuple):
    """One of the files that the kernel goes through for an exec."""

    path: str | None
    real: str | None
    words: tuple[str | None, ...]


class Wanted(NamedTuple):
    """What a process wants to execute."""

    path: str | None
    """As the process gave it, made absolute; None if it is not known."""

    real: str | None
    """The file behind it, links followed; None if that is not known."""

    words: tuple[str | None, ...]
    """Its argv. A last None may stand for several."""

    cwd: str | None

    is_elsewhere: bool = False
    """Whether its paths mean other files than ours do."""

    is_missing: bool = False
    """Whether there is no such file."""

    further: tuple[Step, ...] = ()
    """The interpreters that the kernel executes in its place, one after the other."""

    mark: Mark | None = None
    """Which file is executed in the end; None if that is not known."""

    doubt: str = ""
    """Why it may be something else that is executed in the end."""

    @property
    def last(self) -> tuple[str | None, ...]:
        """What the program is told that is executed in the end."""
        return self.further[-1].words if self.further else self.words


def read_wanted(notice: Notice) -> Wanted:
    """Read what a process wants to execute; what cannot be read is left open."""
    pid = notice.thread
    cwd = procfs.link(f"/proc/{pid}/cwd") or None
    arguments, folder, flags = notice.arguments, _HERE, 0
    if notice.call == "execveat":
        folder = ctypes.c_int32(arguments[0]).value
        flags = arguments[4]
        arguments = arguments[1:]
    width = 4 if notice.is_narrow else 8
    given = read_arguments(pid, arguments[0], arguments[1], width)
    if given is None:
        return Wanted(None, None, (None,), cwd)
    path, words = given
    start = cwd if folder == _HERE else procfs.link(f"/proc/{pid}/fd/{folder}")
    found = None if path is None else _absolute(path, start or None)
    if _is_elsewhere(pid):
        return Wanted(found, None, words, cwd, is_elsewhere=True)
    file = exec_files.UNKNOWN
    if found is not None:
        file = exec_files.look(pid, found)
    elif path == "" and flags & _EMPTY_PATH and folder >= 0:
        file = exec_files.opened(f"/proc/{pid}/fd/{folder}")
    if file.name or not path:
        found = file.real or file.name or None
    wanted = Wanted(found, file.real, words, cwd, is_missing=file.is_missing)
    return _with_interpreters(wanted, pid, file, _told(path, folder))


def with_tracer(wanted: Wanted, pid: int) -> Wanted:
    """Add that another process may change what it executes, if one traces it.

    It need not be asked of what we trace: nobody else can.
    """
    tracer = tracer_of(pid)
    if not tracer or wanted.is_elsewhere:
        return wanted
    return wanted._replace(further=(), mark=None, doubt=f"process {tracer} traces it")


def wanted_by(
    pid: int, program: str, words: tuple[str | None, ...], cwd: str
) -> Wanted:
    """Return what a process that waits is going to execute, as things are now."""
    file = exec_files.look(pid, program)
    wanted = Wanted(program, file.real, words, cwd, is_missing=file.is_missing)
    return _with_interpreters(wanted, pid, file, program)


def _with_interpreters(
    wanted: Wanted, pid: int, file: File, name: str | None
) -> Wanted:
    """Add what the kernel executes in the place of a script."""
    steps: list[Step] = []
    words = wanted.words
    formats = _formats.find()
    while not file.is_missing:
        if file.head is None:
            return wanted._replace(further=tuple(steps), doubt="it could not be read")
        interpreter, is_sure = registered(formats, name or "", file.head)
        if not is_sure or (formats and name is None):
            return wanted._replace(
                further=tuple(steps), doubt="its format is not known"
            )
        interpreter = interpreter or interpreter_of(file.head)
        if interpreter is None:
            return wanted._replace(further=tuple(steps), mark=file.mark)
        if len(steps) == MAX_DEPTH:
            break
        words = words_for(interpreter, name, words)
        name = words[0]
        path = None if name is None else _absolute(name, wanted.cwd)
        file = exec_files.UNKNOWN if path is None else exec_files.look(pid, path)
        steps.append(Step(file.name or path, file.real, words))
    # The kernel goes no further either, or finds no file: the exec fails.
    return wanted._replace(further=tuple(steps), is_missing=file.is_missing)


def _told(path: str | None, folder: int) -> str | None:
    """Return by which name an interpreter is told of the file."""
    if path is None or folder == _HERE or path.startswith("/"):
        return path
    return f"/dev/fd/{folder}/{path}" if path else f"/dev/fd/{folder}"


def process_of(thread: int) -> int:
    """Return the process that a thread belongs to; the thread if it is gone."""
    # Asks without a signal, and says no of any thread but the first.
    if _tgkill(thread, thread, 0) == 0:
        return thread
    return int(procfs.status(thread, "Tgid") or thread)


def _absolute(path: str, start: str | None) -> str | None:
    if path.startswith("/"):
        return path
    return f"{start.rstrip('/')}/{path}" if start and path else None


def _is_elsewhere(pid: int) -> bool:
    """Tell whether paths, or formats of programs, mean something else to it."""
    root = root_of(pid)
    return (
        root is None
        or root != _our_root()
        or procfs.link(f"/proc/{pid}/ns/user") != _our_users()
    )


@functools.cache
def _our_root() -> Root | None:
    return root_of(os.getpid())


@functools.cache
def _our_users() -> str:
    return procfs.link("/proc/self/ns/user")


_formats = Formats()
