"""A digest of the plug-ins' folder.

Separate from the other files of the policy, because a judge starts with this alone.
"""

import hashlib
import os
import stat
from collections.abc import Iterator

from holdfast.linux.stored import folders
from holdfast.model.errors import MalformedArgument

MAX_PLUGIN_FILES = 10_000
"""Files in the plug-ins' folder: more than any plug-in needs, and soon read."""

MAX_PLUGIN_BYTES = 64 * 1024 * 1024
"""Bytes in it, which a worker of the judge reads before it loads anything."""

_PIECE = 1 << 20


def plugins_digest() -> str:
    """Return a digest of all that is in the plug-ins' folder, compiled copies too.

    Raises:
        UsageError: There is more than can be vouched for.

    """
    whole = hashlib.sha256()
    root = f"{folders.config_path()}/plugins"
    room = MAX_PLUGIN_BYTES
    for number, path in enumerate(_files(root)):
        if number >= MAX_PLUGIN_FILES or room < 0:
            limit = f"{MAX_PLUGIN_FILES} files of {MAX_PLUGIN_BYTES} bytes"
            raise MalformedArgument(root, f"a folder of at most {limit}")
        size, content = _content(path)
        room -= size
        name = os.fsencode(os.path.relpath(path, root))
        whole.update(b"%d %s\n" % (len(name), name) + content + b"\n")
    return whole.hexdigest()


def _files(root: str) -> Iterator[str]:
    for folder, inner, names in os.walk(root, followlinks=True):
        inner.sort()
        yield from (f"{folder}/{name}" for name in sorted(names))


def _content(path: str) -> tuple[int, bytes]:
    """Return how long a file is, and its digest; of what cannot be read, nothing."""
    found, size = hashlib.sha256(), 0
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return 0, b""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return 0, b""
        while size <= MAX_PLUGIN_BYTES and (piece := os.read(fd, _PIECE)):
            found.update(piece)
            size += len(piece)
    finally:
        os.close(fd)
    return size, found.digest()
