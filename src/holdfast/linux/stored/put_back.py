"""Checks the files that an image has open, and puts its copies back.

Who had the files may have put links on the way since: to one of holdfast's own folders,
for instance, which a capsule cannot see and which we could be made to write to. So no
link is followed, and nothing below those folders is touched.

What is there is kept beside what is put back, under a name of its own. If the session
does not go on after all, everything is put back once more.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.core.capsule.open_files import Found, is_read_again
from holdfast.linux.capsule.opened_files import digest_of
from holdfast.model.errors import FileNotPutBack
from holdfast.model.text import printable
from holdfast.wire.image_manifest import OpenFile

TRIES = 100
"""Names that are tried for what is kept."""

_CHUNK = 1024 * 1024
_ENTER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PutBack(NamedTuple):
    """A file that was put back."""

    path: str
    kept: str
    """The name, in the same folder, of what was there; empty if nothing was."""

    mark: tuple[int, int, int]
    """By which we know whether it is still what we put there."""


def looked_at(opened: Iterable[OpenFile]) -> dict[str, Found]:
    """Return what those files are now; without what is not there, or is no file."""
    found = {}
    for one in opened:
        with contextlib.suppress(OSError), _folder_of(one.path, ()) as (folder, name):
            fd = os.open(name, _READ, dir_fd=folder)
            try:
                facts = os.fstat(fd)
                if stat.S_ISREG(facts.st_mode):
                    is_read = is_read_again(one, facts.st_size)
                    digest = digest_of(fd, one.size) if is_read else b""
                    found[one.path] = Found(facts.st_size, facts.st_mtime_ns, digest)
            finally:
                os.close(fd)
    return found


def put_back(
    images: str, files: Iterable[OpenFile], hidden: Sequence[str], life: int
) -> list[PutBack]:
    """Put copies back that lie below `images`; what is there is kept beside them.

    Nothing below the folders `hidden` is touched. `life` is for the names of what is
    kept.

    Raises:
        UsageError: One cannot be put back; then none is.

    """
    done: list[PutBack] = []
    try:
        for one in files:
            try:
                done.append(_put(f"{images}/{one.copy}", one, hidden, life))
            except OSError as error:
                why = error.strerror or str(error)
                raise FileNotPutBack(printable(one.path), why) from error
    except FileNotPutBack:
        undo(done, hidden)
        raise
    return done


def undo(done: Iterable[PutBack], hidden: Sequence[str]) -> None:
    """Have there again what was there, where nobody has changed anything since."""
    for one in done:
        with contextlib.suppress(OSError), _folder_of(one.path, hidden) as (at, name):
            if _mark(os.stat(name, dir_fd=at, follow_symlinks=False)) != one.mark:
                continue
            if one.kept:
                os.rename(one.kept, name, src_dir_fd=at, dst_dir_fd=at)
            else:
                os.unlink(name, dir_fd=at)


def kept_beside(path: str, life: int) -> list[str]:
    """Return what was kept beside a file when that life of its session was begun."""
    folder, _, name = path.rpartition("/")
    try:
        names = os.listdir(folder or "/")  # noqa: PTH208  # a string here
    except OSError:
        return []
    tried = [_kept_name(name, life, number) for number in range(TRIES)]
    return [f"{folder}/{one}" for one in tried if one in names]


def _put(copy: str, one: OpenFile, hidden: Sequence[str], life: int) -> PutBack:
    with _folder_of(one.path, hidden) as (folder, name):
        draft = f"{_cut(name)}.putting-back-{life}"
        source = os.open(copy, _READ)
        try:
            made = os.open(draft, _MAKE, 0o600, dir_fd=folder)
            try:
                _fill(made, source)
                _dress(made, one, name, folder)
                os.fsync(made)
                kept = _keep(name, folder, life)
                os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                os.unlink(draft, dir_fd=folder)
                raise
            finally:
                os.close(made)
        finally:
            os.close(source)
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        return PutBack(one.path, kept, _mark(facts))


def _keep(name: str, folder: int, life: int) -> str:
    """Give what is there a second name; none if there is nothing."""
    for number in range(TRIES):
        kept = _kept_name(name, life, number)
        try:
            os.link(
                name, kept, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False
            )
        except FileNotFoundError:
            return ""
        except FileExistsError:
            continue
        return kept
    first = _kept_name(name, life, 0)
    raise FileExistsError(errno.EEXIST, f"{first} and others are there")


def _dress(made: int, one: OpenFile, name: str, folder: int) -> None:
    """Give it the owner of what is there, where we may, and the mode that it had."""
    with contextlib.suppress(OSError):
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        os.fchown(made, facts.st_uid, facts.st_gid)
    # Another user's file mode is not restored together with content from an image.
    os.fchmod(made, one.mode & 0o777)


def _fill(made: int, source: int) -> None:
    while piece := os.read(source, _CHUNK):
        if os.write(made, piece) != len(piece):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def _folder_of(path: str, hidden: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Open the folder of a file by a way without links, and not through `hidden`."""
    ours = [os.stat(one) for one in hidden]  # noqa: PTH116  # a string here
    *above, name = path.split("/")[1:]
    folder = os.open("/", _ENTER)
    try:
        for word in above:
            below = os.open(word, _ENTER, dir_fd=folder)
            os.close(folder)
            folder = below
            facts = os.fstat(folder)
            if any(os.path.samestat(facts, one) for one in ours):
                raise PermissionError(errno.EPERM, "it lies in a folder of holdfast's")
        yield folder, name
    finally:
        os.close(folder)


def _kept_name(name: str, life: int, number: int) -> str:
    return f"{_cut(name)}.before-{life}" + (f".{number}" if number else "")


def _cut(name: str) -> str:
    """Leave room for what is added: a name has 255 bytes."""
    return os.fsdecode(os.fsencode(name)[:220])


def _mark(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_dev, facts.st_ino, facts.st_mtime_ns
