"""Our folders, and whether they belong to us alone.

A folder that another user can write to is not used: anyone who can put a socket
there can pretend to be the keeper (T44, T45). One that others can only enter is
closed to them.

Names are plain strings here, because every start of the command line and every
birth of a session needs them, and loading pathlib would cost more than all the rest.
`places` has the same and more as paths.
"""

# ruff: noqa: PTH101, PTH102, PTH110, PTH111, PTH120  # as said above

import os
import stat

from holdfast.model.ids import SessionId

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from holdfast.model.errors import HoldfastError

MAX_SOCKET_PATH = 107
"""Bytes of a path that the kernel takes for a Unix socket."""

COVER = 0o1500
"""The mode of what covers our folders in a capsule; nobody makes such a folder."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITING = stat.S_IWGRP | stat.S_IWOTH


def runtime_path() -> str:
    """Return which folder is for sockets, whether or not it is there and ours."""
    chosen = _below("HOLDFAST_RUNTIME_DIR") or _below("XDG_RUNTIME_DIR", "/holdfast")
    return chosen or f"{_home()}/.local/state/holdfast/run"


def state_path() -> str:
    """Return which folder is for what outlives reboots."""
    # A user who moved the sockets wants everything there.
    chosen = _below("HOLDFAST_STATE_DIR") or _below("HOLDFAST_RUNTIME_DIR", "/state")
    chosen = chosen or _below("XDG_STATE_HOME", "/holdfast")
    return chosen or f"{_home()}/.local/state/holdfast"


def config_path() -> str:
    """Return which folder is for operators and policy."""
    chosen = _below("HOLDFAST_CONFIG_DIR") or _below("XDG_CONFIG_HOME", "/holdfast")
    return chosen or f"{_home()}/.config/holdfast"


def owned(folder: str) -> str:
    """Return `folder`, made if it was not there, once it is known to be ours alone.

    Raises:
        UsageError: It is not, or cannot be made.

    """
    try:
        try:
            found = os.lstat(folder)
        except FileNotFoundError:
            _make(folder)
            found = os.lstat(folder)
    except OSError as error:
        raise _not_ours(folder, error.strerror or "it cannot be made") from error
    if stat.S_IMODE(found.st_mode) == COVER:
        from holdfast.model.errors import InsideCapsule  # noqa: PLC0415  # rarely needed

        raise InsideCapsule
    if not stat.S_ISDIR(found.st_mode):
        raise _not_ours(folder, "it is not a folder")
    if found.st_uid != os.getuid():
        raise _not_ours(folder, "it belongs to another user")
    if found.st_mode & _WRITING:
        raise _not_ours(folder, "others may write to it")
    if found.st_mode & _OTHERS:
        _close(folder)
    return folder


def address(folder: str, name: str) -> str:
    """Return the path of a socket in one of holdfast's folders.

    Raises:
        UsageError: It is too long.

    """
    path = f"{folder}/{name}"
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        from holdfast.model.errors import SocketPathTooLong  # noqa: PLC0415  # rarely needed

        raise SocketPathTooLong(path, MAX_SOCKET_PATH)
    return path


def keeper_address() -> str:
    """Return where the keeper listens.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return address(owned(runtime_path()), "keeper.sock")


def sessions_folder() -> str:
    """Return where the sockets of all sessions are.

    Raises:
        UsageError: The place is not ours.

    """
    return owned(f"{owned(runtime_path())}/s")


def session_address(session: SessionId) -> str:
    """Return where the holder of a session listens.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return address(sessions_folder(), f"{session}.sock")


def session_pipe(session: SessionId) -> str:
    """Return the pipe through which a session's shell says what is set in it.

    Raises:
        UsageError: The place is not ours.

    """
    return f"{owned(f'{owned(runtime_path())}/s')}/{session}.pipe"


def session_name(session: SessionId) -> str:
    """Return the link that says what a session is called.

    Raises:
        UsageError: The place is not ours.

    """
    return f"{sessions_folder()}/{session}.name"


def session_log(session: SessionId) -> str:
    """Return the file of a session's logbook.

    Raises:
        UsageError: The place is not ours.

    """
    return f"{owned(f'{owned(state_path())}/logs')}/{session}.log"


def session_last_name(session: SessionId) -> str:
    """Return the link beside a logbook that says what its session was last called.

    Raises:
        UsageError: The place is not ours.

    """
    return f"{owned(f'{owned(state_path())}/logs')}/{session}.name"


def operators_folder() -> str:
    """Return the folder with one folder for each operator known here.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return owned(f"{owned(config_path())}/operators")


def hosts_folder() -> str:
    """Return the folder with one file for each host elsewhere that we may reach.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return owned(f"{owned(config_path())}/hosts")


def config_file() -> str:
    """Return where a user's settings are, if there are any."""
    return f"{config_path()}/config.toml"


def policy_file() -> str:
    """Return where the policy is written, if there is one.

    Raises:
        UsageError: The place is not ours.

    """
    return f"{owned(config_path())}/policy.toml"


def _close(folder: str) -> None:
    """Close one of holdfast's folders that others may enter, and say so.

    People make it with `mkdir`. Nobody else could put anything there, and nothing of
    ours is in it yet that others must not read.
    """
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchmod(fd, 0o700)
        finally:
            os.close(fd)
    except OSError as error:
        raise _not_ours(folder, "others may enter it") from error
    said = f"holdfast: others could enter {folder}; they no longer can\n"
    os.write(2, os.fsencode(said))


def _make(folder: str) -> None:
    # What lies above is made ours alone too: one of those may be asked for next.
    above = os.path.dirname(folder) or "."
    if not os.path.exists(above):
        _make(above)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return  # Another process was faster; its owner is checked next.
    os.chmod(folder, 0o700)  # Whatever the umask has taken away.


def _below(variable: str, folder: str = "") -> str:
    """Return a folder in the one that a variable names; '' if it names none."""
    chosen = os.environ.get(variable)
    return f"{_plain(chosen)}{folder}" if chosen else ""


def _plain(path: str) -> str:
    # With a slash behind it, a link would be followed where it must be seen.
    return path.rstrip("/") or "/"


def _home() -> str:
    home = os.path.expanduser("~")
    if home == "~":
        raise _not_ours("~", "your home folder is not known")
    return _plain(home)


def _not_ours(folder: str, why: str) -> "HoldfastError":
    from holdfast.model.errors import PlaceNotOurs  # noqa: PLC0415  # rarely needed

    return PlaceNotOurs(folder, why)
