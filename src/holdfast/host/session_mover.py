"""Has a session of this host moved to another, by a process of its own.

The process is `holdfast move`, in the name of who asks, who needs the right `move` on
the session like anyone. If it is killed, the next that is asked finishes what it began
(core/capsule/move_order.py).
"""

import asyncio
import contextlib
import json
import os
import sys
from typing import NamedTuple

from holdfast.host.guests import Guest
from holdfast.model.errors import HoldfastError, MoveFailed
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of
from holdfast.model.text import printable
from holdfast.wire.host_requests import error_from

TIMEOUT = 60.0
"""Seconds that a move tries before the session goes on here again."""

SLACK = 60.0
"""Seconds beyond that in which it must have ended: one last answer is waited for."""

MAX_WHY = 500


class MovedSession(NamedTuple):
    """A session that goes on elsewhere, as the process reports it."""

    session: str = ""
    name: str = ""
    host: str = ""
    incarnation: int = 0
    size: int = 0
    silent_ms: int = 0


async def move(
    guest: Guest, session: SessionId, to: str, seconds: float = TIMEOUT
) -> MovedSession:
    """Have a session go on at the host that is called `to` here.

    Raises:
        HoldfastError: It did not, and why: it goes on here, or is on disk.
        TimeoutError: The process hung; the next that is asked finishes it.

    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "holdfast", "move", "--json"),
        *("--timeout", f"{seconds:.0f}", "--", session, to),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "HOLDFAST_AS": guest.enrolled.actor.name},
    )
    try:
        async with asyncio.timeout(seconds + SLACK):
            said, trouble = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            if process.returncode is None:
                process.kill()
    if process.returncode == 0:
        return record_of(MovedSession, json.loads(said))
    raise _error(trouble) or MoveFailed(session, to, _last_line(trouble))


def _error(trouble: bytes) -> HoldfastError | None:
    """Return what the process has failed with; None if it does not say."""
    for line in trouble.decode(errors="replace").splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return error_from(json.loads(line)["error"])
    return None


def _last_line(trouble: bytes) -> str:
    lines = trouble.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    return printable(lines[-1], MAX_WHY)
