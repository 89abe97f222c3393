"""Finds running sessions: a new keeper connects to every session's socket.

A connect wakes the holder, which finds that it has no link to a keeper, and
deposits at once. A socket that refuses has nobody behind it: its session is gone,
and the socket is removed unless somebody deposits for it in a while.
"""

import os
import socket
import stat
from pathlib import Path

from holdfast.model.ids import SessionId

PREFIX, SUFFIX, NAME = "s_", ".sock", ".name"


def knock(folder: Path) -> tuple[set[SessionId], set[SessionId]]:
    """Knock at every socket in `folder`; return where somebody is, and where not.

    Whatever else lies there is left alone. A holder whose queue is full is busy,
    and not gone.
    """
    there: set[SessionId] = set()
    gone: set[SessionId] = set()
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        if _is_ours(path):
            session = SessionId(path.name.removesuffix(SUFFIX))
            (there if is_somebody_at(path) else gone).add(session)
    return there, gone


def is_somebody_at(path: Path) -> bool:
    """Tell whether somebody listens at a socket; a doubt counts as yes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(0)
        try:
            link.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True


def remove(folder: Path, session: SessionId) -> None:
    """Remove the socket of a session that is gone, if still nobody is there."""
    path = folder / f"{session}{SUFFIX}"
    if _is_ours(path) and not is_somebody_at(path):
        path.unlink(missing_ok=True)
        path.with_suffix(NAME).unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
