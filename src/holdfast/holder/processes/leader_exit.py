"""How a session's leader ended."""

import time

from holdfast.linux import processes

PATIENCE = 2.0
"""Seconds to wait for the kernel to say how a leader ended that is not our child."""


def wait(pid: int, pidfd: int) -> int | None:
    """Return how a leader ended that has just ended; None if nobody can say."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for status in (
            processes.exit_of_child(pid),
            processes.exit_of(pidfd),
            processes.exit_of_zombie(pid),
        ):
            if status is not None:
                return status
        time.sleep(0.001)
    return None
