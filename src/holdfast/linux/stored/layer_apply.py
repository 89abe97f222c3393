"""Applies the changes of a layer to the machine's own files.

Each path is put in place by a rename, so that a file is the old one or the new one
a reader. Folders on the way are entered one by one, and no link is followed: what
the layers say, and what others do meanwhile, leads nowhere else.
"""

# ruff: noqa: PTH101, PTH116  # with descriptors of folders

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator

from holdfast.core.capsule.changes import Change, Facts, Sort, plan
from holdfast.linux.stored.layer_changes import Walk

DRAFT = ".holdfast-apply.new"
"""What is put in place next; what a dead one left is removed."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1024 * 1024


def apply(tree: str, walk: Walk, changes: Iterable[Change]) -> None:
    """Make these changes, by paths below the tree, which `walk` has found.

    Raises:
        OSError: One cannot be made; those before it are.

    """
    listed = list(changes)
    steps = plan(listed)
    pending = {one.path for one in listed}
    for one in steps.remove:
        with _parent(tree, one.path) as (folder, name):
            _remove(folder, name, is_folder=_was_folder(one))
    for one in steps.make:
        with _parent(tree, one.path) as (folder, name):
            _make(tree, walk, one, folder, name, pending)
        pending.discard(one.path)
    for one in steps.finish:
        with _parent(tree, one.path) as (folder, name):
            _finish(folder, name, walk.reals[one.path], one.now)


@contextlib.contextmanager
def _parent(tree: str, path: str) -> Iterator[tuple[int, str]]:
    """Have the folder that a path is in, and its name there."""
    *folders, name = path.split("/")
    fd = os.open(tree, _FOLDER)
    try:
        for one in folders:
            inner = os.open(one, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd, name
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(error.errno, f"{tree}/{path}: {why}") from error
    finally:
        os.close(fd)


def _remove(folder: int, name: str, *, is_folder: bool) -> None:
    with contextlib.suppress(FileNotFoundError):
        if is_folder:
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)


def _make(
    tree: str, walk: Walk, one: Change, folder: int, name: str, pending: set[str]
) -> None:
    now = one.now
    if now is None or now.sort is Sort.SOCKET:
        return  # A socket without its server is nothing.
    if now.sort is Sort.FOLDER:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
        return
    _remove(folder, DRAFT, is_folder=False)
    if now.sort is Sort.LINK:
        os.symlink(now.target, DRAFT, dir_fd=folder)
        os.chown(DRAFT, *now.owner, dir_fd=folder, follow_symlinks=False)
    elif now.sort is Sort.PIPE:
        os.mkfifo(DRAFT, 0o600, dir_fd=folder)
        _dress(folder, DRAFT, walk.reals[one.path], now)
    elif now.sort is Sort.FILE:
        if not _linked(tree, walk, one.path, folder, pending):
            _copy(walk.reals[one.path], folder)
            _dress(folder, DRAFT, walk.reals[one.path], now)
    else:
        raise OSError(errno.EPERM, "a device is not made")
    os.rename(DRAFT, name, src_dir_fd=folder, dst_dir_fd=folder)
    # Two names of one file, the one put over the other, stay as they are.
    _remove(folder, DRAFT, is_folder=False)


def _linked(tree: str, walk: Walk, path: str, folder: int, pending: set[str]) -> bool:
    """Give a file that is in place already one more name, if it is the same one."""
    names = next((one for one in walk.links.values() if path in one), [])
    for other in names:
        if other != path and other not in pending:
            with _parent(tree, other) as (theirs, name):
                os.link(
                    name,
                    DRAFT,
                    src_dir_fd=theirs,
                    dst_dir_fd=folder,
                    follow_symlinks=False,
                )
            return True
    return False


def _copy(real: str, folder: int) -> None:
    """Copy a file, without its holes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    source = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        made = os.open(DRAFT, flags, 0o600, dir_fd=folder)
        try:
            size = os.fstat(source).st_size
            for start, end in _pieces(source, size):
                _copy_piece(source, made, start, end)
            os.ftruncate(made, size)
            os.fsync(made)
        finally:
            os.close(made)
    finally:
        os.close(source)


def _pieces(source: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where a file has data."""
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(source, start, os.SEEK_HOLE)
        yield start, end


def _copy_piece(source: int, made: int, start: int, end: int) -> None:
    while start < end:
        piece = os.pread(source, min(_PIECE, end - start), start)
        if not piece:
            return  # It has become shorter.
        written = os.pwrite(made, piece, start)
        start += written


def _dress(folder: int, name: str, real: str, now: Facts) -> None:
    """Give something the owner, attributes, mode and times that it has in the layer."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        # By a name that leads to just this, and needs no right to open it.
        path = f"/proc/self/fd/{fd}"
        told = os.stat(path)
        if (told.st_uid, told.st_gid) != now.owner:
            os.chown(path, *now.owner)
        kept = dict(now.attributes)
        for one in os.listxattr(path):
            if one not in kept:
                os.removexattr(path, one)
        for one, value in kept.items():
            os.setxattr(path, one, value)
        os.chmod(path, now.mode)
        times = os.lstat(real)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    finally:
        os.close(fd)


def _finish(folder: int, name: str, real: str, now: Facts | None) -> None:
    if now is not None:
        _dress(folder, name, real, now)


def _was_folder(one: Change) -> bool:
    return one.before is not None and one.before.sort is Sort.FOLDER
