"""Everything in a folder, at one moment, in slices.

Links are listed and not followed, and nothing on another file system is looked into.
The folder is held open, so that it is the same one although the program that works in
it moves on, and is the one that the program sees, whatever is mounted there for us.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.linux.lookups import served

MAX_ENTRIES = 20_000
"""Entries of a folder that are listed: a tenth of a second of work."""

MAX_DEPTH = 32
"""Folders within folders."""

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK

TOO_MANY = f"the folder has over {MAX_ENTRIES} files"
UNSEEN = "part of the folder cannot be read"
OTHER = "part of the folder is on another file system"


class Found(NamedTuple):
    """One entry of the folder."""

    path: str
    """From the folder on; folders end in a slash."""

    stamp: tuple[int, int, int, int]
    """Inode, size, change time and mode; of a folder only inode and mode."""


def open_folder(pid: int) -> int:
    """Return the folder that a process works in, held open.

    One that another program or machine serves, or in which such a one is mounted, is
    not opened: it may never answer.

    Raises:
        OSError: It cannot be opened.

    """
    path = f"/proc/{pid}/cwd"
    folder = os.readlink(path).rstrip("/") + "/"  # noqa: PTH115  # beside os.open
    if any(_touches(folder, f"{place}/") for place in served()):
        raise OSError(errno.EOPNOTSUPP, "another program serves it")
    return os.open(path, _FLAGS)


def _touches(folder: str, place: str) -> bool:
    return folder.startswith(place) or place.startswith(folder)


def walk(fd: int) -> Iterator[Found | str]:
    """Yield everything in a folder; a text says what was not looked at, and why."""
    root = os.fstat(fd)
    waiting = [("", 0)]
    count = 0
    while waiting:
        folder, depth = waiting.pop()
        try:
            entries = os.scandir(f"/proc/self/fd/{fd}/{folder}")
        except OSError:
            yield UNSEEN
            continue
        with entries:
            for entry in entries:
                count += 1
                if count > MAX_ENTRIES:
                    yield TOO_MANY
                    return
                with contextlib.suppress(FileNotFoundError):
                    found = _found(folder, entry)
                    yield found
                    if not found.path.endswith("/"):
                        continue
                    if depth == MAX_DEPTH:
                        yield UNSEEN
                    elif entry.stat(follow_symlinks=False).st_dev != root.st_dev:
                        yield OTHER
                    else:
                        waiting.append((f"{folder}{entry.name}/", depth + 1))


def _found(folder: str, entry: "os.DirEntry[str]") -> Found:
    told = entry.stat(follow_symlinks=False)
    path = os.fsencode(folder + entry.name).decode("utf-8", "backslashreplace")
    if stat.S_ISDIR(told.st_mode):
        return Found(f"{path}/", (told.st_ino, 0, 0, told.st_mode))
    return Found(path, (told.st_ino, told.st_size, told.st_ctime_ns, told.st_mode))
