"""What a file contains, and when it was last changed.

The kernel records in a file's *ctime* when its content, its mode or its owner was last
changed, and nobody can set that: `touch -d` changes it to now. A name may lead to the
file over several links; each of them has a ctime of its own, and may be what somebody
put there, so each is reported.

Only regular files are opened: a pipe or a device would block us, or never end. Reading
is bounded, and a file that changed while it was read has no digest.
"""

import errno
import hashlib
import os
import stat
from collections import deque
from typing import NamedTuple

MAX_READ = 64 * 1024 * 1024
"""Bytes of a file whose digest is made: larger than any script and most programs."""

PIECE = 1024 * 1024
MAX_LINKS = 40
"""Links that are followed: as many as the kernel does."""

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class FileFact(NamedTuple):
    """A link on the way to a file, or the file itself, which comes last."""

    path: str
    kind: str
    ctime_ns: int
    size: int
    target: str
    """Where a link leads; empty for anything else."""

    digest: str
    """SHA-256 in hexadecimal digits; empty if there is none."""

    why: str
    """Why there is no digest of a plain file."""


def look(path: str) -> list[FileFact]:
    """Return every link that a name leads over, and what it comes to.

    Raises:
        OSError: There is nothing of this name, it is not for us to see, or its
            links lead round in a circle.

    """
    found: list[FileFact] = []
    place = "/"
    # Not made simpler first: `..` after a link leads to where the link leads.
    whole = path if path.startswith("/") else f"{os.getcwd()}/{path}"  # noqa: PTH109
    coming = deque(_parts(whole))
    while coming:
        name = coming.popleft()
        if name == "..":
            place = os.path.dirname(place)  # noqa: PTH120
            continue
        here = os.path.join(place, name)  # noqa: PTH118
        seen = os.lstat(here)
        if not stat.S_ISLNK(seen.st_mode):
            place = here
            continue
        target = os.readlink(here)  # noqa: PTH115
        found.append(_fact(here, seen, target=target))
        if len(found) > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        place = "/" if target.startswith("/") else place
        coming.extendleft(reversed(_parts(target)))
    found.append(_end(place))
    return found


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _end(path: str) -> FileFact:
    seen = os.lstat(path)
    if not stat.S_ISREG(seen.st_mode):
        return _fact(path, seen)
    if seen.st_size > MAX_READ:
        return _fact(path, seen, why=f"it is larger than {MAX_READ} bytes")
    try:
        fd = os.open(path, _FLAGS)
    except OSError as error:
        return _fact(path, seen, why=error.strerror or "it cannot be read")
    try:
        before = os.fstat(fd)
        digest = _digest(fd)
        after = os.fstat(fd)
    except OSError as error:
        return _fact(path, seen, why=error.strerror or "it cannot be read")
    finally:
        os.close(fd)
    is_same = digest and _state(before) == _state(after) == _state(seen)
    if not is_same:
        return _fact(path, after, why="it changed while it was read")
    return _fact(path, after, digest=digest)


def _digest(fd: int) -> str:
    """Return the digest of a file; nothing if it has grown too large."""
    made, left = hashlib.sha256(), MAX_READ
    while piece := os.read(fd, PIECE):
        left -= len(piece)
        if left < 0:
            return ""
        made.update(piece)
    return made.hexdigest()


def _state(seen: os.stat_result) -> tuple[int, ...]:
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _fact(
    path: str,
    seen: os.stat_result,
    *,
    target: str = "",
    digest: str = "",
    why: str = "",
) -> FileFact:
    kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "other")
    return FileFact(path, kind, seen.st_ctime_ns, seen.st_size, target, digest, why)
