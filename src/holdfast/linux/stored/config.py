"""The user's settings file.

Everything that is usual is done without it: where there is none, one system call finds
that out. To read TOML takes longer to load than a session may take to be painted, so
`mentions` tells beforehand whether the file could say anything about a matter.
"""

import os
import stat

from holdfast.linux.stored import folders
from holdfast.model.settings import Settings

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from holdfast.model.toml_text import Problem

MAX_READ = 64 * 1024 + 1
"""One more than the file may have, so that a longer one is seen to be too long."""

LIMITS = (b"memory", b"cpus", b"pids")
"""Names of what limits capsules."""

OF_SESSIONS = (b"shell", b"term", b"window", b"runtime", *LIMITS)
"""Names of what applies to sessions that are started here."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def settings() -> Settings:
    """Return what is in force; what is wrong with the file has its default."""
    return examined()[0]


def mentions(*names: bytes) -> bool:
    """Tell whether the file may set one of these; where it is not sure, yes."""
    raw, why = _read(folders.config_file())
    return raw is not None and not why and any(name in raw for name in names)


def is_environment_kept() -> bool:
    """Tell whether environments of sessions are kept, to recover them with."""
    return not mentions(b"environment") or settings().keeps_environment


def examined(path: str = "") -> "tuple[Settings, tuple[Problem, ...]]":
    """Return what is in force by a file, ours if none is named, and its mistakes."""
    raw, why = _read(path or folders.config_file())
    if raw is None and not why:
        return Settings(), ()
    from holdfast.model.config_file import read_config  # noqa: PLC0415  # slow to load
    from holdfast.model.toml_text import Problem  # noqa: PLC0415  # ditto

    if raw is None:
        return Settings(), (Problem(None, "", why),)
    return read_config(raw)


def _read(path: str) -> tuple[bytes | None, str]:
    """Return what a file says, or None and why it is not to be used, if it is there."""
    try:
        # A pipe that nobody writes to is not waited for.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, error.strerror or "it cannot be opened"
    try:
        why = _unfit(os.fstat(fd))
        return (None, why) if why else (os.read(fd, MAX_READ), "")
    except OSError as error:
        return None, error.strerror or "it cannot be read"
    finally:
        os.close(fd)


def _unfit(found: os.stat_result) -> str:
    """Return why a file is not to be used; it says which shell is run."""
    if not stat.S_ISREG(found.st_mode):
        return "it is not a file"
    if found.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    return "others may write it" if found.st_mode & _OTHERS_WRITE else ""
