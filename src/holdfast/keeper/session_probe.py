"""Finds running sessions: a new keeper connects to every session's socket.

A connect wakes the holder, which finds that it has no link to a keeper, and
deposits at once. A socket that refuses has nobody behind it: its session is gone,
and the socket is removed unless a holder deposits for it soon.

Behind the socket of a session that dozes nobody accepts, and to connect would wake it.
Its mode says so: there its process is waited for, and it is knocked at only if
nobody comes.
"""

import contextlib
import os
import socket
import stat
from pathlib import Path

from holdfast.linux.stored.session_names import DOZING, is_listened_at
from holdfast.model.ids import SessionId

PREFIX, SUFFIX, NAME = "s_", ".sock", ".name"


def knock(folder: Path) -> tuple[set[SessionId], set[SessionId]]:
    """Connect to every socket in `folder`; return where holders are, and may not be.

    Whatever else lies there is left alone. A holder whose queue is full is busy,
    and not gone. One that dozes is in both: it is not known.
    """
    there: set[SessionId] = set()
    gone: set[SessionId] = set()
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        found = _own(path)
        if found is None:
            continue
        session = SessionId(path.name.removesuffix(SUFFIX))
        if stat.S_IMODE(found.st_mode) == DOZING:
            there.add(session)
            gone.add(session)
        else:
            (there if is_listened_at(str(path)) else gone).add(session)
    return there, gone


def knock_at(path: Path) -> None:
    """Knock at one socket that may not be there."""
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link,
    ):
        link.settimeout(0)
        link.connect(str(path))


def remove(folder: Path, session: SessionId) -> None:
    """Remove the socket of a session that is gone, if still nobody is there."""
    path = folder / f"{session}{SUFFIX}"
    if _own(path) is not None and not is_listened_at(str(path)):
        path.unlink(missing_ok=True)
        path.with_suffix(NAME).unlink(missing_ok=True)


def _own(path: Path) -> os.stat_result | None:
    """Return the state of a session's socket; None if it is something else."""
    try:
        found = path.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
    return found if is_ours else None
