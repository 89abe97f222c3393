"""Forks a child into new namespaces, or directly into a cgroup.

Python has no call for that, so the system call is made directly, between the same
three calls that os.fork makes around its own.
"""

import ctypes
import os
import signal
import struct

_INTO_CGROUP = 0x2_0000_0000

_CLONE3 = 435
"""The number of the call, the same on every architecture."""

_ARGUMENTS = struct.Struct("=11Q")
"""struct clone_args: flags, six that we leave at 0 but for the signal at a
child's end, and the descriptor of the cgroup's folder last."""

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
