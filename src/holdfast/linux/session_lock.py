"""The lock on a session's memory, by which the kernel knows who holds the session.

Two holders of one session would tear its window to pieces. So each takes the grip
before it touches anything: a lock on the shared memory that the kernel releases the
moment its owner is gone, however it went. A successor may be created ahead of time, and
waits for the grip with all the descriptors ready.

The lock belongs to one process and is not inherited by a fork. It is lost when that
process closes any descriptor of this memory, including the one inside a mapping.
"""

import fcntl
import struct

_FLOCK = struct.Struct("@hhqqi4x")
"""struct flock on machines of 64 bits: kind, whence, start, length, pid."""

_WHOLE = (0, 0, 0)
"""From the beginning, at 0, to the end."""


def take(memory: int) -> None:
    """Take the grip; wait, without a bound, while another process has it."""
    fcntl.lockf(memory, fcntl.LOCK_EX)


def taken_by(memory: int) -> int:
    """Return the pid of another process that has the grip, or 0."""
    asked = _FLOCK.pack(fcntl.F_WRLCK, *_WHOLE, 0)
    try:
        answer = fcntl.fcntl(memory, fcntl.F_GETLK, asked)
    except OSError:
        return 0  # Nobody can lock what this descriptor stands for.
    kind, _, _, _, pid = _FLOCK.unpack(answer)
    return 0 if kind == fcntl.F_UNLCK else int(pid)
