"""Where a path leads now, with every link followed.

Used for every line that is judged, by the process that all input goes through:
nothing here may take long, so nothing is asked of a file system that another program or
another machine serves. A path that does not exist leads to where it would be created.
What goes through /proc differs from process to process, and is not followed.
"""

import errno
import functools
import os
import re
import stat
from collections.abc import Mapping

from holdfast.linux.lookups import served
from holdfast.linux.path_walk import PathWalk
from holdfast.linux.stored import folders
from holdfast.model.policy_questions import NamedPath

MAX_ENTRIES = 4096
"""Entries of a folder that are looked at for a wildcard."""

MAX_FITTING = 256
"""Entries that may fit one: each is followed by itself."""

_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
_PROC = "/proc"
_ODD = re.compile(r"\s")
"""At what a shell cuts a name into words, where it is not quoted."""


class RealPaths:
    """Where the paths of one line lead."""

    def __init__(self, cwd: str | None, moved: Mapping[str, str]) -> None:
        self._folders: dict[str, str | None] = {**moved, "": cwd}
        try:
            self._barred: frozenset[str] | None = frozenset(served())
        except OSError:
            self._barred = None  # Who serves what is not known, so nothing is asked.

    def of(self, named: NamedPath) -> tuple[str, ...] | None:
        """Return every path that is named; None if that cannot be told.

        Nor is it told of names that a shell could cut into several words, or of which
        a program could take one for an option.
        """
        folder = self._folders.get(named.folder)
        if not named.text.startswith("/") and folder is None:
            return None
        begin = "" if named.text.startswith("/") else f"{folder}/"
        if named.tail is None:
            found = [self.real(begin + named.text)]
        else:
            found = self._entries(begin, named.text, named.tail)
        known = [path for path in found if path is not None]
        return tuple(dict.fromkeys(known)) if len(known) == len(found) else None

    def real(self, path: str) -> str | None:
        """Return where a path leads; None if that cannot be told."""
        walk = PathWalk(path.split("/"))
        try:
            while walk.advance():
                self._look(walk)
        except OSError as error:
            is_missing = error.errno in _MISSING
            return _ahead(walk.step, walk.left) if is_missing else None
        return (walk.done or "/") if walk.is_over else None

    def _look(self, walk: PathWalk) -> None:
        """Find out whether a step is a link."""
        step = walk.step
        if self._barred is None or step in self._barred:
            raise PermissionError(errno.EACCES, step)
        if step == _PROC:
            raise FileNotFoundError(errno.ENOENT, step)
        if stat.S_ISLNK(os.lstat(step).st_mode):
            walk.follow(os.readlink(step))  # noqa: PTH115  # many times a line
        else:
            walk.keep()

    def _entries(self, begin: str, text: str, tail: str) -> list[str | None]:
        """Return where the entries of a folder lead whose names fit a wildcard."""
        above, slash, head = text.rpartition("/")
        end, deeper, rest = tail.partition("/")
        folder = self.real(begin + above + slash)
        if folder is None:
            return [None]
        # Where nothing fits, the shell leaves the pattern as it stands.
        found = [f"{folder}/{head}*{end}{deeper}{rest}"]
        try:
            names = os.listdir(folder)  # noqa: PTH208  # many times a line
        except OSError as error:
            return [*found] if error.errno in _MISSING else [None]
        # Some shells pass over the case of letters, if told to.
        ends = head.lower(), end.lower()
        fitting = [one for one in names if _is_between(one.lower(), *ends)]
        is_odd = any(map(_ODD.search, fitting)) or (
            not text and any(one.startswith("-") for one in fitting)
        )
        if len(names) > MAX_ENTRIES or len(fitting) > MAX_FITTING or is_odd:
            return [None]
        # What begins with a dot may be the folder itself, or the one above.
        fitting += [one for one in (".", "..") if head and _is_between(one, *ends)]
        found += [f"{folder}/{one}{deeper}{rest}" for one in fitting]
        return [self.real(one) for one in found]


def _is_between(name: str, head: str, end: str) -> bool:
    return name.startswith(head) and name.endswith(end)


def _ahead(done: str, left: list[str]) -> str | None:
    """Return where a missing file would be created; None if that leads back."""
    rest = [part for part in reversed(left) if part not in ("", ".")]
    return None if ".." in rest else "/".join([done, *rest])


@functools.cache
def home() -> str | None:
    """Return the home folder of this user."""
    found = os.path.expanduser("~")  # noqa: PTH111  # it raises nothing
    return os.path.realpath(found) if found.startswith("/") else None


@functools.cache
def own_folders() -> tuple[str, ...]:
    """Return where holdfast keeps keys, policy, records and sockets."""
    paths = (folders.config_path(), folders.state_path(), folders.runtime_path())
    return tuple(map(os.path.realpath, paths))
