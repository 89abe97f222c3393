"""System calls that make namespaces, enter them, and change what is mounted in them."""

import ctypes
import errno
import os
import signal
import struct

from holdfast.linux.libc import checked, libc

NEW_MOUNTS = 0x0002_0000
NEW_IPC = 0x0800_0000
NEW_USERS = 0x1000_0000
NEW_PIDS = 0x2000_0000
NEW_NET = 0x4000_0000

BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x4_0000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8

_INTO_CGROUP = 0x2_0000_0000
_CLONE3, _MOUNT_SETATTR = 435, 442
"""Numbers that are the same on every architecture."""

_ARGUMENTS = struct.Struct("=11Q")
_ATTRIBUTES = struct.Struct("=4Q")
_HERE = -100
_WHOLE_TREE = 0x8000

_python = ctypes.PyDLL(None, use_errno=True)
"""Called without letting go of the interpreter: a fork must not be interrupted."""


def fork_with(flags: int, cgroup: int | None = None) -> int:
    """Fork; the child is in new namespaces, and in a cgroup, from the first moment on.

    Raises:
        OSError: There is no child: the kernel, or what guards it, does not let us.

    """
    into = 0 if cgroup is None else _INTO_CGROUP
    packed = _ARGUMENTS.pack(
        flags | into, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, cgroup or 0
    )
    arguments = ctypes.create_string_buffer(packed, len(packed))
    size = ctypes.c_size_t(len(packed))
    _python.PyOS_BeforeFork()
    pid = int(_python.syscall(_CLONE3, arguments, size))
    why = ctypes.get_errno()
    if pid == 0:
        _python.PyOS_AfterFork_Child()
    else:
        _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(why, os.strerror(why))
    return pid


def mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str = ""
) -> None:
    """Mount something.

    Raises:
        OSError: The kernel refuses; the target is named.

    """
    try:
        checked(
            libc.mount(
                None if source is None else os.fsencode(source),
                os.fsencode(target),
                None if kind is None else kind.encode(),
                ctypes.c_ulong(flags),
                os.fsencode(options) or None,
            )
        )
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None


def restrict(target: str, flags: int, *, whole: bool = False) -> None:
    """Add restrictions to a mount, or to a whole tree of them; nothing is taken away.

    Raises:
        OSError: The kernel refuses; the target is named.

    """
    packed = _ATTRIBUTES.pack(flags, 0, 0, 0)
    attributes = ctypes.create_string_buffer(packed, len(packed))
    try:
        checked(
            libc.syscall(
                ctypes.c_long(_MOUNT_SETATTR),
                _HERE,
                os.fsencode(target),
                ctypes.c_uint(_WHOLE_TREE if whole else 0),
                attributes,
                ctypes.c_size_t(len(packed)),
            )
        )
    except OSError as error:
        if error.errno == errno.EINVAL:
            return  # It is no mount of its own any more: another covers it.
        raise OSError(error.errno, error.strerror, target) from None


def enter(pidfd: int, flags: int) -> None:
    """Join namespaces of a process; that of processes holds for our children.

    Raises:
        OSError: The kernel refuses, or the process is gone.

    """
    checked(libc.setns(pidfd, flags))
