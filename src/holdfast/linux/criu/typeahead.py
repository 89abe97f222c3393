"""Typed-ahead input: read from one terminal, and put into another.

CRIU does not dump it. While the session stands still nobody else reads it, so it is
read from the master's other side, without a change of what the program sees: the
terminal's settings are put back as they were, and nothing is echoed a second time.

One thing is lost: an end of file (^D) that waits amid other lines. The kernel has no
byte for it.
"""

import fcntl
import os
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_PEER = 0x5441
"""TIOCGPTPEER, for which Python has no name."""

_INPUT, _LOCAL = 0, 3
_TRANSLATED = termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON
_TRANSLATED |= termios.ISTRIP
_ACTED_ON = termios.ECHO | termios.ISIG | termios.IEXTEN

MOST = 1 << 16
"""Bytes that are read: the kernel holds 4 KB of them, and as much on the way."""


def rescue(master: int) -> bytes:
    """Return what waits to be read, and take it away; nobody else may be reading.

    Raises:
        OSError: The terminal is gone.

    """
    # As lines, the kernel would hand out whole ones only.
    with _other_side(master, without=_ACTED_ON | termios.ICANON) as slave:
        found = b""
        while len(found) < MOST:
            try:
                piece = os.read(slave, MOST)
            except BlockingIOError:
                break
            if not piece:
                break
            found += piece
        return found


def replay(master: int, typed: bytes) -> None:
    """Have these bytes wait to be read, as they would if they had just been typed.

    Raises:
        OSError: The terminal is gone, or takes no more.

    """
    with _other_side(master, without=_ACTED_ON) as slave:
        while typed:
            typed = typed[os.write(master, typed) :]
        # A worker of the kernel's takes it over. To be asked whether there is anything
        # to read makes it do so now; it holds the settings until it is done.
        select.select([slave], [], [], 0)


@contextmanager
def _other_side(master: int, *, without: int) -> Iterator[int]:
    """Open the slave, with some settings off for as long as it is open."""
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    slave = fcntl.ioctl(master, _PEER, flags)
    try:
        before = termios.tcgetattr(slave)
        changed = [*before]
        changed[_INPUT] &= ~_TRANSLATED
        changed[_LOCAL] &= ~without
        # Without a flush: what waits is what we are here for.
        termios.tcsetattr(slave, termios.TCSANOW, changed)
        try:
            yield slave
        finally:
            termios.tcsetattr(slave, termios.TCSANOW, before)
    finally:
        os.close(slave)
