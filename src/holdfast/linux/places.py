"""Where do our sockets and files live, and are those places really ours?

A place that another user can write to is not used: whoever can put a socket
there can pretend to be the keeper (T44, T45).
"""

import os
import stat
from pathlib import Path

from holdfast.model.errors import PlaceNotOurs, SocketPathTooLong
from holdfast.model.ids import SessionId

MAX_SOCKET_PATH = 107
"""Bytes of a path that the kernel takes for a Unix socket."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def runtime_dir() -> Path:
    """Return the folder for sockets, making it if need be.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(runtime_path())


def keeper_socket() -> Path:
    """Return where the keeper listens.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "keeper.sock")


def painter_socket() -> Path:
    """Return where whoever needs a screen finds the painter.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "painter.sock")


def host_socket() -> Path:
    """Return where the host listens.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "host.sock")


def session_dir() -> Path:
    """Return the folder with one socket and one log for each session.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(runtime_dir() / "s")


def session_socket(session: SessionId) -> Path:
    """Return where the holder of a session listens.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(session_dir() / f"{session}.sock")


def session_frozen(session: SessionId) -> Path:
    """Return the file that says what of a session was made to stand still."""
    return session_dir() / f"{session}.frozen"


def log_dir() -> Path:
    """Return the folder of logbooks, which outlive sessions and reboots.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(_own(_state_path()) / "logs")


def session_log(session: SessionId) -> Path:
    """Return the file of a session's logbook."""
    return log_dir() / f"{session}.log"


def session_head(session: SessionId) -> Path:
    """Return the file with the newest head that the host has signed."""
    return log_dir() / f"{session}.head"


def config_dir() -> Path:
    """Return the folder for operators and policy, making it if need be.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(_config_path())


def operators_dir() -> Path:
    """Return the folder with one folder for each operator known here.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(config_dir() / "operators")


def policy_file() -> Path:
    """Return where the policy is written, if there is one."""
    return config_dir() / "policy.toml"


def _state_path() -> Path:
    chosen = os.environ.get("HOLDFAST_STATE_DIR")
    if chosen:
        return Path(chosen)
    # Whoever chose another place for the sockets wants nothing to be elsewhere.
    runtime = os.environ.get("HOLDFAST_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "state"
    xdg = os.environ.get("XDG_STATE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".local" / "state") / "holdfast"


def _config_path() -> Path:
    chosen = os.environ.get("HOLDFAST_CONFIG_DIR")
    if chosen:
        return Path(chosen)
    xdg = os.environ.get("XDG_CONFIG_HOME")
    return (Path(xdg) if xdg else Path.home() / ".config") / "holdfast"


def runtime_path() -> Path:
    """Return which folder that is, whether or not it is there and ours."""
    chosen = os.environ.get("HOLDFAST_RUNTIME_DIR")
    if chosen:
        return Path(chosen)
    xdg = os.environ.get("XDG_RUNTIME_DIR")
    if xdg:
        return Path(xdg) / "holdfast"
    return Path.home() / ".local" / "state" / "holdfast" / "run"


def _own(folder: Path) -> Path:
    try:
        if not folder.is_symlink() and not folder.exists():
            _make(folder)
        found = folder.lstat()
    except OSError as error:
        raise PlaceNotOurs(
            str(folder), error.strerror or "it cannot be made"
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise PlaceNotOurs(str(folder), "it is not a folder")
    if found.st_uid != os.getuid():
        raise PlaceNotOurs(str(folder), "it belongs to somebody else")
    if found.st_mode & _OTHERS:
        raise PlaceNotOurs(str(folder), "others may enter it")
    return folder


def _make(folder: Path) -> None:
    # What lies above is made ours alone too: one of those may be asked for next.
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)  # Whatever the umask has taken away.


def _checked(path: Path) -> Path:
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise SocketPathTooLong(str(path), MAX_SOCKET_PATH)
    return path
