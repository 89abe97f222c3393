"""The C library, for the system calls that Python has no name for."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """Return what a call returned.

    Raises:
        OSError: The call failed: it is below zero.

    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
