"""Lost sessions, local or remote: listing and recovering them."""

import os
import time
from collections.abc import Sequence

from holdfast.client import host, keeper
from holdfast.client.proven_requests import recovery_by_us
from holdfast.client.wanted_session import are_we_a_person, environment
from holdfast.core.capsule.move_order import Stage
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import lost_sessions, move_notes, places, session_names
from holdfast.linux.stored.book_end import last_entries, life_of
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import (
    LeaseNeeded,
    NotRecoverable,
    SessionIsLost,
    SessionMoved,
    SessionStopped,
)
from holdfast.model.ids import ENTROPY, SessionId, client_id, host_id
from holdfast.model.lost_record import LostRecord, lost_in
from holdfast.model.session_record import SessionRecord, record_of
from holdfast.model.session_requests import ClaimLease, Created, ListSessions, Recover
from holdfast.model.text import checked_name
from holdfast.wire.host_requests import error_from

CLAIMING = 15.0
"""Seconds for a relay to say whether a session may go on here."""


def listed_at(
    host: str, *, look: bool = False
) -> tuple[list[SessionRecord], list[LostRecord]]:
    """Return the sessions here or at a host, and those that were lost there.

    Raises:
        Unavailable: The process that would know does not answer.

    """
    answer = keeper.request(ListSessions(look), host=host)
    listed = keeper.sessions_in(answer, host)
    if host:
        return listed, lost_in(answer, host)
    return listed, lost_sessions.lost({one.id for one in listed})


def demand_not_lost(name: str, gone: Sequence[LostRecord]) -> None:
    """Do nothing if none of these is called so.

    Raises:
        UsageError: One is, and how long ago it was lost.

    """
    for one in reversed(gone):
        if one.is_called(name):
            if one.image:
                raise SessionStopped(f"{one.id}.{one.image}")
            raise SessionIsLost(one.label, ago(one))


def find_lost(text: str) -> LostRecord:
    """Return the lost session that is meant: one here, or as HOST/NAME one elsewhere.

    Raises:
        UsageError: None that is called so was lost; or it still lives.
        Unavailable: The process that would know does not answer.

    """
    host, _, name = text.partition("/")
    if not (host and name):
        host, name = "", text
    listed, gone = listed_at(checked_name(host) if host else "")
    for one in reversed(gone):
        if one.is_called(name):
            return one
    found = keeper.resolve(name, listed)
    why = "it is running" if found.exit is None else "it has ended; it was not lost"
    raise NotRecoverable(found.label, why)


def wish(one: LostRecord, name: str = "") -> Recover:
    """Return a request for the next life of a session, which nobody has proven yet.

    Raises:
        UsageError: It cannot be recovered.

    """
    if not one.is_recoverable:
        raise NotRecoverable(one.label, one.why)
    return Recover(
        recovers=one.id,
        name=name or one.name or one.id[2:8],
        client=client_id(os.urandom(ENTROPY)),
    )


def recover(one: LostRecord, name: str | None = None) -> Created:
    """Start the next life of a session; return the keeper's answer.

    Raises:
        UsageError: It cannot be recovered, or is not lost.
        Forbidden: We may not start it.
        Unavailable: Nobody can be asked.

    """
    asked = wish(one, name or "")
    if not one.host:
        if one.needs_environment:
            env = environment(is_personal=are_we_a_person())
            asked = asked._replace(env=env)
        asked = recovery_by_us(asked)
    return record_of(Created, keeper.request(asked, host=one.host))


def wish_for_image(
    session: SessionId, image: int, name: str, open_files: str = ""
) -> Recover:
    """Return a request for the next life of a session from an image of it."""
    client = client_id(os.urandom(ENTROPY))
    asked = Recover(recovers=session, name=name, client=client, image=image)
    return asked._replace(open_files=open_files)


def restore(session: SessionId, image: int, name: str, open_files: str = "") -> Created:
    """Start the next life of a session from an image that is here.

    `open_files` says what becomes of open files that have changed since: put-back,
    as-is, or nothing, which refuses it.

    Raises:
        UsageError: It still lives, or the image cannot be restored.
        Forbidden: We may not start it.
        PeerError: The image is damaged.
        Unavailable: Nobody can be asked, or CRIU refuses.

    """
    note = move_notes.find(session)
    if note is not None:
        return reclaim(note, ImageName(session, image), name, open_files)
    asked = recovery_by_us(wish_for_image(session, image, name, open_files))
    return record_of(Created, keeper.request(asked))


def reclaim(note: MoveNote, image: ImageName, name: str, open_files: str) -> Created:
    """Let a session go on here that was to move, if its relay gives it to us.

    Raises:
        UsageError: It has moved.
        Unavailable: Its relay does not give it to us, or is not reached.
        HoldfastError: As for `restore`.

    """
    if note.stage == Stage.GONE:
        raise SessionMoved(note.name, note.host)
    entries = last_entries(image.session)
    seen = max(note.life, life_of(entries[-1]) if entries else 0)
    answer = host.request(ClaimLease(note.session, note.relay, seen), CLAIMING)
    if answer is None:
        raise LeaseNeeded(note.name, "no host runs here; `holdfast up` starts it")
    if answer.get("ok") is not True:
        raise error_from(answer)
    asked = wish_for_image(image.session, image.number, name, open_files)._replace(
        incarnation=int(str(answer["incarnation"])),
        expires_ms=int(str(answer["expires_ms"])),
        origin=host_id(SigningKey.from_seed(host_seed()).public),
    )
    made = record_of(Created, keeper.request(recovery_by_us(asked)))
    move_notes.remove(image.session)
    return made


def lives(session: SessionId) -> bool:
    """Tell whether a session may be alive; nobody is woken for it."""
    if not places.session_socket(session).exists():
        return False
    return session_names.dozes(session) or session_names.is_there(session)


def ago(one: LostRecord) -> str:
    """Return how long ago it was seen, for a sentence, such as "20 s"."""
    return span(max(0.0, time.time() - one.seen_ms / 1000))  # noqa: TID251  # for display


def span(seconds: float) -> str:
    """Return a length of time for a sentence, such as "20 s"."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
