"""The note of a checkpoint in progress: the image, and what was stopped before.

Who makes the image has a lock on the note, and so has CRIU from them. A session whose
note can be locked is not being dumped: the session's holder resumes it, or ends
it if the image has taken its place, and removes the note.
"""

# ruff: noqa: PTH108  # beside os.open

import contextlib
import fcntl
import json
import os
from typing import NamedTuple, Self

from holdfast.linux.stored import recovery_places as places
from holdfast.model.errors import CheckpointUnderWay, HoldfastError
from holdfast.model.ids import SessionId

MAX_NOTE = 4 * 1024 * 1024
"""Bytes of a note that is read: some hundred thousand processes."""

_OPEN = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Note(NamedTuple):
    """What a note says."""

    image: int
    """The number of the image, or 0 if it is not known any more."""

    spared: frozenset[tuple[int, int]] = frozenset()
    """What stood still before, by pid and start."""


class LockedNote:
    """A note that is ours; close it to let others have it."""

    def __init__(self, session: SessionId, fd: int) -> None:
        self._session = session
        self.fd = fd

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, note: Note) -> None:
        """Say what is about to be done.

        Raises:
            OSError: The disk refuses.

        """
        facts = {"image": note.image, "spared": sorted(note.spared)}
        raw = json.dumps(facts).encode()
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, raw, 0)

    def read(self) -> Note:
        """Return what it says; one that was not written whole says nothing.

        It is written before anything is stopped.
        """
        return _read(self.fd)

    def remove(self) -> None:
        """Take it away: nothing is half done any more."""
        with contextlib.suppress(OSError, HoldfastError):
            os.unlink(places.path_of(self._session, places.PORTING))

    def close(self) -> None:
        """Let go of it; it stays, if it was not removed."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def make(session: SessionId) -> LockedNote:
    """Make the note of a session, and lock it.

    Raises:
        Unavailable: Another process has it.
        OSError: The disk refuses.

    """
    path = places.path_of(session, places.PORTING)
    fd = os.open(path, _OPEN | os.O_CREAT, 0o600)
    if not _is_locked(fd, path):
        os.close(fd)
        raise CheckpointUnderWay
    return LockedNote(session, fd)


def is_there(session: SessionId) -> bool:
    """Tell whether there is a note of a session, locked or not."""
    try:
        return os.path.lexists(places.path_of(session, places.PORTING))
    except HoldfastError:
        return False  # The place has become unfit.


def found(session: SessionId) -> LockedNote | None:
    """Lock what a process has left; None if there is nothing, or it is still running.

    Raises:
        OSError: It cannot be opened.
        UsageError: The place is not ours.

    """
    path = places.path_of(session, places.PORTING)
    try:
        fd = os.open(path, _OPEN)
    except FileNotFoundError:
        return None
    if not _is_locked(fd, path):
        os.close(fd)
        return None
    return LockedNote(session, fd)


def peek(session: SessionId) -> Note:
    """Return what a note says, whichever process has it; nothing if there is none."""
    with contextlib.suppress(OSError, HoldfastError):
        fd = os.open(places.path_of(session, places.PORTING), _OPEN)
        try:
            return _read(fd)
        finally:
            os.close(fd)
    return Note(0)


def _read(fd: int) -> Note:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        facts = json.loads(os.pread(fd, MAX_NOTE, 0))
        spared = frozenset((int(pid), int(at)) for pid, at in facts["spared"])
        return Note(int(facts["image"]), spared)
    return Note(0)


def _is_locked(fd: int, path: str) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # It may have been removed while we came to the lock.
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False
