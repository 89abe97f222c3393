"""A session that another host has brought, when it is to go on here."""

import os
import time
from pathlib import Path
from typing import NamedTuple

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.recovery import read_facts
from holdfast.crypto.keys import SigningKey
from holdfast.crypto.proof import proven_recovery
from holdfast.linux.keeper_requests import ask_keeper
from holdfast.linux.stored import host_book, move_notes, parcels
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import images_folder
from holdfast.linux.stored.recovery_places import recorded
from holdfast.model.errors import ParcelRefused, StillAlive
from holdfast.model.ids import ENTROPY, Incarnation, SessionId, client_id, host_id
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created, ListSessions, Recover
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read

RESTORING = 40.0
"""Seconds for a restore: its holder has 30 until it must have deposited."""


def living(session: SessionId) -> int:
    """Return which life of a session somebody has here; 0 if none."""
    answer = ask_keeper(ListSessions())
    listed = answer.get("sessions")
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and one.get("id") == session:
            return int(one.get("incarnation") or 1)
    return 0


def relay_of(parcel: parcels.Parcel) -> str:
    """Return the relay that decides about a session that was brought.

    Raises:
        Unavailable: It does not say.
        PeerError: It is damaged.

    """
    session = parcel.manifest.session
    for folder in (f"{parcel.folder}/image", _image_folder(parcel)):
        path = Path(folder, "start.bin")
        if path.exists():
            return read_facts(path.read_bytes(), session).authority
    raise ParcelRefused("it does not say which relay decides about it")


def _image_folder(parcel: parcels.Parcel) -> str:
    manifest = parcel.manifest
    return f"{images_folder()}/{manifest.session}/{manifest.number}"


class Beginner(NamedTuple):
    """Who has a session go on here."""

    actor: str
    token: bytes
    """By which the keeper knows that it is really them."""


def begin(
    by: Beginner,
    parcel: parcels.Parcel,
    granted: tuple[Incarnation, float],
    wish: Recover,
) -> Created:
    """Put everything in place, and have the session go on as the life that was granted.

    The second part of `granted` is until when that life may speak. `wish` has what is
    chosen: the name, what becomes of open files, and the host that the session comes
    from, if that had stopped it in good order.

    Raises:
        HoldfastError: It cannot go on here.
        OSError: The disk refuses.

    """
    session, (life, expires) = parcel.manifest.session, granted
    if session in recorded() and move_notes.find(session) is None:
        raise StillAlive(0, "known here, and was never moved away")
    with host_book.writing() as book:
        fields: dict[str, Value] = {
            "of": session,
            "from": host_id(parcel.sender),
            "life": life,
            "by": by.actor,
        }
        book.append(EntryKind.ARRIVED, fields)
    # From here on it goes on only by a lease, whoever asks.
    move_notes.write(
        move_notes.MoveNote(
            session=session,
            stage=move_notes.ARRIVING,
            host=parcel.papers.host,
            public_key=parcel.sender.hex(),
            relay=relay_of(parcel),
            name=parcel.papers.name,
            by=by.actor,
            life=parcel.manifest.incarnation,
            image=parcel.manifest.number,
        )
    )
    parcel.install(SigningKey.from_seed(host_seed()))
    asked = wish._replace(
        recovers=session,
        name=wish.name or parcel.papers.name,
        client=client_id(os.urandom(ENTROPY)),
        image=parcel.manifest.number,
        creator=by.actor,
        asked_ms=time.time_ns() // 1_000_000,
        incarnation=life,
        expires_ms=int(expires * 1000),
    )
    whole = proven_recovery(asked, by.token)
    made = record_of(Created, ask_keeper(whole, patience=RESTORING))
    move_notes.remove(session)
    return made
