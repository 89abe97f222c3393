"""Reads and writes what it takes to begin a session again, sealed with the host's key.

An environment has secrets in it, and so may output; nothing of it is on disk in clear.
A file that was cut, flipped, exchanged or put there by somebody else does not open, and
counts as missing: whoever reads is told so, and never fails on it.
"""

import contextlib
import errno
import os
import stat

from holdfast.core.session.recovery import (
    OutputTail,
    StartFacts,
    read_facts,
    read_tail,
)
from holdfast.crypto.at_rest import NONCE, file_key, open_file, seal_file
from holdfast.linux.stored import recovery_places as places
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.small_files import replace_file, sync_folder
from holdfast.model.errors import HoldfastError, MalformedMessage
from holdfast.model.ids import SessionId

ROOM = 8 * 1024 * 1024
"""Bytes of the disk that are left to others: a logbook that cannot be written stops a
session, and this is only for the case that it is lost."""

MAX_FILE = 2 * 1024 * 1024
"""Bytes of a file: output, a keyframe, and room."""


def write_next(facts: StartFacts) -> None:
    """Keep what a life is started with, until its command begins.

    Raises:
        OSError: It cannot be kept.
        UsageError: The place is not ours.

    """
    _write(facts.session, places.NEXT, facts.to_bytes())


def begin(session: SessionId) -> None:
    """Take that the command has begun: what `write_next` kept counts from now on.

    Raises:
        OSError: Nothing was kept.
        UsageError: The place is not ours.

    """
    path = places.path_of(session, places.NEXT)
    os.replace(path, places.path_of(session, places.FACTS))  # noqa: PTH105  # strings


def write_tail(session: SessionId, tail: OutputTail, slot: int) -> None:
    """Keep the end of a session's output, in one of two files.

    Raises:
        OSError: It cannot be kept; the other file is as it was.
        UsageError: The place is not ours.

    """
    _write(session, places.TAILS[slot], tail.to_bytes())


def make_durable(session: SessionId) -> None:
    """Have the disk take what was written, as far as it is there."""
    with contextlib.suppress(OSError, HoldfastError):
        for kind in (places.FACTS, *places.TAILS):
            with contextlib.suppress(FileNotFoundError):
                fd = os.open(places.path_of(session, kind), os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    os.fdatasync(fd)
                finally:
                    os.close(fd)
        sync_folder(places.folder())


def facts_of(session: SessionId) -> StartFacts:
    """Return what the last life of a session was started with.

    Raises:
        PeerError: What is there is damaged, or not ours.
        OSError: Nothing is there.
        UsageError: The place is not ours.

    """
    return read_facts(_read(session, places.FACTS), session)


def tail_of(session: SessionId) -> OutputTail | None:
    """Return the newest end of a session's output that can be read."""
    found: list[OutputTail] = []
    for kind in places.TAILS:
        with contextlib.suppress(OSError, HoldfastError):
            found.append(read_tail(_read(session, kind)))
    return max(found, key=lambda one: (one.incarnation, one.at_ms), default=None)


def _write(session: SessionId, kind: str, plain: bytes) -> None:
    nonce, key = os.urandom(NONCE), file_key(host_seed())
    raw = seal_file(key, nonce, plain, _about(session, kind))
    path = places.path_of(session, kind)
    _demand_room(len(raw))
    replace_file(path, raw, is_durable=False)


def _demand_room(size: int) -> None:
    """Do nothing if a disk has more room than this: logbooks need the rest."""
    found = os.statvfs(places.folder())
    if found.f_bavail * found.f_frsize < ROOM + size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _read(session: SessionId, kind: str) -> bytes:
    # A pipe that nobody writes to is not waited for.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(places.path_of(session, kind), flags)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise MalformedMessage("sealed file", "it is not a file of ours")
        raw = os.read(fd, MAX_FILE)
    finally:
        os.close(fd)
    return open_file(file_key(host_seed()), raw, _about(session, kind))


def _about(session: SessionId, kind: str) -> str:
    # What is kept for a life that has not begun becomes its facts by a rename.
    part = "facts" if kind == places.NEXT else kind
    return f"{part} {session}"
