"""How does a process on an event loop say what happened?

One line for each event: a name and its facts, on standard error. Nothing that
travels through us is ever a fact of it, and no key.
"""

import contextlib
import sys


def log(event: str, **facts: object) -> None:
    """Write one line."""
    words = [f"{name}={fact!r}" for name, fact in facts.items()]
    with contextlib.suppress(OSError):
        sys.stderr.write(" ".join([event, *words]) + "\n")
        sys.stderr.flush()
