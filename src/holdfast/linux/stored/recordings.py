"""Recordings on disk: one file each, written as the session prints.

The usual folder is bounded by the settings; a file that the user names elsewhere is the
user's own. A recording that is being written is locked, and is never removed.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path

from holdfast.core.recording.retention import Bounds, KeptRecording, removable
from holdfast.linux.stored import folders
from holdfast.model.errors import MalformedArgument

SUFFIX = ".cast"


def recordings_dir() -> Path:
    """Return the usual folder, making it if need be.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    state = folders.owned(folders.state_path())
    return Path(folders.owned(f"{state}/recordings"))


class RecordingFile:
    """A recording that is being written: whole lines, locked."""

    def __init__(self, path: Path, *, replaces: bool = False) -> None:
        """Make the file.

        Raises:
            UsageError: It is there already, or cannot be made.

        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        flags |= os.O_TRUNC if replaces else os.O_EXCL
        try:
            self._fd = os.open(path, flags, 0o600)
        except OSError as error:
            why = f"a file that can be written: {error.strerror}"
            raise MalformedArgument(str(path), why) from error
        self.path = path
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def write(self, lines: list[str]) -> None:
        """Write lines, all in one.

        Raises:
            OSError: The disk is full; the last line may be cut.

        """
        rest = memoryview("".join(lines).encode("utf-8", "replace"))
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def close(self) -> None:
        """Let go of it; it may be removed from now on."""
        os.close(self._fd)


def clear_away(bounds: Bounds) -> list[str]:
    """Remove the oldest recordings from the usual folder; return their names.

    Raises:
        UsageError: The folder is not ours.

    """
    folder = recordings_dir()
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            seen = path.lstat()
            found.append(KeptRecording(path.name, seen.st_size, seen.st_mtime))
    now_wall = time.time_ns() / 1e9
    chosen = removable(found, bounds, now_wall)
    return [one.name for one in chosen if _remove(folder / one.name)]


def _remove(path: Path) -> bool:
    """Remove a recording, unless it is being written."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(fd)
        return True
    return False
