"""Forks a process into a capsule from outside.

It has every right over the capsule: it must execute nothing that the capsule chose.
"""

import os
from collections.abc import Callable
from typing import NoReturn

from holdfast.linux.capsule import namespaces
from holdfast.linux.cgroup_fork import fork_where
from holdfast.model.session_record import CapsuleRecord

_FAILED = 127


def _nothing() -> None:
    pass


def fork_inside(
    capsule: CapsuleRecord,
    first: int,
    prepare: Callable[[], None] = _nothing,
    cgroup: str = "",
) -> int:
    """Fork; return 0 in a process inside, and its outer twin's pid to us.

    `first` is the pidfd of the capsule's pid 1. The twin ends as the process inside
    does, whose number means nothing out here; if the capsule cannot be entered, it
    ends with 127. It calls `prepare` first, outside. Both are in `cgroup`, if one is
    named that lets us.
    """
    pid = fork_where(cgroup)
    if pid:
        return pid
    try:
        prepare()
        # Processes are numbered anew only for children: we are not inside yet.
        namespaces.enter(first, _flags(capsule))
        inner = os.fork()
    except OSError as error:
        os.write(2, f"a capsule cannot be entered: {error.strerror}\n".encode())
        os._exit(_FAILED)
    if inner:
        _end_as(inner)
    os.chdir("/")
    return 0


def _flags(capsule: CapsuleRecord) -> int:
    flags = namespaces.NEW_PIDS | namespaces.NEW_MOUNTS | namespaces.NEW_IPC
    if capsule.rootless:
        flags |= namespaces.NEW_USERS
    return flags | (namespaces.NEW_NET if capsule.net == "own" else 0)


def _end_as(inner: int) -> NoReturn:
    _, status = os.waitpid(inner, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
