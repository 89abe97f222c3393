"""The key of this host: created once, read by our own processes, never shown."""

import contextlib
import os

from holdfast.linux.stored import folders
from holdfast.linux.stored.small_files import read_file, write_file

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
            return read_file(path, SEED)
        except FileNotFoundError:
            _make(path)
    raise FileNotFoundError(path)


def _make(path: str) -> None:
    # Written aside and linked: a reader finds all of it, and of two that
    # make one at the same time, one prevails.
    draft = f"{path}.{os.urandom(8).hex()}"
    try:
        write_file(draft, os.urandom(SEED))
        os.link(draft, path)  # refuses what is there already
    except FileExistsError:
        pass
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)  # noqa: PTH108  # beside os.link
