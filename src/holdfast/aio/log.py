"""Logging for a process on an event loop.

One line for each event: a name and its facts, on standard error; as a JSON object with
the time, if HOLDFAST_LOG_FORMAT is json. The facts never include a key, nor anything
that travels through us.
"""

import contextlib
import json
import os
import sys
import time

FORMAT = "HOLDFAST_LOG_FORMAT"


def log(event: str, **facts: object) -> None:
    """Write one line."""
    if os.environ.get(FORMAT) == "json":
        at_ms = time.time_ns() // 1_000_000
        line = json.dumps({"at_ms": at_ms, "event": event, **facts}, default=str)
    else:
        line = " ".join([event, *(f"{name}={fact!r}" for name, fact in facts.items())])
    with contextlib.suppress(OSError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
