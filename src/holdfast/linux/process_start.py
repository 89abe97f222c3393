"""Starts the keeper if there is none: once, however many ask at the same time."""

import fcntl
import os
import sys
import time
from collections.abc import Mapping
from types import MappingProxyType

from holdfast.linux import cgroups, packets
from holdfast.linux.stored import places
from holdfast.model.errors import NoKeeper

PATIENCE = 5.0
"""Seconds a new keeper has to listen: a hundred times what it needs."""

AGAIN = 1.0
"""Seconds until another is started: one that is about to end holds the lock for
milliseconds, and one that is slow to start makes the second end by itself."""

HOST_IS_KEPT = "HOLDFAST_HOST_IS_KEPT"
"""The variable that tells a host that it belongs to nobody."""

_STEP = 0.005


def ensure_keeper() -> None:
    """Return when a keeper listens.

    Raises:
        Unavailable: None does, and none could be started.
        UsageError: The place for its socket is not ours.

    """
    if _answers():
        return
    lock = os.open(places.runtime_dir() / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # The second to get the lock finds that it is done.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _answers():
            _wait()
    finally:
        os.close(lock)


def _answers() -> bool:
    try:
        packets.connect(places.keeper_socket(), timeout=1.0).close()
    except OSError:
        return False
    return True


def claim_start() -> int | None:
    """Claim the right to start a keeper; None if another process has it.

    When a keeper dies, every holder notices at the same moment, and one of them is
    enough. The claim ends when the descriptor is closed, or with the process.
    """
    try:
        claim = os.open(
            places.runtime_dir() / "claim.lock", os.O_RDWR | os.O_CREAT, 0o600
        )
    except OSError:
        return None
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(claim)
        return None
    return claim


def start_keeper() -> None:
    """Start a keeper without waiting for it; a second one ends by itself."""
    start_detached(["holdfast.keeper"], "keeper.log")


def start_host() -> None:
    """Start a host that belongs to nobody, and that the keeper starts again."""
    start_detached(["holdfast", "up"], "host.log", {HOST_IS_KEPT: "1"})


def start_detached(
    module: list[str], log: str, variables: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Run one of holdfast's modules with its arguments, and do not wait for it.

    It becomes nobody's child, in a session of its own, and leaves the cgroup of a
    session of ours: closing the terminal it was started from, logging out, or the
    end of that session does not reach it, and its starter has no dead child
    to collect.
    """
    places.runtime_dir()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                cgroups.leave_sessions()
                _become(module, log, {**os.environ, **variables})
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _become(module: list[str], log_name: str, environment: dict[str, str]) -> None:
    log = os.open(
        places.runtime_dir() / log_name,
        os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW,
        0o600,
    )
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.chdir("/")
    for fd, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, fd)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    command = [sys.executable, "-P", "-m", *module]
    # What serves all sessions belongs to none, also if it was started inside one.
    environment.pop("HOLDFAST_SESSION", None)
    os.execve(sys.executable, command, environment)  # noqa: S606  # that is the job


def _wait() -> None:
    """Start a keeper, and another if it ended because an older one still did."""
    deadline = time.monotonic() + PATIENCE
    again_at = 0.0
    while not _answers():
        now = time.monotonic()
        if now > deadline:
            raise NoKeeper("it did not start; see keeper.log in the runtime folder")
        if now >= again_at:
            start_keeper()
            again_at = now + AGAIN
        time.sleep(_STEP)
