"""Terminals: how one is made, sized and asked about."""

import errno
import fcntl
import os
import struct
import termios

from holdfast.model.errors import NoTerminalLeft
from holdfast.model.geometry import Size

_WINSIZE = struct.Struct("4H")
_LFLAG = 3


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


def echoes(master: int) -> bool:
    """Tell whether what is typed now is shown."""
    return bool(termios.tcgetattr(master)[_LFLAG] & termios.ECHO)


def is_canonical(master: int) -> bool:
    """Tell whether the terminal hands its program whole lines."""
    return bool(termios.tcgetattr(master)[_LFLAG] & termios.ICANON)


def read_available(master: int, limit: int) -> bytes | None:
    """Return what the program has printed, at most `limit` bytes; b"" if nothing.

    The kernel hands out about 4 KB at a time; taking all there is in one go is
    what makes many viewers cheap. None means that the terminal is closed: every
    process that had it open is gone.
    """
    pieces: list[bytes] = []
    size = 0
    while size < limit:
        try:
            piece = os.read(master, limit - size)
        except BlockingIOError:
            break
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b"".join(pieces) if pieces else None
        if not piece:
            return b"".join(pieces) if pieces else None
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


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
