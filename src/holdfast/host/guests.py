"""Remote operators: which are admitted, and their rights here.

Operators enrolled on this machine whose promise has not run out. Rights are
those of the promise, or of the kind if there was none; what a session itself has
granted or revoked is the holder's to know, and it is asked about every act.
"""

import os
import time
from dataclasses import dataclass

from holdfast.aio.relay_client import Admitted
from holdfast.linux.stored import folders, invites, move_notes, operators, places
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.envelopes import WHOLE_HOST, Envelope, Right, default_rights
from holdfast.model.errors import NotAllowed, SessionLeft
from holdfast.model.ids import ActorId, SessionId, actor_id

_SOCKET = ".sock"


@dataclass(frozen=True, slots=True)
class Guest:
    """An operator whose key was proven, and which is known here."""

    enrolled: Enrolled

    @property
    def id(self) -> ActorId:
        """Who it is."""
        return self.enrolled.actor.id

    @property
    def envelope(self) -> Envelope:
        """What it may do, as far as the host knows."""
        promised = self.enrolled.promised
        if promised is not None:
            return promised
        kind = self.enrolled.actor.kind
        return Envelope(default_rights(kind, began_it=False))

    def may(self, right: Right, session: SessionId) -> bool:
        """Tell whether it may use a right on a session now."""
        if self.envelope.covers(right, session, wall()):
            return True
        return right in self.enrolled.brought_with(session)

    def may_anything(self, session: SessionId) -> bool:
        """Tell whether there is anything that it may do to a session now."""
        return any(self.may(right, session) for right in Right)

    def demand(self, right: Right, session: SessionId | None) -> None:
        """Do nothing if it may use a right, on a session or on the whole host.

        Raises:
            Forbidden: It may not.

        """
        envelope = self.envelope
        expires = envelope.expires_wall
        is_wide = envelope.session is WHOLE_HOST and right in envelope.rights
        is_valid = expires is None or wall() < expires
        if not (is_wide and is_valid if session is None else self.may(right, session)):
            raise NotAllowed(self.id, right.value)


def guest_of(public_key: bytes) -> Guest | None:
    """Return whose key this is; None if it is nobody's, or its promise is over."""
    known = operators.by_key(public_key)
    if known is None or _is_over(known):
        return None
    return Guest(known)


def admitted() -> Admitted:
    """Return whom relays may send us, as things stand now."""
    # Relays know operators by the keys they have now, not by the first that made them.
    known = [one for one in operators.enrolled() if not _is_over(one)]
    actors = {actor_id(one.public_key) for one in known}
    # A guest who comes too late, or second, is told so by us and not by a relay.
    coming = {one.id for one in invites.known()}
    return Admitted(frozenset(actors), frozenset(coming))


def next_expiry() -> float | None:
    """Return the time of day at which the next promise runs out, if one does."""
    promises = [one.promised for one in operators.enrolled()]
    expiries = [one.expires_wall for one in promises if one is not None]
    coming = [when for when in expiries if when is not None and when > wall()]
    return min(coming, default=None)


def trace() -> tuple[int, ...]:
    """Return a value that changes when an operator or a session comes or goes."""
    watched = (
        folders.operators_folder(),
        places.invites_dir(),
        places.relays_file(),
        folders.sessions_folder(),
    )
    return tuple(
        os.stat(path).st_mtime_ns if os.path.exists(path) else 0  # noqa: PTH110, PTH116  # some are strings
        for path in watched
    )


def sessions_here() -> frozenset[SessionId]:
    """Return the sessions that have a holder's socket here, by their ids alone."""
    found = os.listdir(folders.sessions_folder())  # noqa: PTH208  # names are enough
    named = [name.removesuffix(_SOCKET) for name in found if name.endswith(_SOCKET)]
    return frozenset(SessionId(name) for name in named if name.startswith("s_"))


def demand_not_gone(session: SessionId) -> None:
    """Do nothing if a session has not moved to another host.

    Raises:
        Unavailable: It has, and where it is.

    """
    if os.path.exists(folders.session_address(session)):  # noqa: PTH110  # a string
        return
    note = move_notes.find(session)
    if note is not None and note.told:
        raise SessionLeft(session, f"to {note.host}", note.told)


def wall() -> float:
    """Return the time of day, by which promises run out."""
    return time.time_ns() / 1e9


def _is_over(known: Enrolled) -> bool:
    promised = known.promised
    if promised is None or promised.expires_wall is None:
        return False
    return wall() >= promised.expires_wall
