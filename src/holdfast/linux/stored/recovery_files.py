"""The files that a recovery needs, encrypted with the host's key.

An environment has secrets in it, and so may output; nothing of it is on disk in clear.
A file that was truncated, changed, exchanged or forged does not open, and
counts as missing: a reader is told so, and never fails on it.
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
from holdfast.model.errors import HoldfastError, MalformedMessage, PeerError
from holdfast.model.ids import SessionId

ROOM = 8 * 1024 * 1024
"""Bytes of the disk that are left to others: a logbook that cannot be written stops a
session, and this is only for the case that it is lost."""

MAX_FILE = 2 * 1024 * 1024
"""Bytes of a file: output, a keyframe, and room."""

BIT = 32 * 1024
"""Bytes written at once: some ten microseconds."""


def write_next(facts: StartFacts) -> None:
    """Keep what a life is started with, until its command begins.

    Raises:
        OSError: It cannot be kept.
        UsageError: The place is not ours.

    """
    _write(facts.session, places.NEXT, facts.to_bytes())


def begin(session: SessionId) -> None:
    """Note that the command has begun: what `write_next` kept counts from now on.

    Raises:
        OSError: Nothing was kept.
        UsageError: The place is not ours.

    """
    path = places.path_of(session, places.NEXT)
    os.replace(path, places.path_of(session, places.FACTS))  # noqa: PTH105  # strings


def write_facts(facts: StartFacts) -> None:
    """Keep what a life was started with whose command has begun.

    Raises:
        OSError: It cannot be kept.
        UsageError: The place is not ours.

    """
    _write(facts.session, places.FACTS, facts.to_bytes())


class TailWriting:
    """The end of a session's output, on its way into one of two files.

    Bit by bit, so that a key that comes meanwhile waits for one bit only. The file is
    written over where it lies: to put another in its place makes some disks write at
    once. One that was left half written does not open, and the other one counts.
    """

    def __init__(self, session: SessionId, tail: OutputTail, slot: int) -> None:
        """Begin.

        Raises:
            OSError: It cannot be kept; the other file is as it was.
            UsageError: The place is not ours.

        """
        kind = places.TAILS[slot]
        self._left = memoryview(_sealed(session, kind, tail.to_bytes()))
        self._size = len(self._left)
        path = places.path_of(session, kind)
        _demand_room(self._size)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        self._fd = os.open(path, flags, 0o600)
        if not _is_ours(self._fd):
            self.close()
            raise MalformedMessage("sealed file", "it is not a holdfast file")

    def go_on(self) -> bool:
        """Write a bit more; tell whether that was all. Then it is closed.

        Raises:
            OSError: It cannot be kept; it is closed.

        """
        try:
            done = os.write(self._fd, self._left[:BIT])
            self._left = self._left[done:]
            if self._left:
                return False
            os.ftruncate(self._fd, self._size)
        except OSError:
            self.close()
            raise
        self.close()
        return True

    def close(self) -> None:
        """Leave it as it is. Safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def older_slot(session: SessionId) -> int:
    """Return the file for the next end of a session's output: not the newest."""
    times = []
    for kind in places.TAILS:
        try:
            times.append(os.stat(places.path_of(session, kind)).st_mtime_ns)  # noqa: PTH116  # strings
        except (OSError, HoldfastError):
            times.append(0)
    return times.index(min(times))


def make_durable(session: SessionId) -> None:
    """Sync what was written, as far as it is there."""
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


def next_of(session: SessionId) -> StartFacts | None:
    """Return what a life is to be started with that may not have begun, if known.

    Raises:
        UsageError: The place is not ours.

    """
    try:
        return read_facts(_read(session, places.NEXT), session)
    except (OSError, PeerError):
        return None


def tail_of(session: SessionId) -> OutputTail | None:
    """Return the newest end of a session's output that can be read."""
    found: list[OutputTail] = []
    for kind in places.TAILS:
        with contextlib.suppress(OSError, HoldfastError):
            found.append(read_tail(_read(session, kind)))
    return max(found, key=lambda one: (one.incarnation, one.at_ms), default=None)


def _write(session: SessionId, kind: str, plain: bytes) -> None:
    raw, path = _sealed(session, kind, plain), places.path_of(session, kind)
    _demand_room(len(raw))
    replace_file(path, raw, is_durable=False)


def _sealed(session: SessionId, kind: str, plain: bytes) -> bytes:
    key = file_key(host_seed())
    return seal_file(key, os.urandom(NONCE), plain, _about(session, kind))


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
        if not _is_ours(fd):
            raise MalformedMessage("sealed file", "it is not a holdfast file")
        raw = os.read(fd, MAX_FILE)
    finally:
        os.close(fd)
    return open_file(file_key(host_seed()), raw, _about(session, kind))


def _is_ours(fd: int) -> bool:
    found = os.fstat(fd)
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()


def _about(session: SessionId, kind: str) -> str:
    # What is kept for a life that has not begun becomes its facts by a rename.
    part = "facts" if kind == places.NEXT else kind
    return f"{part} {session}"
