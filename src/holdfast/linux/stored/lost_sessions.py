"""Sessions of this machine that were lost, and can be recovered.

A session is lost if it is on record what it was started with, its logbook tells of no
end, and no process has it. What cannot be read is listed all the same, by the name
beside its logbook: it is there, and cannot be recovered.
"""

from collections.abc import Collection

from holdfast.linux.life_signs import held_sessions, is_running
from holdfast.linux.stored import recovery_files, recovery_places, session_names
from holdfast.linux.stored.book_end import (
    has_ended,
    last_entries,
    life_of,
    stopped_in,
)
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.lost_record import LostRecord

MAX_LISTED = 200
"""Lost sessions in a list, the first by their ids."""


def lost(listed: Collection[str]) -> list[LostRecord]:
    """Return the sessions that were lost, the last to be seen last.

    `listed` are those that are known to be running.
    """
    found = [
        one
        for session in recorded_beside(listed)[:MAX_LISTED]
        if (one := _lost(session)) is not None
    ]
    return sorted(found, key=lambda one: (one.seen_ms, one.id))


def recorded_beside(listed: Collection[str]) -> list[SessionId]:
    """Return the sessions on record that no holdfast process has."""
    found = [one for one in recovery_places.recorded() if one not in listed]
    held = held_sessions() if found else frozenset()
    return [one for one in found if one not in held and _is_id(one)]


def on_disk(session: SessionId, image: int) -> str:
    """Say why a session is not recovered that was put to disk."""
    return f"it is on disk; `holdfast restore {session}.{image}` continues it"


def _is_id(text: str) -> bool:
    try:
        parse_session_id(text)
    except HoldfastError:
        return False  # A foreign file with a similar name.
    return True


def _lost(session: SessionId) -> LostRecord | None:
    """Return what is known of a session that nobody has; None if it has ended."""
    name, entries = session_names.last_name(session), last_entries(session)
    at = entries[-1].get("at") if entries else None
    seen_ms = at if isinstance(at, int) else 0
    try:
        facts = recovery_files.facts_of(session)
    except (HoldfastError, OSError):
        if entries and has_ended(entries, life_of(entries[-1])):
            return None
        why = "its records cannot be read"
        return LostRecord(session, name, seen_ms, why=why)
    if has_ended(entries, facts.incarnation):
        return None
    tail = recovery_files.tail_of(session)
    if tail is not None:
        seen_ms = max(seen_ms, tail.at_ms)
    why = "" if entries else "its logbook cannot be read"
    begun = recovery_files.next_of(session)
    for one in (facts,) if begun is None else (facts, begun):
        if is_running(one.leader):
            why = f"process {one.leader.pid} of it is still running, without a holder"
    image = stopped_in(entries, facts.incarnation)
    if image and recovery_places.has_image(session, image):
        why = why or on_disk(session, image)
    else:
        image = 0
    saved, saved_ms = recovery_places.newest_image(session)
    return LostRecord(
        session,
        name or facts.name,
        seen_ms,
        facts.command,
        facts.cwd,
        facts.incarnation,
        why,
        needs_environment=facts.environment is None,
        image=image,
        saved=saved,
        saved_ms=saved_ms,
    )
