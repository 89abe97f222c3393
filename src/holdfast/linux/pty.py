"""Terminals: how one is made, sized and asked about."""

import errno
import fcntl
import os
import struct
import termios
from collections.abc import Callable

from holdfast.model.errors import NoTerminalLeft
from holdfast.model.geometry import Size, clamped

_WINSIZE = struct.Struct("4H")
_FLAGS = struct.Struct("4I")
_TERMIOS = 64
"""Bytes for the kernel's struct termios, which begins with four flag words."""


def open_pty(size: Size) -> tuple[int, int]:
    """Return a new terminal's master, non-blocking, and slave.

    Raises:
        Unavailable: The kernel has none left.

    """
    try:
        master, slave = os.openpty()
    except OSError as error:
        raise NoTerminalLeft(error.strerror or str(error)) from error
    os.set_blocking(master, False)
    set_size(master, size)
    return master, slave


def set_size(master: int, size: Size) -> None:
    """Tell the terminal, and so its program, how large it is."""
    packed = _WINSIZE.pack(size.rows, size.columns, 0, 0)
    fcntl.ioctl(master, termios.TIOCSWINSZ, packed)


def size_of(master: int) -> Size:
    """Return how large the terminal is, brought within bounds."""
    packed = fcntl.ioctl(master, termios.TIOCGWINSZ, bytes(_WINSIZE.size))
    rows, columns, _, _ = _WINSIZE.unpack(packed)
    return clamped(columns, rows)


def echoes(master: int) -> bool:
    """Tell whether what is typed now is shown."""
    return bool(_local_flags(master) & termios.ECHO)


def is_canonical(master: int) -> bool:
    """Tell whether the terminal hands its program whole lines."""
    return bool(_local_flags(master) & termios.ICANON)


def foreground(master: int) -> int | None:
    """Return the process group that has the terminal now, or None if none has."""
    try:
        return os.tcgetpgrp(master) or None
    except OSError:
        return None


def _local_flags(master: int) -> int:
    # Asked for every key: termios.tcgetattr makes a list of thirty objects of it.
    raw = fcntl.ioctl(master, termios.TCGETS, bytes(_TERMIOS))
    flags: int = _FLAGS.unpack_from(raw)[3]
    return flags


def read_into(master: int, room: memoryview, took: Callable[[int], None]) -> int | None:
    """Read what the program has printed into `room`; return how much that was.

    The kernel hands out about 4 KB at a time; taking all there is in one go is
    what makes many viewers cheap. `took` is told of each piece at once. None
    means that the terminal is closed: every process that had it open is gone.
    """
    size = 0
    while size < len(room):
        try:
            count = os.readv(master, [room[size:]])
        except BlockingIOError:
            break
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            count = 0
        if not count:
            return size or None
        took(count)
        size += count
    return size


def write_available(master: int, data: bytes | memoryview) -> int:
    """Write what the terminal takes now, and return how much that was."""
    try:
        return os.write(master, data)
    except BlockingIOError:
        return 0
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return 0
