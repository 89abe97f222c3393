"""Moves of sessions from here that were begun, and where those went that are gone."""

import contextlib
import time

from holdfast.client.hosts import KnownHost
from holdfast.client.lost_sessions import lives
from holdfast.client.profile import our_id
from holdfast.core.book.logbook import EntryKind
from holdfast.core.capsule.move_order import Stage
from holdfast.crypto import moved_word
from holdfast.crypto.keys import SigningKey
from holdfast.linux.life_signs import held_sessions
from holdfast.linux.stored import (
    host_book,
    image_store,
    layer_store,
    move_notes,
    recovery_places,
)
from holdfast.linux.stored.book_end import last_entries, stopped_in
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import ImageNotFound, LeaseNeeded, SessionMoved, StillAlive
from holdfast.model.ids import Incarnation, SessionId, host_id
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import same_name
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read

LEAVING = 5.0
"""Seconds for the holder of a session that was stopped to be gone."""


def noted(text: str) -> MoveNote | None:
    """Return the note of the session that is meant, by its id or name; the newest."""
    for one in reversed(move_notes.all_notes()):
        if one.session == text or same_name(one.name, text):
            return one
    return None


def gone(text: str) -> MoveNote | None:
    """Return the note of a session that went to another host; None if it did not."""
    note = noted(text)
    return note if note is not None and note.stage == Stage.GONE else None


def begun(text: str, to: KnownHost) -> MoveNote | None:
    """Return the move of a session that was begun and is to be finished.

    Raises:
        UsageError: It was to go elsewhere, or has gone.

    """
    note = noted(text)
    is_ours = note is not None and note.stage != move_notes.ARRIVING
    if note is None or not is_ours or lives(SessionId(note.session)):
        return None
    if note.stage == Stage.GONE:
        raise SessionMoved(note.name, note.host)
    if bytes.fromhex(note.public_key) != to.public_key:
        raise StillAlive(note.life, f"on its way to {note.host}")
    return note


def image_in_book(note: MoveNote) -> int:
    """Return the image that is the session, by its logbook; 0 if it lives."""
    entries = last_entries(SessionId(note.session))
    return stopped_in(entries, Incarnation(note.life)) if entries else 0


def await_left(note: MoveNote) -> None:
    """Wait until nobody holds the session: who leaves is entered into its book last.

    Raises:
        Unavailable: Somebody still does.

    """
    until = time.monotonic() + LEAVING
    while note.session in held_sessions():
        if time.monotonic() >= until:
            raise LeaseNeeded(note.name, "its holder has not left yet")
        time.sleep(0.01)


def forget(note: MoveNote) -> None:
    """Remove what is left here of a session that goes on elsewhere, but its logbook.

    Raises:
        HoldfastError: It cannot be recorded, or removed.
        OSError: The disk refuses.

    """
    session = SessionId(note.session)
    with host_book.writing() as book:
        fields: dict[str, Value] = {
            "of": session,
            "to": host_id(bytes.fromhex(note.public_key)),
            "life": note.successor,
            "by": note.by,
        }
        book.append(EntryKind.DEPARTED, fields)
    recovery_places.remove(session)
    with contextlib.suppress(ImageNotFound):
        image_store.remove(image_store.ImageName(session, note.image))
    if layer_store.has(session):
        layer_store.remove(session)


def first_note(session: SessionRecord, to: KnownHost) -> MoveNote:
    """Return the note of a move that nobody has begun."""
    told = moved_word.MovedWord(
        session.id,
        session.incarnation,
        to.name,
        to.public_key,
        to.static_key,
        to.relays,
    )
    return MoveNote(
        session=session.id,
        host=to.name,
        public_key=to.public_key.hex(),
        static_key=to.static_key.hex(),
        relays=to.relays,
        relay=session.authority,
        name=session.name,
        by=our_id(),
        life=session.incarnation,
        told=moved_word.issue(told, SigningKey.from_seed(host_seed())),
    )
