"""Where our sockets and files are, and whether those places are really ours.

`folders` decides whether a folder is ours, and has the few names that are needed at
every start; here all of them are paths.
"""

import os
from pathlib import Path

from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

MAX_SOCKET_PATH = folders.MAX_SOCKET_PATH
"""Bytes of a path that the kernel takes for a Unix socket."""


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
    """Return the painter's socket.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "painter.sock")


def judge_socket() -> Path:
    """Return the judge's socket.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "judge.sock")


def host_socket() -> Path:
    """Return where the host listens.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "host.sock")


def host_log() -> Path:
    """Return what the host prints into.

    Raises:
        UsageError: The place is not ours.

    """
    return runtime_dir() / "host.log"


def dozer_socket() -> Path:
    """Return where a dozer that rests is told that there is a keeper.

    Raises:
        UsageError: The place is not ours, or its path is too long.

    """
    return _checked(runtime_dir() / "dozer.sock")


def criu_dir() -> Path:
    """Return where CRIU keeps what it found out about the kernel.

    Raises:
        UsageError: The place is not ours.

    """
    return _own(runtime_dir() / "criu")


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


def session_pipe(session: SessionId) -> Path:
    """Return the pipe through which a session's shell says what is set in it."""
    return Path(folders.session_pipe(session))


def session_name(session: SessionId) -> Path:
    """Return the link that says what a session is called."""
    return Path(folders.session_name(session))


def session_frozen(session: SessionId) -> Path:
    """Return the file that says which processes of a session were stopped."""
    return session_dir() / f"{session}.frozen"


def log_dir() -> Path:
    """Return the folder of logbooks, which outlive sessions and reboots.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(_own(Path(folders.state_path())) / "logs")


def session_log(session: SessionId) -> Path:
    """Return the file of a session's logbook."""
    return log_dir() / f"{session}.log"


def session_log_files(session: SessionId) -> list[Path]:
    """Return every file that belongs to a session's logbook, the first part last.

    A removal in this order that is interrupted can still be found and finished.
    """
    first = session_log(session)
    parts = sorted(first.parent.glob(f"{first.name}.*"), reverse=True)
    states = [session_state(session, slot) for slot in (0, 1)]
    name = folders.session_last_name(session)
    names = [Path(name), Path(f"{name}.new")]
    return [*states, session_head(session), *names, *parts, first]


def session_state(session: SessionId, slot: int) -> Path:
    """Return the file of a checkpoint; there are two, which take turns."""
    return log_dir() / f"{session}.state{slot}"


def session_head(session: SessionId) -> Path:
    """Return the file with the newest head that the host has signed."""
    return log_dir() / f"{session}.head"


def config_dir() -> Path:
    """Return the folder for operators and policy, making it if need be.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(Path(folders.config_path()))


def invites_dir() -> Path:
    """Return the folder with one file for each invitation to this host.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(config_dir() / "invites")


def hosts_dir() -> Path:
    """Return the folder with one file for each host elsewhere that we may reach.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return _own(config_dir() / "hosts")


def relays_file() -> Path:
    """Return where it is written by which relays this host can be reached."""
    return config_dir() / "relays"


def policy_file() -> Path:
    """Return where the policy is written, if there is one."""
    return config_dir() / "policy.toml"


def plugin_dir() -> Path:
    """Return where plug-ins of the policy are put that are not installed with us.

    Raises:
        UsageError: The folder it lies in is not ours alone, or cannot be made.

    """
    return config_dir() / "plugins"


def runtime_path() -> Path:
    """Return which folder that is, whether or not it is there and ours."""
    return Path(folders.runtime_path())


def _own(folder: Path) -> Path:
    folders.owned(os.fspath(folder))
    return folder


def _checked(path: Path) -> Path:
    folders.address(os.fspath(path.parent), path.name)
    return path
