"""The folders for which a capsule with its own files gets an overlay.

Theory of operation
-------------------
Over each *tree*, a folder that programs are used to write to, lies an overlay: what is
changed in it is kept apart. Everything else is read-only in there, so that a change is
the session's own or is refused, and never reaches the machine unseen.

An ordinary user's trees are the home, the folder that the session begins in, and the
folders for temporary files. The kernel copies no file into an overlay whose owner the
capsule does not know, nor one in such a folder: so a tree that lies in another, with a
folder of another user between them, gets its own overlay. Root's trees are the
folders at the top of the machine, but for those that show the machine itself.

An overlay shows nothing of what is mounted below it. For root a disk that is mounted in
a tree is a tree of its own; what else is mounted there is shown as it is, and is
read-only. Without root the kernel lays no overlay over a tree in which something is
mounted, because that would show what the mount hides: `in_the_way` names it.

Invariants, checked by tests/core/capsule/test_own_trees.py:

I1  A tree comes after the trees that it lies in.
I2  No tree is the root, or shows processes, devices or the kernel.
I3  No two trees are the same, and there are at most MAX_TREES.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from holdfast.core.capsule.mount_table import Mount, above, is_in

MAX_TREES = 64

TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108  # where programs have them

_MACHINE = frozenset({"/proc", "/sys", "/dev", "/run", "/boot", "/efi", "/lost+found"})
"""What shows the machine itself, or is what it starts with."""

_DISKS = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "tmpfs"}
)
"""File systems over which the kernel lays an overlay."""


class Surroundings(NamedTuple):
    """Who starts a session, and where; real paths."""

    home: str
    folder: str
    is_root: bool = False


def own_trees(
    surroundings: Surroundings,
    tops: Iterable[str],
    mounts: Iterable[Mount],
    is_ours: Callable[[str], bool],
) -> tuple[str, ...]:
    """Return the trees of a session, outer ones first.

    `tops` are the folders at the top of the machine, and `is_ours` tells whether a
    folder is there that the user may write to and owns, or that is world-writable.
    """
    if surroundings.is_root:
        wanted = [*tops, surroundings.folder]
    else:
        wanted = [
            one
            for one in (surroundings.home, surroundings.folder, *TEMPORARY)
            if one and is_ours(one)
        ]
    found: list[str] = []
    for one in sorted(set(wanted), key=_depth):
        around = _around(one, found)
        if is_of_machine(one):
            continue
        if not around or not (
            surroundings.is_root or _is_ours_between(around, one, is_ours)
        ):
            found.append(one)
    for mount in mounts if surroundings.is_root else ():
        is_fit = mount.kind in _DISKS and not is_of_machine(mount.point)
        if is_fit and mount.point not in found and _around(mount.point, found):
            found.append(mount.point)
    return tuple(sorted(found, key=_depth)[:MAX_TREES])


def in_the_way(trees: Iterable[str], mounts: Iterable[Mount]) -> str:
    """Return what is mounted in a tree, for who is not root; nothing if nothing is."""
    listed = list(trees)
    for mount in mounts:
        if any(mount.point != one and is_in(mount.point, one) for one in listed):
            return mount.point
    return ""


def is_of_machine(path: str) -> bool:
    """Tell whether a folder shows the machine itself, or is the root."""
    return path == "/" or any(is_in(path, one) for one in _MACHINE)


def tree_of(path: str, trees: Iterable[str]) -> str:
    """Return the innermost tree that a path is in; nothing if it is in none."""
    return _around(path, trees)


def _around(path: str, trees: Iterable[str]) -> str:
    return max((one for one in trees if is_in(path, one)), key=len, default="")


def _is_ours_between(tree: str, path: str, is_ours: Callable[[str], bool]) -> bool:
    between = [one for one in above((path,)) if one != tree and is_in(one, tree)]
    return all(map(is_ours, between))


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path
