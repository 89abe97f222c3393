"""Finds the folders for which a session with its own files gets overlays."""

# ruff: noqa: PTH111, PTH123, PTH208  # plain strings, as for all capsules

import os
import stat

from holdfast.core.capsule.mount_table import read_mounts
from holdfast.core.capsule.own_trees import Surroundings, in_the_way, own_trees
from holdfast.linux import exec_filter
from holdfast.model.errors import NoOwnFiles


def trees_for(folder: str) -> tuple[str, ...]:
    """Return the trees of a session that begins in a folder, by their real paths.

    Raises:
        Unavailable: One has a name that is not UTF-8, or something is mounted in it.

    """
    home = os.path.realpath(os.path.expanduser("~"))
    surroundings = Surroundings(
        home, os.path.realpath(folder or "/"), exec_filter.is_privileged()
    )
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as on:
        mounts = read_mounts(on.read())
    seen = [one for one in mounts if _is_folder(one.point)]
    trees = own_trees(surroundings, _tops(), seen, _is_ours)
    if not surroundings.is_root and (point := in_the_way(trees, mounts)):
        raise NoOwnFiles(f"{point} is mounted in a folder that needs an overlay")
    for one in trees:
        try:
            one.encode()
        except UnicodeEncodeError:
            raise NoOwnFiles(f"{one!r} has a name that is not UTF-8") from None
    return trees


def _tops() -> list[str]:
    found = (f"/{name}" for name in os.listdir("/"))
    return [one for one in found if _is_folder(one)]


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_ours(path: str) -> bool:
    """Tell whether a folder is writable for this user, or for all users."""
    try:
        told = os.lstat(path)
    except OSError:
        return False
    is_shared = told.st_mode & stat.S_ISVTX and told.st_mode & stat.S_IWOTH
    return stat.S_ISDIR(told.st_mode) and bool(told.st_uid == os.getuid() or is_shared)
