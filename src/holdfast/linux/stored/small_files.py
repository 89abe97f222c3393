"""Small private files: read and written whole, without following links.

Standard library without pathlib: starting a session must not wait for more.
"""

import contextlib
import errno
import os


def read_file(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return at most `limit` bytes of a file.

    Raises:
        OSError: It is not there, or is a link.

    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.read(fd, limit)
    finally:
        os.close(fd)


def write_file(
    path: str | os.PathLike[str], data: bytes, *, is_durable: bool = True
) -> None:
    """Write a file that nobody counts on yet, durably if wanted.

    Raises:
        OSError: Perhaps a part of it is there.

    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    try:
        write_all(fd, data)
        if is_durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`.

    Raises:
        OSError: The disk is full, or broken; a part of it may be there.

    """
    if os.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def replace_file(path: str, data: bytes, *, is_durable: bool = True) -> None:
    """Put `data` in the place of a file, all of it or nothing; durably if wanted.

    Raises:
        OSError: The file is as it was.

    """
    draft = f"{path}.new"
    try:
        write_file(draft, data, is_durable=is_durable)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)  # noqa: PTH108  # beside os.open
        raise
    os.rename(draft, path)  # noqa: PTH104  # beside os.open
    if is_durable:
        sync_folder(os.path.dirname(path))  # noqa: PTH120  # beside os.open


def sync_folder(folder: str) -> None:
    """Make durable which files a folder has."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
