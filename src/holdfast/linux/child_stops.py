"""A descriptor that is ready when a child, or what we trace, has stopped or ended.

A handler would interrupt what waits, be called, and have it wait again for the byte it
wrote. This way the signal is waited for like anything else.
"""

import contextlib
import ctypes
import os
import signal

from holdfast.linux.libc import checked, libc

_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_MASK = (ctypes.c_ulong * 16)()
"""A set of signals, as the C library has it."""

_ONE = 128
"""Bytes that one signal is told with; those that come meanwhile are one."""


def watch() -> int:
    """Return the descriptor; from now on the signal reaches nobody else.

    The process must have one thread: another would take the signal. Its children
    inherit the blocked signal, and have to unblock it.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    _MASK[0] = 1 << (signal.SIGCHLD - 1)
    return checked(libc.signalfd(-1, _MASK, _FLAGS))


def heard(fd: int) -> None:
    """Take note of the signal: the descriptor is ready again at the next."""
    with contextlib.suppress(BlockingIOError):
        os.read(fd, _ONE)
