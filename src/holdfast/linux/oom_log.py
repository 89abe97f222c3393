"""Finds in the kernel's log which program was killed for want of memory.

The log is root's to read, on most machines. Where it cannot be read, the program is not
known; that one was killed is known all the same (linux/limits.py).
"""

import contextlib
import os
import re
from typing import NamedTuple

_LOG = "/dev/kmsg"
_RECORD = 8192
"""Bytes of one record at most."""

_KILLED = re.compile(
    r"oom-kill:.*oom_memcg=\S*/holdfast-(?P<session>s_[a-z0-9]+)[,/].*"
    r"task=(?P<program>.*),pid=(?P<pid>[0-9]+),uid=[0-9]+"
)


class Killed(NamedTuple):
    """A program that the kernel has killed."""

    program: str
    """What it calls itself: it may have any name."""

    pid: int


def last_killed(session: str) -> Killed | None:
    """Return what was killed last because the session had no more memory."""
    try:
        fd = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    found = None
    try:
        # A record that was overwritten meanwhile is an error, once.
        with contextlib.suppress(BlockingIOError):
            while True:
                with contextlib.suppress(BrokenPipeError):
                    found = killed_in(os.read(fd, _RECORD), session) or found
    except OSError:
        return found
    finally:
        os.close(fd)
    return found


def killed_in(record: bytes, session: str) -> Killed | None:
    """Return what one record of the log tells of this session."""
    told = _KILLED.search(record.decode("utf-8", "replace"))
    if told is None or told["session"] != session:
        return None
    return Killed(told["program"], int(told["pid"]))
