"""Opens a second terminal for a line of a page that goes on, and leaves it open.

    python -m tests.docs.terminal LINE

It returns once the line has printed something, with 0, or with the line's own status if
that ended without a word. Nobody types there. What is printed is printed here too,
unless somebody attaches: that shows whole screens, and does not end.
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

SIZE = struct.pack("4H", 24, 80, 0, 0)


def main(line: str) -> int:
    """Run the line, and return once it has printed something."""
    is_attached = " attach " in line
    ours, theirs = pty.openpty() if is_attached else os.pipe()
    if is_attached:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, SIZE)
    run = subprocess.Popen(
        ["bash", "-c", f"exec {line}"],  # noqa: S607
        stdin=theirs if is_attached else subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    if not (printed := _read(ours)):
        return run.wait()
    if os.fork() == 0:
        if is_attached:  # The page's own output must be able to end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
        while printed:
            os.write(1, printed)
            printed = _read(ours)
    return 0


def _read(ours: int) -> bytes:
    try:
        return os.read(ours, 65536)
    except OSError:  # As a terminal says that its other side is closed.
        return b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
