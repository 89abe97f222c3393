"""A timer on the clock that runs through suspend, which an event loop can wait for."""

import contextlib
import ctypes
import os
import time

from holdfast.linux.libc import checked, libc

_ABSOLUTE = 1
_LEAST = 1e-9
"""Seconds since boot: a zero would stop the timer, and this is as long past."""

_NANO = 1_000_000_000


class _Spec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class BootTimer:
    """A descriptor that can be read once a time has come."""

    def __init__(self) -> None:
        """Make one that waits for nothing.

        Raises:
            OSError: There is no descriptor left.

        """
        flags = os.O_NONBLOCK | os.O_CLOEXEC
        self._fd = checked(libc.timerfd_create(time.CLOCK_BOOTTIME, flags))

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._fd

    def set(self, at: float | None) -> None:
        """Be ready at this time of CLOCK_BOOTTIME, or at once if it is past."""
        nanoseconds = 0 if at is None else round(max(at, _LEAST) * _NANO)
        spec = _Spec(0, 0, *divmod(nanoseconds, _NANO))
        checked(libc.timerfd_settime(self._fd, _ABSOLUTE, ctypes.byref(spec), None))

    def clear(self) -> None:
        """Take that the time has come."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._fd, 8)

    def close(self) -> None:
        """Wait for nothing any more."""
        os.close(self._fd)
