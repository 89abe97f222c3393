"""The names of sessions, for when the keeper cannot be asked.

Beside the socket of each session is a link whose target is its name, maintained by its
holder. A short link needs no room on a full file system. A client that cannot reach the
keeper finds a session by it, and then asks the session itself.

A second one is beside its logbook, and stays as long as that does: so a session that is
over is found by the name it had.
"""

# ruff: noqa: PTH115, PTH105, PTH108, PTH208, PTH211  # pathlib is slow to load

import os

from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

DOZING = 0o700
"""The mode of a socket behind which nobody accepts before its session is woken."""

SUFFIX = ".name"
_SOCKET = ".sock"
_PREFIX = "s_"


def keep(session: SessionId, name: str) -> None:
    """Make a session findable by this name; a full disk is no error."""
    _point(folders.session_name(session), name)
    _point(folders.session_last_name(session), name)


def _point(path: str, name: str) -> None:
    if _read(path) == name:
        return
    draft = f"{path}.new"
    _remove(draft)
    try:
        os.symlink(name, draft)
        os.replace(draft, path)
    except OSError:
        return


def drop(session: SessionId) -> None:
    """Remove the name of a session that is over."""
    _remove(folders.session_name(session))


def name_of(session: SessionId) -> str:
    """Return what a session here is called; nothing if that is not known."""
    return _read(folders.session_name(session))


def last_name(session: SessionId) -> str:
    """Return what a session was last called, also after its end; '' if not known."""
    return _read(folders.session_last_name(session))


def known() -> dict[SessionId, str]:
    """Return every session that has a socket here, and its name if that is known."""
    folder = folders.sessions_folder()
    try:
        entries = os.listdir(folder)
    except OSError:
        return {}
    return {
        SessionId(session): _read(f"{folder}/{session}{SUFFIX}")
        for entry in sorted(entries)
        if entry.startswith(_PREFIX) and entry.endswith(_SOCKET)
        for session in [entry.removesuffix(_SOCKET)]
    }


def dozes(session: SessionId) -> bool:
    """Tell whether a session says by its socket's mode that it dozes.

    A connection wakes it: a list does not.
    """
    try:
        found = os.stat(folders.session_address(session))  # noqa: PTH116  # ditto
    except OSError:
        return False
    return found.st_mode & 0o777 == DOZING


def is_there(session: SessionId) -> bool:
    """Tell whether a process listens at a session's socket; a full queue counts."""
    return is_listened_at(folders.session_address(session))


def is_listened_at(path: str) -> bool:
    """Tell whether a process listens at a socket; a full queue counts."""
    import socket  # noqa: PLC0415  # slow to load

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(0)
        try:
            link.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # Its queue is full, or who knows: it is not gone.
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _read(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
