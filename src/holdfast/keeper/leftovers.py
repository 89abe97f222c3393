"""What is left of a session that has ended, or that never quite started.

A holder that dies before its deposit may leave a socket, a logbook and a running
command that nobody has a record of. The command has fallen to us, because orphans
do, and says in its environment whose it was.
"""

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from holdfast.linux import processes
from holdfast.linux.stored import places, recovery_places
from holdfast.linux.stored.session_names import DOZING
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId


def remove_files(session: str) -> None:
    """Remove what only a living session needs; its logbook stays as its record."""
    own = (
        places.session_socket,
        places.session_pipe,
        places.session_frozen,
        places.session_name,
    )
    _remove(SessionId(session), own)


def remove_traces(session: str) -> None:
    """Remove everything of a session that never lived."""
    remove_files(session)
    remove_record(session)
    with contextlib.suppress(OSError, HoldfastError):
        for path in places.session_log_files(SessionId(session)):
            path.unlink(missing_ok=True)


def remove_record(session: str) -> None:
    """Remove what it takes to begin a session again: it is over."""
    recovery_places.remove(SessionId(session))


def mark_dozing(session: str) -> None:
    """Say by its socket's mode that a session dozes: nobody is to knock at it.

    Its next holder takes that back. A place that is unfit is no harm: a session that
    is knocked at wakes.
    """
    with contextlib.suppress(OSError, HoldfastError):
        places.session_socket(SessionId(session)).chmod(DOZING)


def _remove(session: SessionId, kinds: Iterable[Callable[[SessionId], Path]]) -> None:
    for place in kinds:
        # Also where the place has become unfit: we live on, whatever it is like.
        with contextlib.suppress(OSError, HoldfastError):
            place(session).unlink(missing_ok=True)


def end_orphans(session: str) -> None:
    """Kill the command of a session that has no holder, and all it has started."""
    mark = f"HOLDFAST_SESSION={session}".encode()
    for pid in _children():
        with contextlib.suppress(OSError):
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if mark in variables and os.getsid(pid) == pid:
                processes.kill_session(pid)


def _children() -> list[int]:
    pid = os.getpid()
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []  # A kernel without this list cannot tell us.
    return [int(child) for child in listed.split()]
