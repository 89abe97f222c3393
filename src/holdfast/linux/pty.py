"""Terminals: creating, sizing and querying them."""

import errno
import fcntl
import os
import struct
import termios
import time
from collections.abc import Callable
from functools import lru_cache

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.model.errors import NoTerminalLeft
from holdfast.model.geometry import Size, clamped

_WINSIZE = struct.Struct("4H")
_FLAGS = struct.Struct("4I")
_TERMIOS = 64
"""Bytes for the kernel's struct termios: four flag words, a byte, characters."""

_IUCLC, _IUTF8 = 0o1000, 0o40000
_CHARS = _FLAGS.size + 1
_ALTERS = termios.ISTRIP | _IUCLC
_INTERRUPTS = (termios.VINTR, termios.VQUIT, termios.VSUSP)


SHORT_READ = 1024
"""Bytes below which a read has emptied the terminal, for now."""

LONGEST_READ = 0.002
"""Seconds after which no further piece is read: each may wait for the kernel, which
fetches it in a thread of its own, and a seize waits for all of them."""


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
    return discipline(master).echo


def is_canonical(master: int) -> bool:
    """Tell whether the terminal hands its program whole lines."""
    return discipline(master).canonical


def foreground(master: int) -> int | None:
    """Return the process group that has the terminal now, or None if none has."""
    try:
        return os.tcgetpgrp(master) or None
    except OSError:
        return None


def discipline(master: int) -> LineDiscipline:
    """Return how the terminal treats what is typed now."""
    return discipline_of(settings(master))


def settings(master: int) -> bytes:
    """Return the terminal's settings as the kernel has them."""
    # Asked for every key: termios.tcgetattr makes a list of thirty objects of it.
    return fcntl.ioctl(master, termios.TCGETS, bytes(_TERMIOS))


@lru_cache(maxsize=32)
def discipline_of(raw: bytes) -> LineDiscipline:
    """Return what settings mean; the same from one key to the next."""
    ins, _, _, local = _FLAGS.unpack_from(raw)
    chars = raw[_CHARS:]
    stops = (chars[termios.VSTART], chars[termios.VSTOP]) if ins & termios.IXON else ()
    is_shown = (
        local & termios.ICANON and local & termios.ECHO and local & termios.IEXTEN
    )
    shows = (chars[termios.VREPRINT],) if is_shown else ()
    return LineDiscipline(
        canonical=bool(local & termios.ICANON),
        echo=bool(local & termios.ECHO),
        signals=bool(local & termios.ISIG),
        extended=bool(local & termios.IEXTEN),
        keeps=bool(local & termios.NOFLSH),
        cr_to_nl=bool(ins & termios.ICRNL),
        nl_to_cr=bool(ins & termios.INLCR),
        ignores_cr=bool(ins & termios.IGNCR),
        utf8=bool(ins & _IUTF8),
        alters=bool(ins & _ALTERS),
        erase=chars[termios.VERASE],
        erase_word=chars[termios.VWERASE],
        kill=chars[termios.VKILL],
        literal=chars[termios.VLNEXT],
        end_of_file=chars[termios.VEOF],
        ends=(chars[termios.VEOL], chars[termios.VEOL2]),
        interrupts=tuple(chars[one] for one in _INTERRUPTS),
        swallows=(*stops, *shows),
    )


def read_into(master: int, room: memoryview, took: Callable[[int], None]) -> int | None:
    """Read what the program has printed into `room`; return how much that was.

    The kernel hands out about 4 KB at a time; taking all there is in one go is
    what makes many viewers cheap. A shorter read than usual has taken all there was,
    and no piece is read into less room than that, unless it is the first.
    `took` is told of each piece at once. None means that the terminal is closed:
    every process that had it open is gone.
    """
    size, last, until = 0, len(room) - SHORT_READ, 0.0
    rest = room
    while True:
        try:
            count = os.readv(master, (rest,))
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
        if count < SHORT_READ or size > last:
            break
        now = time.monotonic()
        until = until or now + LONGEST_READ
        if now >= until:
            break
        rest = room[size:]
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
