"""How is a process killed in the midst of something?

A kill cannot be aimed at a line of code from outside, so each one is aimed twice:
at a process that is stopped with the request before it, which dies having seen
nothing of it; and at a sweep of moments after the request, which meets the
handling of it somewhere.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.scenarios import witness
from tests.scenarios.proving import proven
from tests.scenarios.support import Machine, eventually

from holdfast.client import host
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

OURS = ("keeper", "nursery", "holder", "painter", "host")

STOPPED = None
"""The moment before: stopped, asked, killed."""

_SWEEP = (STOPPED, 0.0, 0.0003, 0.0007, 0.001, 0.002, 0.004, 0.007)
"""Seconds from the request to the kill. Handling any takes a few milliseconds."""

READER = (
    'stty -echo; echo ready; while IFS= read -r x; do echo "$x" >>"$0"; echo "$x"; done'
)
"""A program that writes down what it reads, where nothing of ours can add to it."""


def moments(victim: str) -> tuple[float | None, ...]:
    """Return when to kill; fewer times where another is started only after a while."""
    return _SWEEP if victim in ("keeper", "holder") else _SWEEP[::3]


def asked(*command: str, name: str | None = None) -> dict[str, object]:
    """Return the request for a session whose processes can be told from others."""
    env = {"PATH": os.environ["PATH"], witness.MARK: witness.mark()}
    ask = {"do": "create", "command": list(command), "cwd": "/", "env": env}
    return proven({**ask, "size": [80, 24], "name": name})


def start(here: Machine, *command: str) -> SessionId:
    """Start a session, as soon as there is somebody to make it."""

    def made() -> str | None:
        answer = here.ask(**asked(*command))
        assert answer["ok"] or answer["code"] == "no-keeper", answer
        return str(answer["id"]) if answer["ok"] else None

    return SessionId(eventually("a session", made))


def reader(here: Machine, folder: Path) -> tuple[SessionId, Path]:
    """Start a READER; return its session, and the file of what it has read."""
    read = folder / "read"
    read.touch()
    return start(here, "sh", "-c", READER, str(read)), read


def sessions(here: Machine) -> list[packets.Packet]:
    """Return what the keeper lists."""
    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    return listed


def victim_of(here: Machine, victim: str, session: SessionId) -> int:
    """Return the pid of a living victim, once all the others are well."""

    def living() -> int | None:
        here.wait_whole(session)
        pid = _pid(here, victim, session)
        return None if witness.is_dead(pid) else pid

    return eventually(f"there is a {victim}", living)


def _pid(here: Machine, victim: str, session: SessionId) -> int:
    match victim:
        case "painter":
            with packets.connect(places.painter_socket(), 20) as link:
                link.send(b"?")  # No request: it hangs up, and lives.
                link.recv(10)
            found = here.ask(do="status")["painter"]
        case "host":
            found = host.start().pid
        case _:
            found = here.pid(victim, session)
    assert isinstance(found, int)
    assert found > 0
    return found


def kill_amid(
    pid: int, moment: float | None, request: Callable[..., object], *what: object
) -> None:
    """Make the request, and kill the process before or while it deals with it."""
    if moment is STOPPED:
        os.kill(pid, signal.SIGSTOP)
        request(*what)
    else:
        request(*what)
        time.sleep(moment)
    kill(pid)


def kill(pid: int) -> None:
    """Kill a process that may be dead already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
