"""System calls that enter namespaces, and change what is mounted in them."""

import ctypes
import errno
import os
import struct

from holdfast.linux.libc import checked, libc

NEW_MOUNTS = 0x0002_0000
NEW_IPC = 0x0800_0000
NEW_USERS = 0x1000_0000
NEW_PIDS = 0x2000_0000
NEW_NET = 0x4000_0000

BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x4_0000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8

_MOUNT_SETATTR = 442
"""The number of the call, the same on every architecture."""

_ATTRIBUTES = struct.Struct("=4Q")
_HERE = -100
_WHOLE_TREE = 0x8000
_LATER = 2
"""MNT_DETACH."""


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


def unmount(target: str) -> None:
    """Remove one of our mounts; what still uses it keeps it.

    Raises:
        OSError: The kernel refuses; the target is named.

    """
    try:
        checked(libc.umount2(os.fsencode(target), _LATER))
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
