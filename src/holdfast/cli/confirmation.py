"""Asks the user before something is done that cannot be undone."""

import os
import sys


def confirmed(question: str) -> bool:
    """Tell whether the user says yes."""
    if not (os.isatty(0) and os.isatty(1)):
        return True  # A script made the decision when it was written.
    print(f"{question} y/N: ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
