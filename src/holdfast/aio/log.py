"""Logging for a process on an event loop.

One line for each event: a name and its facts, on standard error. The facts never
include a key, nor anything that travels through us.
"""

import contextlib
import sys


def log(event: str, **facts: object) -> None:
    """Write one line."""
    words = [f"{name}={fact!r}" for name, fact in facts.items()]
    with contextlib.suppress(OSError):
        sys.stderr.write(" ".join([event, *words]) + "\n")
        sys.stderr.flush()
