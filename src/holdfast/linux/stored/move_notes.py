"""Where a session of this host goes, or went: what is written down of a move.

    sessions/ID.move    how far a move has come, and to whom; sealed by this host

As long as it is there, the session goes on here only by a lease that its relay grants
(core/capsule/move_order.py). Once the session is gone, the note is what tells operators
who ask for it here where it is.
"""

import contextlib
import fcntl
import json
import os
from typing import NamedTuple

from holdfast.linux.stored import recovery_places, seals
from holdfast.linux.stored.small_files import read_file, replace_file, sync_folder
from holdfast.model.errors import HoldfastError, StillAlive
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of

MAX_NOTE = 16 * 1024
"""Bytes of a note."""


ARRIVING = "arriving"
"""The stage of a session that is being put in place here: it goes on by a lease too."""


class MoveNote(NamedTuple):
    """How far a move has come."""

    session: str = ""
    stage: str = ""
    """A `Stage` of the move; or ARRIVING."""

    host: str = ""
    """What the other host is called here."""

    public_key: str = ""
    static_key: str = ""
    relays: tuple[str, ...] = ()
    relay: str = ""
    """The relay that decides who may go on with it."""

    name: str = ""
    """What the session is called."""

    by: str = ""
    """Who asked for it."""

    life: int = 0
    """The last life that it had here."""

    image: int = 0
    """The image that it goes on from, once it was stopped."""

    successor: int = 0
    """The life that it has there, once it goes on."""

    told: str = ""
    """What operators are told, signed (crypto/moved_word.py)."""


def write(note: MoveNote) -> None:
    """Write a note down, durably.

    Raises:
        OSError: It could not be written; the one before stands.
        UsageError: The place is not ours.

    """
    whole = seals.sealed(note._asdict() | {"relays": [*note.relays]}, _about(note))
    path = recovery_places.path_of(SessionId(note.session), recovery_places.MOVE)
    replace_file(path, json.dumps(whole).encode())
    sync_folder(recovery_places.folder())


def find(session: SessionId) -> MoveNote | None:
    """Return what is written down of a session; None if it does not move."""
    with contextlib.suppress(OSError, ValueError, HoldfastError):
        path = recovery_places.path_of(session, recovery_places.MOVE)
        facts = json.loads(read_file(path, MAX_NOTE))
        if isinstance(facts, dict) and seals.is_sealed(
            facts, f"move {session}", seals.key()
        ):
            return record_of(MoveNote, facts)
    return None


def all_notes() -> list[MoveNote]:
    """Return the notes of every session, by their ids."""
    ends = f".{recovery_places.MOVE}"
    names = sorted(os.listdir(recovery_places.folder()))  # noqa: PTH208  # names alone
    found = [
        find(SessionId(one.removesuffix(ends))) for one in names if one.endswith(ends)
    ]
    return [one for one in found if one is not None]


def lock(session: SessionId) -> int:
    """Return a lock: nobody else moves the session while it is open.

    Raises:
        UsageError: Somebody does.
        OSError: The disk refuses.

    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    path = recovery_places.path_of(session, recovery_places.MOVING)
    fd = os.open(path, flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise StillAlive(0, "being moved") from None
    return fd


def remove(session: SessionId) -> None:
    """Remove a note: the session goes on here."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(recovery_places.path_of(session, recovery_places.MOVE))  # noqa: PTH108  # a string
        sync_folder(recovery_places.folder())


def _about(note: MoveNote) -> str:
    return f"move {note.session}"
