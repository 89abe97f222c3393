"""What can this kernel do? Found out without any code that is under test."""

import os
import platform
from pathlib import Path

ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
ENOUGH = (5, 5)
"""The first Linux that lets an exec go on after a question (SECCOMP_…_CONTINUE)."""


def can_hold_execs() -> bool:
    """Tell whether a filter can have every exec wait for an answer."""
    if platform.machine() not in ("x86_64", "aarch64"):
        return False
    number = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2]))
    actions = ACTIONS.read_text().split() if ACTIONS.exists() else []
    # A container's own filter may still forbid it; then these tests fail, and should.
    return number >= ENOUGH and "user_notif" in actions
