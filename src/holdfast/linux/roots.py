"""Which root a process has: the file, and the mount it is reached by."""

import ctypes
import struct

from holdfast.linux.libc import libc

Root = tuple[int, int, int, int]
"""Number of the file, its device in two parts, and the mount. No two namespaces have a
mount in common, so that who has another namespace has another root."""

_HERE = -100
_FILE, _MOUNT = 0x100, 0x1000
"""What is asked for: the number of the file, and the mount, which Linux 5.8 tells."""

_STATX = struct.Struct("=I28xQ96xIIQ")
"""Of struct statx: what it tells, number, device in two parts, mount."""

_found = ctypes.create_string_buffer(256)
_statx = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_void_p,
    use_errno=True,
)(("statx", libc))


def root_of(pid: int) -> Root | None:
    """Return the root of a process; None if the kernel does not tell."""
    if _statx(_HERE, b"/proc/%d/root" % pid, 0, _FILE | _MOUNT, _found) < 0:
        return None
    told, number, major, minor, mount = _STATX.unpack_from(_found)
    return (number, major, minor, mount) if told & _MOUNT else None
