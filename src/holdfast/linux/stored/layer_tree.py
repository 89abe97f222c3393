"""Layers as the kernel's overlay shows them, read without mounting anything.

A folder in a layer is shown together with those below it, unless it is opaque; a
whiteout hides what is below it. So what a path leads to is found from the top.
"""

# ruff: noqa: PTH115, PTH208  # names may be any bytes; plain strings

import os
import stat
from typing import NamedTuple

from holdfast.core.capsule.changes import Facts, Sort

_SORTS = {
    stat.S_IFREG: Sort.FILE,
    stat.S_IFDIR: Sort.FOLDER,
    stat.S_IFLNK: Sort.LINK,
    stat.S_IFIFO: Sort.PIPE,
    stat.S_IFSOCK: Sort.SOCKET,
}

_OVERLAY = ("user.overlay.", "trusted.overlay.")
"""Attributes that the kernel keeps of a layer; no program may set them."""

_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)
"""What we may not see, the session could not either."""

_OPAQUE = tuple(f"{one}opaque" for one in _OVERLAY)
_WHITEOUT = tuple(f"{one}whiteout" for one in _OVERLAY)


class Found(NamedTuple):
    """Something at a path, and where it really is."""

    real: str
    facts: Facts
    inode: tuple[int, int]
    links: int


class Folder(NamedTuple):
    """A folder as it is shown: the real ones that it is made of, the top one first."""

    parts: tuple[str, ...]

    def names(self) -> set[str]:
        """Return what is in it."""
        found: set[str] = set()
        hidden: set[str] = set()
        for part in self.parts:
            here = _names(part)
            gone = {name for name in here if is_whiteout(f"{part}/{name}")}
            found |= here - gone - hidden
            hidden |= here
        return found

    def enter(self, name: str) -> "Folder":
        """Return the folder of that name in it; one of no parts if there is none."""
        return Folder(_parts(self.parts, name))

    def look(self, name: str) -> Found | None:
        """Return what of that name is in it."""
        for part in self.parts:
            path = f"{part}/{name}"
            try:
                told = os.lstat(path)
            except _NOT_THERE:
                continue
            return None if is_whiteout(path) else _found(path, told)
        return None


def is_whiteout(path: str) -> bool:
    """Tell whether this hides what is below it."""
    told = os.lstat(path)
    if stat.S_ISCHR(told.st_mode):
        return told.st_rdev == 0
    is_empty = stat.S_ISREG(told.st_mode) and told.st_size == 0
    return is_empty and _has(path, _WHITEOUT)


def is_opaque(path: str) -> bool:
    """Tell whether what is below this folder is not shown."""
    return _has(path, _OPAQUE)


def real_folders(parts: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the folders of a name in these, whatever hides which."""
    paths = (f"{part}/{name}" for part in parts)
    return tuple(path for path in paths if _is_folder(path))


def _parts(parts: tuple[str, ...], name: str) -> tuple[str, ...]:
    found: list[str] = []
    for part in parts:
        path = f"{part}/{name}"
        if _is_folder(path):
            found.append(path)
            if is_opaque(path):
                break
        elif os.path.lexists(path):
            break
    return tuple(found)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except _NOT_THERE:
        return False


def _names(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except _NOT_THERE:
        return set()


def _found(path: str, told: os.stat_result) -> Found:
    sort = _SORTS.get(stat.S_IFMT(told.st_mode), Sort.DEVICE)
    is_link = sort is Sort.LINK
    facts = Facts(
        sort,
        0 if is_link else stat.S_IMODE(told.st_mode),
        (told.st_uid, told.st_gid),
        told.st_size if sort is Sort.FILE else 0,
        attributes(path),
        os.readlink(path) if is_link else "",
        told.st_ctime_ns,
    )
    return Found(path, facts, (told.st_dev, told.st_ino), told.st_nlink)


def attributes(path: str) -> tuple[tuple[str, bytes], ...]:
    """Return the attributes that programs have given something, by name."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return ()
    kept = sorted(one for one in names if not one.startswith(_OVERLAY))
    return tuple((one, os.getxattr(path, one, follow_symlinks=False)) for one in kept)


def _has(path: str, names: tuple[str, ...]) -> bool:
    try:
        return any(one in names for one in os.listxattr(path, follow_symlinks=False))
    except OSError:
        return False
