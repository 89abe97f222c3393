"""Runs a program with every right over the user's own files, and over no others.

A layer holds files that are closed even to their owner: what a program made so, and
what the kernel keeps for its overlays. Root may change them anyway. For an ordinary
user a user namespace has that right, in which the user is who they are outside.
"""

import os
from collections.abc import Callable
from typing import NoReturn

from holdfast.linux.capsule import namespaces, rights
from holdfast.linux.clone import fork_with
from holdfast.linux.processes import show_memory

Work = Callable[[], bytes]

_FAILED = 127
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_SAID = 4096
_PIECE = 64 * 1024
_DONE, _NOT_DONE = b"=", b"!"


def call(work: Work) -> bytes:
    """Return the result of a function that runs with those rights in a child.

    Raises:
        OSError: It failed, or the child died; what it raised is the reason.

    """
    reader, writer = os.pipe()
    pid = _fork()
    if pid == 0:
        os.close(reader)
        _work(work, writer)
    os.close(writer)
    pieces = []
    while piece := os.read(reader, _PIECE):
        pieces.append(piece)
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    said = b"".join(pieces)
    if os.waitstatus_to_exitcode(status) != 0 or said[:1] != _DONE:
        raise OSError(0, said[1:].decode(errors="replace") or "it was interrupted")
    return said[1:]


def run(command: tuple[str, ...]) -> None:
    """Run a program of the system, and wait for it.

    Raises:
        OSError: It failed, or cannot be run; its last words are the reason.

    """
    reader, writer = os.pipe()
    pid = _fork()
    if pid == 0:
        _execute(command, writer)
    os.close(writer)
    said = b""
    while piece := os.read(reader, _SAID):
        said = (said + piece)[-_SAID:]
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        lines = said.decode(errors="replace").strip().splitlines()
        raise OSError(0, lines[-1] if lines else f"{command[0]} failed")


def _fork() -> int:
    """Fork; the child has the rights, or ends."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        return os.fork()
    pid = fork_with(namespaces.NEW_USERS)
    if pid:
        return pid
    try:
        show_memory()  # Else the files by which users are mapped are root's.
        map_user(uid, gid)
        rights.pass_on(frozenset())
    except OSError:
        os._exit(_FAILED)
    return 0


def _work(work: Work, said: int) -> NoReturn:
    status = _FAILED
    try:
        told = _DONE + work()
        status = 0
    except Exception as error:  # noqa: BLE001  # whatever it is, the parent is told
        told = _NOT_DONE + str(error).encode(errors="replace")
    try:
        with open(said, "wb") as file:  # a descriptor
            file.write(told)
    finally:
        os._exit(status)


def _execute(command: tuple[str, ...], said: int) -> NoReturn:
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for fd, source in enumerate((null, null, said)):
            os.dup2(source, fd)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.execvpe(command[0], command, _ENVIRONMENT)  # noqa: S606  # that is the job
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(_FAILED)


def map_user(uid: int, gid: int) -> None:
    """Let a user be who they are outside, in a user namespace that is ours and new.

    Raises:
        OSError: The kernel refuses.

    """
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(fd, text.encode())
        os.close(fd)
