"""What is behind a path now: which file, changed when, with which content.

The caller is the process that all input goes through, so nothing here may take
long. Only regular files are opened, only small ones are digested, and a digest is kept
for as long as the file's identity, size and times stay the same. Nothing is asked of a
file system that another program or another machine serves: a server that does not
answer would block us, and any program may start one.

We follow each link on the way ourselves, because the author of a link has chosen the
file. Renaming a folder on the way does not show.
"""

import contextlib
import hashlib
import os
import stat
from collections import OrderedDict
from collections.abc import Callable

from holdfast.core.provenance.line_resolution import Found, Unseen
from holdfast.linux.path_walk import PathWalk

MAX_DIGESTED = 4 * 1024 * 1024
"""Bytes of a file that is digested, which takes some ten milliseconds at worst."""

MAX_TOGETHER = 2 * MAX_DIGESTED
"""Bytes digested for one line: the rest have no digest until they are asked again."""

MAX_KEPT = 256
"""Digests kept: the programs that people use in a day."""

HEAD = 128
"""Bytes read of every file that is run: enough for a `#!` line."""

_SERVED = ("fuse", "nfs", "cifs", "smb", "9p", "afs", "ceph", "autofs", "glusterfs")
_RUNNABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_MOUNTS = "/proc/self/mountinfo"
_PART = 1024 * 1024

Key = tuple[int, int, int, int, int]


class Digests:
    """Digests of files that were looked at lately."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[bytes, bytes]] = OrderedDict()

    def lookup(self, cwd: str | None) -> Callable[[str], Found | Unseen | None]:
        """Return how to look at files for one line, entered in `cwd`."""
        try:
            return _Lookup(self, cwd, served()).look
        except OSError:
            return _unseen  # Who serves what is not known, so nothing is asked.

    def folders(self, cwd: str | None, paths: list[str]) -> dict[str, str | None]:
        """Return where folders lead, every link followed; None if nobody can tell."""
        try:
            lookup = _Lookup(self, cwd, served())
        except OSError:
            return {}
        return {path: lookup.folder(path) for path in paths}

    def of(self, path: str, found: os.stat_result, room: int) -> tuple[bytes, bytes]:
        """Return how a file begins, and its digest if it has room."""
        key = _key(found)
        if (known := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return known
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if _key(os.fstat(fd)) != key:
                return b"", b""  # It was replaced between our two looks.
            head = os.pread(fd, HEAD, 0)
            if found.st_size > min(room, MAX_DIGESTED):
                return head, b""
            digest = _digest(fd, found.st_size)
            if _key(os.fstat(fd)) != key:
                return head, b""
        finally:
            os.close(fd)
        self._kept[key] = (head, digest)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return head, digest


class _Lookup:
    """Looks at the files of one line."""

    def __init__(self, digests: Digests, cwd: str | None, barred: list[str]) -> None:
        self._digests = digests
        self._cwd = cwd
        self._barred = barred
        self._room = MAX_TOGETHER
        self._gone: set[str] = set()
        self._folders: dict[str, tuple[str, tuple[int, ...]] | None] = {}

    def look(self, path: str) -> Found | Unseen | None:
        if not path.startswith("/"):
            if self._cwd is None:
                return Unseen()
            path = f"{self._cwd}/{path}"
        try:
            return self._follow(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            return Unseen()

    def folder(self, path: str) -> str | None:
        """Return where a folder is, every link followed; None if it is none."""
        if not path.startswith("/"):
            if self._cwd is None:
                return None
            path = f"{self._cwd}/{path}"
        try:
            found = self._walk("", path.split("/"))
            if found is None or not stat.S_ISDIR(os.lstat(found[0] or "/").st_mode):
                return None
        except (OSError, ValueError):
            return None
        return found[0] or "/"

    def _follow(self, path: str) -> Found | Unseen | None:
        folder, _, name = path.rpartition("/")
        if folder in self._gone:
            return None
        if folder not in self._folders:
            try:
                self._folders[folder] = self._walk("", folder.split("/"))
            except (FileNotFoundError, NotADirectoryError):
                self._gone.add(folder)
                return None
        done = self._folders[folder]
        found = None if done is None else self._walk(done[0], [name], done[1])
        return Unseen() if found is None else self._found(*found)

    def _walk(
        self, done: str, parts: list[str], changed: tuple[int, ...] = ()
    ) -> tuple[str, tuple[int, ...]] | None:
        """Return where a path leads, and when each link on it was made.

        None if it leads to where nobody may look, or in a circle.
        """
        walk = PathWalk(parts, done)
        while walk.advance():
            if walk.step in self._barred:
                return None
            found = os.lstat(walk.step)
            if not stat.S_ISLNK(found.st_mode):
                walk.keep()
                continue
            changed = (*changed, found.st_ctime_ns // 1_000_000)
            walk.follow(os.readlink(walk.step))  # noqa: PTH115  # many times a line
        return (walk.done, changed) if walk.is_over else None

    def _found(self, path: str, links: tuple[int, ...]) -> Found | None:
        found = os.lstat(path or "/")
        if not stat.S_ISREG(found.st_mode):
            return None
        changed = (*links, found.st_ctime_ns // 1_000_000)
        head, digest = b"", b""
        with contextlib.suppress(PermissionError):  # It can be run all the same.
            head, digest = self._digests.of(path, found, self._room)
        self._room -= found.st_size if digest else 0
        is_executable = bool(found.st_mode & _RUNNABLE) and os.access(path, os.X_OK)
        return Found(path, is_executable, changed, head, digest)


def _unseen(path: str) -> Unseen:
    del path
    return Unseen()


def served() -> list[str]:
    """Return the mount points of file systems that another program serves."""
    with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123  # many times a line
        return [place for line in file if (place := _served(line)) is not None]


def _served(line: str) -> str | None:
    before, _, after = line.partition(" - ")
    kind = after.split(" ", 1)[0]
    if not kind.startswith(_SERVED):
        return None
    place = before.split(" ")[4]
    for escape, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n")):
        place = place.replace(escape, plain)
    # Where everything is served nothing is worse than anything else.
    return None if place == "/" else place.replace("\\134", "\\")


def _digest(fd: int, size: int) -> bytes:
    digest, at = hashlib.sha256(), 0
    while at < size:
        part = os.pread(fd, _PART, at)
        if not part:
            break
        digest.update(part)
        at += len(part)
    return digest.digest()[:16]


def _key(found: os.stat_result) -> Key:
    return (
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
