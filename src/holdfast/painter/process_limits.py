"""Limits on a process that hostile bytes might take over.

It may do as little as the emulator needs: no more memory than it was given, no file to
write, no process to start, no core dump of what was on a user's screen, and
no more CPU for one request than an honest one ever takes.
"""

import ctypes
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

MAX_MEMORY = 512 * 1024 * 1024
"""Address space: 64 usual sessions with all their lines take 160 MB."""

MAX_FILES = 1100
"""Highest descriptor: a link for each of a thousand sessions, the sockets and
what loading a module takes."""

MAX_CPU = 2.0
"""Seconds of CPU for one request: a keyframe takes ten milliseconds, and of the
largest screen there can be most of a second."""

MAX_FEED_CPU = 0.5
"""Seconds of CPU for one packet of output: an honest one takes a millisecond, and
a hostile one is found out while a client still waits for the screen."""

_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def confine(memory: int = MAX_MEMORY) -> None:
    """Give up for good what this process does not need."""
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, MAX_FILES),
        (resource.RLIMIT_NPROC, 0),
    ):
        _, hard = resource.getrlimit(limit)
        lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (lowest, lowest))
    libc = ctypes.CDLL(None)
    # A core dump that goes to a program pays no heed to RLIMIT_CORE.
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


@contextmanager
def cpu_limit(seconds: float = MAX_CPU) -> Iterator[None]:
    """End the process if the block takes more CPU than that.

    By the signal's default action: in a loop of the emulator's, no Python code
    would be run.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
