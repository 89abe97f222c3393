"""The invitations to this host, and whether they were used.

    invites/ID.json   what was promised, until when, and the secret of the link
    invites/ID.used   the same, with the actor that used it

An invitation is used by renaming its file, so of two who come at the same moment
one is first, and a host that is killed in between has spent it: the invited person
asks for another. Used and expired ones are kept for a while, so that their users can
be answered again if the answer was lost, and others learn why they are refused.

Each file is sealed by this host (linux/stored/seals.py); one that is not is treated as
absent. Each of these steps is in the host's logbook before it is done.
"""

import contextlib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.core.book.logbook import EntryKind
from holdfast.linux.stored import host_book, operators, places, seals
from holdfast.linux.stored.fact_files import read_facts, write_facts
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope
from holdfast.model.errors import InviteExpired, InviteUnknown, InviteUsed, UsageError
from holdfast.model.text import checked_name

ID = 16
"""Random bytes of an id. It is no secret: relays see it."""

SECRET = 16
"""Random bytes of the secret in a link."""

MAX_FILE = 4096
"""Bytes of an invitation's file; a longer one was not written by us."""

KEPT = 86_400.0
"""Seconds that an invitation is kept after it has expired."""

MAX_INVITES = 256
"""Invitations looked at: relays are told of each."""

_OPEN, _USED = ".json", ".used"


@dataclass(frozen=True, slots=True)
class Invite:
    """One invitation."""

    id: bytes
    name: str
    """The name that the new operator will have here."""

    kind: ActorKind
    envelope: Envelope
    expires_wall: float
    secret: bytes = field(repr=False)
    used_by: str = ""
    """The actor that used it; empty if nobody has."""


def make(
    name: str,
    kind: ActorKind,
    envelope: Envelope,
    expires_wall: float,
    by: str = "",
) -> Invite:
    """Write down a new invitation of `by`, and return it.

    Raises:
        UsageError: The name cannot be one, or the place is not ours.
        Unavailable: The host's logbook cannot be written.

    """
    made = Invite(
        os.urandom(ID),
        checked_name(name),
        kind,
        envelope,
        expires_wall,
        os.urandom(SECRET),
    )
    host_book.record(
        EntryKind.INVITED,
        {
            "invite": made.id.hex(),
            "by": by,
            "as": kind.value,
            "name": made.name,
            **operators.promise_fields(envelope),
            "good_until": round(expires_wall * 1000),
        },
    )
    _write(_path(made.id, _OPEN), made)
    return made


def find(wanted: bytes) -> Invite | None:
    """Return an invitation, used or not, whether or not it has expired."""
    for suffix in (_OPEN, _USED):
        found = _read(_path(wanted, suffix))
        if found is not None:
            return found
    return None


def known() -> list[Invite]:
    """Return the invitations that are kept, used and expired ones too, newest last.

    Of more than MAX_INVITES the oldest are left out.
    """
    found = [_read(path) for path in places.invites_dir().iterdir()]
    kept = [one for one in found if one is not None]
    return sorted(kept, key=lambda one: (one.expires_wall, one.id))[-MAX_INVITES:]


def pending(now_wall: float) -> list[Invite]:
    """Return the invitations that have not expired, used ones too."""
    return [one for one in known() if now_wall < one.expires_wall]


def open_to(wanted: bytes, actor: str, now_wall: float) -> Invite:
    """Return an invitation that `actor` could use now, or has used; spend nothing.

    Raises:
        Forbidden: There is none, it has expired, or another key has used it.

    """
    invite = find(wanted)
    if invite is None:
        raise InviteUnknown
    if now_wall >= invite.expires_wall:
        raise InviteExpired
    if invite.used_by not in ("", actor):
        raise InviteUsed
    return invite


def use(wanted: bytes, actor: str, now_wall: float) -> Invite:
    """Spend an invitation for `actor`, once; the same actor is answered again.

    Raises:
        Forbidden: There is none, it has expired, or another key has used it.
        Unavailable: The host's logbook cannot be written.

    """
    invite = open_to(wanted, actor, now_wall)
    if not invite.used_by:
        with host_book.writing() as book:
            if not _path(wanted, _OPEN).exists():
                raise InviteUsed
            book.append(EntryKind.ACCEPTED, {"invite": wanted.hex(), "actor": actor})
            _path(wanted, _OPEN).rename(_path(wanted, _USED))
            invite = replace(invite, used_by=actor)
            _write(_path(wanted, _USED), invite)
    return invite


def withdraw(wanted: bytes, by: str = "") -> bool:
    """Remove an invitation; False if there was none.

    Raises:
        Unavailable: The host's logbook cannot be written.

    """
    is_found = False
    if find(wanted) is not None:
        withdrawn = {"invite": wanted.hex(), "by": by}
        host_book.record(EntryKind.WITHDRAWN, withdrawn)
    for suffix in (_OPEN, _USED):
        with contextlib.suppress(FileNotFoundError):
            _path(wanted, suffix).unlink()
            is_found = True
    return is_found


def sweep(now_wall: float) -> None:
    """Remove what expired long ago; what nobody used is on record as lapsed.

    Raises:
        Unavailable: The host's logbook cannot be written.

    """
    for path in places.invites_dir().iterdir():
        found = _read(path)
        if found is not None and now_wall >= found.expires_wall + KEPT:
            if not found.used_by:
                host_book.record(EntryKind.LAPSED, {"invite": found.id.hex()})
            path.unlink(missing_ok=True)


def _path(wanted: bytes, suffix: str) -> Path:
    return places.invites_dir() / f"{wanted.hex()}{suffix}"


def _write(path: Path, invite: Invite) -> None:
    facts = {
        "name": invite.name,
        "kind": invite.kind.value,
        "envelope": operators.to_facts(invite.envelope),
        "expires_ms": round(invite.expires_wall * 1000),
        "secret": invite.secret.hex(),
        "used_by": invite.used_by,
    }
    write_facts(path, seals.sealed(facts, f"invites/{path.stem}"))


def _read(path: Path) -> Invite | None:
    """Return what a file holds; None if it is not there, not whole, or not ours."""
    if path.suffix not in (_OPEN, _USED):
        return None
    try:
        facts = read_facts(path, MAX_FILE)
        if not seals.is_sealed(facts, f"invites/{path.stem}", seals.key()):
            return None
        return Invite(
            bytes.fromhex(path.stem),
            checked_name(str(facts["name"])),
            ActorKind(facts["kind"]),
            operators.from_facts(facts["envelope"]),
            int(facts["expires_ms"]) / 1000,
            bytes.fromhex(facts["secret"]),
            # Renamed and not written on: spent, and nobody knows by whom.
            str(facts["used_by"]) or ("somebody" if path.suffix == _USED else ""),
        )
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        return None
