"""The files of an image's folder: found, hashed and synced, and no link followed.

A folder may hold anything: links, pipes that block a reader, devices, files
without end, folders without bottom. So each thing is looked at before it is opened,
opened so that it can neither lead elsewhere nor wait, and looked at again; nothing is
read that has not the size it should have.
"""

import ctypes
import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping

from holdfast.core.capsule.manifest import MANIFEST, FoundFile
from holdfast.linux.libc import libc
from holdfast.linux.stored.bulk_check import BULK, PIECE, digest_of
from holdfast.model.errors import ImageDamaged
from holdfast.wire.image_manifest import MAX_FILES

CHUNK = 1024 * 1024
"""Bytes read at once: hashing is as fast with more."""

AT_ONCE = 256
"""Files that are made durable together; fewer than may be open."""

_BEGIN = 2
"""SYNC_FILE_RANGE_WRITE."""

MAX_DEPTH = 4
"""Folders within one another, as in the names of a manifest."""

COPIED_AT_ONCE = 64 * 1024 * 1024
_NOT_THAT_WAY = frozenset(
    {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def found_files(
    folder: int, sizes: Mapping[str, int], later: Mapping[str, bytes] | None = None
) -> Iterator[FoundFile]:
    """Return everything below a folder but its manifest, hashed where the size fits.

    Of those in `later` the hash is taken for what is said there: somebody else looks.

    Raises:
        PeerError: There is more in it than an image has.
        OSError: The disk cannot be read.

    """
    for name, where, plain in _walk(folder):
        if not stat.S_ISREG(plain.st_mode):
            yield FoundFile(name, False, 0, b"")  # noqa: FBT003  # as found
            continue
        digest = b""
        if sizes.get(name) == plain.st_size:
            put_off = None if later is None else later.get(name)
            digest = put_off or _hashed(where, name, plain.st_size)
        yield FoundFile(name, True, plain.st_size, digest)  # noqa: FBT003  # as found


def hashed_below(folder: int, name: str, size: int) -> bytes:
    """Return the hash of a file by its name in a folder, with one folder between.

    Raises:
        PeerError: It is no plain file of that size.
        OSError: The disk cannot be read.

    """
    below = enter(name.rpartition("/")[0], folder)
    try:
        return _hashed(below, name, size)
    finally:
        os.close(below)


def closed_files(
    folder: int, known: Mapping[str, tuple[int, bytes]], *, is_durable: bool = True
) -> Iterator[FoundFile]:
    """Make each file of a draft ours alone, and return it with its hash.

    `known` has size and hash of what was hashed already. With `is_durable` each file is
    on the disk then.

    CRIU writes world-readable files, and they hold the memory of programs.

    Raises:
        PeerError: There is something in it that an image cannot have.
        OSError: The disk is full, or broken.

    """
    unsynced: list[int] = []
    os.fchmod(folder, 0o700)
    sync = os.fsync if is_durable else _nothing

    def close(below: int) -> None:
        os.fchmod(below, 0o700)
        sync(below)

    for name, where, plain in _walk(folder, close):
        if not stat.S_ISREG(plain.st_mode):
            raise ImageDamaged(f"{name} is not a plain file")
        unsynced.append(os.open(_last(name), _READ, dir_fd=where))
        fd = unsynced[-1]
        os.fchmod(fd, 0o600)
        size, digest = known.get(name, (-1, b""))
        if size != plain.st_size:
            digest = _digest(fd, plain.st_size, name)
        if len(unsynced) == AT_ONCE:
            _close(unsynced, is_durable=is_durable)
        yield FoundFile(name, True, plain.st_size, digest)  # noqa: FBT003  # as found
    _close(unsynced, is_durable=is_durable)
    sync(folder)


def _close(unsynced: list[int], *, is_durable: bool) -> None:
    """Close files, and make them durable before, if need be.

    First all are begun to be written: so they get their places on the disk at once, and
    what the first one waits for does for the others too.
    """
    try:
        for fd in unsynced if is_durable else ():
            libc.sync_file_range(fd, ctypes.c_longlong(0), ctypes.c_longlong(0), _BEGIN)
        for fd in unsynced if is_durable else ():
            os.fsync(fd)
    finally:
        for fd in unsynced:
            os.close(fd)
        unsynced.clear()


def enter(name: str, folder: int | None = None) -> int:
    """Open a folder that is one, and no link to one.

    Raises:
        OSError: It is not there, or is something else.

    """
    return os.open(name, _ENTER, dir_fd=folder)


def plain_bytes(name: str, folder: int, limit: int) -> bytes:
    """Return at most `limit` bytes of a plain file.

    Raises:
        OSError: It is not there, is something else, or cannot be read.

    """
    fd = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        return file.read(limit)


def copy_bytes(source: int, target: int, size: int) -> None:
    """Copy so many bytes, without their content passing through us where that works.

    Raises:
        OSError: The disk is full, or cannot be read.

    """
    left = size
    while left > 0:
        try:
            done = os.copy_file_range(source, target, min(left, COPIED_AT_ONCE))
        except OSError as error:
            if error.errno not in _NOT_THAT_WAY:
                raise
            done = _copy_piece(source, target, min(left, CHUNK))
        if done == 0:
            return
        left -= done


def _copy_piece(source: int, target: int, size: int) -> int:
    piece = os.read(source, size)
    if os.write(target, piece) != len(piece):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return len(piece)


def remove_all(folder: int) -> None:
    """Remove everything in a folder, the manifest first: then it is none any more.

    Raises:
        OSError: The disk cannot be written.

    """
    try:
        os.unlink(MANIFEST, dir_fd=folder)
        os.fsync(folder)
    except (FileNotFoundError, IsADirectoryError):
        pass
    _empty(folder)


def _empty(folder: int) -> None:
    for name in os.listdir(folder):
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(kind):
            os.unlink(name, dir_fd=folder)
            continue
        below = enter(name, folder)
        try:
            _empty(below)
        finally:
            os.close(below)
        os.rmdir(name, dir_fd=folder)


def _nothing(_folder: int) -> None:
    """Leave a file or a folder as it is."""


def _walk(
    folder: int, visited: Callable[[int], None] = _nothing
) -> Iterator[tuple[str, int, os.stat_result]]:
    """Yield what lies below: its name, an open folder it lies in, and its facts."""
    for seen, one in enumerate(_below(folder, "", 1, visited)):
        if seen == MAX_FILES:
            raise ImageDamaged(f"it has over {MAX_FILES} files")
        yield one


def _below(
    folder: int, path: str, depth: int, visited: Callable[[int], None]
) -> Iterator[tuple[str, int, os.stat_result]]:
    # Sorted: the names of a manifest are, and a walk should be the same each time.
    for name in sorted(os.listdir(folder)):
        full = f"{path}{name}"
        if full == MANIFEST:
            continue
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(facts.st_mode):
            yield full, folder, facts
            continue
        if depth == MAX_DEPTH:
            raise ImageDamaged("it has folders in folders in folders")
        below = enter(name, folder)
        try:
            yield from _below(below, f"{full}/", depth + 1, visited)
            visited(below)
        finally:
            os.close(below)


def _hashed(folder: int, name: str, size: int) -> bytes:
    fd = os.open(_last(name), _READ, dir_fd=folder)
    try:
        return _digest(fd, size, name)
    finally:
        os.close(fd)


def _digest(fd: int, size: int, name: str) -> bytes:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise ImageDamaged(f"{name} is not a plain file")
    is_bulk = BULK.fullmatch(name)
    # Most files of an image are small, and new memory for each would take longer.
    buffer = memoryview(bytearray(min(size, CHUNK)))
    piece = PIECE if is_bulk else max(size, 1)
    pieces = [
        _digest_of_next(fd, min(piece, size - at), buffer, name)
        for at in range(0, size, piece)
    ]
    if os.read(fd, 1):
        raise ImageDamaged(f"{name} changes while it is read")
    if is_bulk:
        return digest_of(pieces)
    return pieces[0] if pieces else hashlib.sha256().digest()


def _digest_of_next(fd: int, size: int, buffer: memoryview, name: str) -> bytes:
    made, left = hashlib.sha256(), size
    while left > 0:
        got = os.readv(fd, [buffer[: min(left, CHUNK)]])
        if got == 0:
            raise ImageDamaged(f"{name} changes while it is read")
        made.update(buffer[:got])
        left -= got
    return made.digest()


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]
