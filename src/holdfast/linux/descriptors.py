"""The limit on a process's open descriptors.

The keeper has five for each session, and the usual limit is 1,024. It raises its
own as far as it may; the programs of sessions get what they would have had.
"""

import contextlib
import os
import resource
import socket

USUAL = "HOLDFAST_DESCRIPTORS"
"""Where the limit we were started with is kept: new code in our place needs it."""


def raise_limit() -> None:
    """Allow ourselves as many as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.environ.setdefault(USUAL, str(soft))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def limit() -> int:
    """Return how many we may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def give_usual(pid: int) -> None:
    """Give a child process the limit that we were started with."""
    usual = int(os.environ.get(USUAL, "0"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 < usual <= hard:
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (usual, hard))


class Spare:
    """One descriptor kept back, so that there is always one to hang up with.

    Without it a listener at the limit stays ready for ever, and a loop that waits for
    it spins; with it, the peer is told by being disconnected.
    """

    def __init__(self) -> None:
        self._fd = os.open(os.devnull, os.O_RDONLY)

    def hang_up(self, listener: socket.socket) -> None:
        """Take one connection, and end it."""
        os.close(self._fd)
        try:
            with contextlib.suppress(OSError):
                listener.accept()[0].close()
        finally:
            self._fd = os.open(os.devnull, os.O_RDONLY)
