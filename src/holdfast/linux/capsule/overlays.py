"""Mounts overlays over the trees of a capsule with its own files.

What is changed in a tree goes into a folder of our layer store; all other mounts of
the machine become read-only. Every folder that an overlay is made of is opened before
the first is laid, because a tree may lie in another, and is named by its descriptor,
because the kernel's options have no room for some characters.

The kernel refuses to keep an overlay's changes in a folder below it, and our store
lies in the home. It looks at the folders of one file system. So a first overlay, which
only shows the tree, comes between: what is in it is on another file system.

Disks come and go, also while this is done. A tree that is gone gets no overlay if
nothing was changed in it; a mount that is gone needs not be made read-only.
"""

# ruff: noqa: PTH102, PTH112, PTH123, PTH208
# Plain strings: this is done at every start of a capsule.

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.core.capsule.mount_table import Mount
from holdfast.core.capsule.own_trees import is_of_machine, tree_of
from holdfast.linux.capsule.namespaces import (
    BIND,
    NO_DEVICES,
    NO_EXEC,
    NO_SUID,
    READ_ONLY,
    mount,
    restrict,
    unmount,
)

_OPEN = os.O_PATH | os.O_CLOEXEC
_STAGE = "/run"
"""Where we mount for a moment; each capsule gets a /run of its own later."""

_FORM = "index=off,metacopy=off,redirect_dir=nofollow"
"""One form of what is kept, on every kernel and whatever is usual there: a folder that
is renamed is copied, and a file is kept whole."""


class Layered(NamedTuple):
    """A tree, and where what is changed in it is kept; real paths."""

    tree: str
    lowers: tuple[str, ...]
    """Layers that do not change any more, the lowest first; below them the machine's
    own files."""

    upper: str
    work: str
    """A folder that the kernel needs, on the same disk."""

    def is_changed(self) -> bool:
        """Tell whether anything was changed in the tree."""
        return any(os.listdir(path) for path in (*self.lowers, self.upper))


class OverlayRefused(OSError):
    """The kernel does not lay an overlay over a tree."""


def lay(
    layers: Iterable[Layered],
    mounts: Iterable[Mount],
    served: Iterable[str] = (),
    *,
    is_root: bool,
) -> None:
    """Lay overlays over these trees, outer ones first; nothing else can be changed.

    `served` are sockets that programs outside listen at: an overlay would show others
    in their place, at which nobody does.

    Raises:
        OverlayRefused: A tree, which is named, cannot be had that way.
        OSError: Something else cannot be mounted.

    """
    with contextlib.ExitStack() as held:
        shown = (*(one.point for one in mounts), *served)
        points = {one: _held(one, held) for one in shown}
        opened = (_open(one, held) for one in layers)
        parts = {one.at: one for one in opened if one is not None}
        mount("tmpfs", _STAGE, "tmpfs", NO_SUID | NO_DEVICES, "mode=700")
        os.mkdir(f"{_STAGE}/empty")
        for number, one in enumerate(parts.values()):
            _lay(one, f"{_STAGE}/{number}", is_root=is_root)
            for point, fd in points.items():
                is_here = tree_of(point, parts) == one.at and point not in parts
                if is_here and fd is not None:
                    _show_again(point, fd)
        unmount(_STAGE)
        for point, fd in points.items():
            if fd is not None and (point == "/" or not is_of_machine(point)):
                _close(point, fd)


class _Parts(NamedTuple):
    """What one overlay is made of, by names that nothing laid meanwhile changes."""

    at: str
    tree: str
    sealed: list[str]
    """The newest first, as the kernel wants them."""

    upper: str
    work: str
    is_changed: bool
    """Whether the session has changed something in it."""


def _open(one: Layered, held: contextlib.ExitStack) -> _Parts | None:
    """Open what an overlay is made of; None if its tree is gone, and not missed."""
    is_changed = one.is_changed()
    try:
        tree = _opened(one.tree, held)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not is_changed:
            return None
        why = "it is gone, and the session has changed something in it"
        raise OverlayRefused(error.errno, why, one.tree) from None
    return _Parts(
        one.tree,
        tree,
        [_opened(path, held) for path in reversed(one.lowers)],
        _opened(one.upper, held),
        _opened(one.work, held),
        is_changed,
    )


def _lay(one: _Parts, stage: str, *, is_root: bool) -> None:
    flags = NO_DEVICES | os.statvfs(one.tree).f_flag & (NO_SUID | NO_EXEC)
    form = _FORM if is_root else f"{_FORM},userxattr"
    kept = f"upperdir={one.upper},workdir={one.work},{form}"
    with _refusing(one.at, is_changed=one.is_changed):
        try:
            lower = ":".join([*one.sealed, one.tree])
            mount("overlay", one.at, "overlay", flags, f"lowerdir={lower},{kept}")
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            os.mkdir(stage)
            shown = f"lowerdir={one.tree}:{_STAGE}/empty,{form}"
            mount("overlay", stage, "overlay", flags | READ_ONLY, shown)
            lower = ":".join([*one.sealed, stage])
            mount("overlay", one.at, "overlay", flags, f"lowerdir={lower},{kept}")
        # It is read-only, without a word, if what a dead one left cannot be cleared.
        if os.statvfs(one.at).f_flag & READ_ONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))


@contextlib.contextmanager
def _refusing(tree: str, *, is_changed: bool) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not is_changed and not os.path.isdir(tree):
            return  # It is gone since it was opened.
        why = error.strerror or os.strerror(error.errno or 0)
        raise OverlayRefused(error.errno, why, tree) from None


def _show_again(point: str, fd: int) -> None:
    """Show what was mounted below a tree, which the overlay has covered."""
    try:
        mount(_name(fd), point, None, BIND)
        restrict(point, READ_ONLY)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError:
        if _is_mounted(fd):
            raise


def _close(point: str, fd: int) -> None:
    restrict(_name(fd), READ_ONLY)
    if not os.fstatvfs(fd).f_flag & READ_ONLY and _is_mounted(fd):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), point)


def _is_mounted(fd: int) -> bool:
    """Tell whether what was mounted is still there for others to reach."""
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as file:
        number = next(line.split()[1] for line in file if line.startswith("mnt_id:"))
    with open("/proc/self/mountinfo", "rb") as file:
        return any(line.startswith(f"{number} ".encode()) for line in file)


def _opened(path: str, held: contextlib.ExitStack) -> str:
    fd = os.open(path, _OPEN | os.O_DIRECTORY)
    held.callback(os.close, fd)
    return _name(fd)


def _held(path: str, held: contextlib.ExitStack) -> int | None:
    """Return a descriptor of what is mounted somewhere; None if we cannot reach it."""
    try:
        fd = os.open(path, _OPEN)
    except OSError:
        return None
    held.callback(os.close, fd)
    return fd


def _name(fd: int) -> str:
    return f"/proc/self/fd/{fd}"
