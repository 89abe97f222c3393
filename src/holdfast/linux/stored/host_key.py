"""The key of this host: created once, read by our own processes, never shown."""

import os

from holdfast.linux.stored import folders

SEED = 32
"""Bytes of the key."""


def host_seed() -> bytes:
    """Return the host's private key, making it on first use.

    Raises:
        UsageError: The place for it is not ours.

    """
    path = f"{folders.owned(folders.config_path())}/host.key"
    for _ in range(2):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            _make(path)
            continue
        try:
            return os.read(fd, SEED)
        finally:
            os.close(fd)
    raise FileNotFoundError(path)


def _make(path: str) -> None:
    # Written aside and linked: a reader finds all of it, and of two that
    # make one at the same time, one prevails.
    draft = f"{path}.{os.getpid()}"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, os.urandom(SEED))
        os.fsync(fd)
    finally:
        os.close(fd)
    try:
        os.link(draft, path)  # refuses what is there already
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)  # noqa: PTH108  # beside os.link
