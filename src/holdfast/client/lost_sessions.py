"""Sessions of this machine that were lost, and can be recovered.

A session is lost if it is on record what it was started with, its logbook tells of no
end, and no process has it. What cannot be read is listed all the same, by the name
beside its logbook: it is there, and cannot be recovered.
"""

import time
from collections.abc import Collection
from typing import NamedTuple

from holdfast.core.session.recovery import StartFacts
from holdfast.linux.life_signs import held_sessions, is_running
from holdfast.linux.stored import places, recovery_files, recovery_places, session_names
from holdfast.linux.stored.book_end import has_ended, last_entries, life_of
from holdfast.model.errors import HoldfastError, SessionNotFound
from holdfast.model.ids import FIRST_INCARNATION, SessionId, parse_session_id
from holdfast.model.text import printable, same_name, shown_name

MAX_LISTED = 200
"""Lost sessions in a list, the first by their ids."""


class Lost(NamedTuple):
    """One session that was lost."""

    id: SessionId
    name: str
    seen_wall: float
    """The last sign of life: it was lost then, or soon after."""

    facts_known: StartFacts | None = None
    why: str = ""
    """Why it cannot be recovered; empty if it can."""

    @property
    def label(self) -> str:
        """What people called it."""
        return shown_name(self.name) if self.name else printable(self.id, 32)

    @property
    def command(self) -> str:
        """What it ran, as one line."""
        known = self.facts_known
        return "" if known is None else printable(" ".join(known.command), 200)

    def facts(self) -> dict[str, object]:
        """Return it as a JSON object."""
        known = self.facts_known
        return {
            "id": self.id,
            "name": self.name,
            "state": "lost",
            "seen_ms": round(self.seen_wall * 1000),
            "command": [] if known is None else [*known.command],
            "cwd": "" if known is None else known.cwd,
            "incarnation": FIRST_INCARNATION if known is None else known.incarnation,
            "recoverable": not self.why,
            "why": self.why,
        }


def lost(listed: Collection[str]) -> list[Lost]:
    """Return the sessions that were lost, the last to be seen last.

    `listed` are those of which it is known that somebody has them.
    """
    found = [
        one
        for session in recorded_beside(listed)[:MAX_LISTED]
        if (one := _lost(session)) is not None
    ]
    return sorted(found, key=lambda one: (one.seen_wall, one.id))


def recorded_beside(listed: Collection[str]) -> list[SessionId]:
    """Return the sessions on record that no process of ours has."""
    found = [one for one in recovery_places.recorded() if one not in listed]
    held = held_sessions() if found else frozenset()
    return [one for one in found if one not in held and _is_id(one)]


def lost_as(text: str, listed: Collection[str] = ()) -> Lost | None:
    """Return the session that was called so and was lost last, if there is one."""
    named = [one for one in lost(listed) if text and _fits(one, text)]
    return named[-1] if named else None


def demand_lost_as(text: str, listed: Collection[str] = ()) -> Lost:
    """Return the session that was called so.

    Raises:
        UsageError: No such session was lost.

    """
    found = lost_as(text, listed)
    if found is None:
        raise SessionNotFound(text)
    return found


def lives(session: SessionId) -> bool:
    """Tell whether a session may be alive; nobody is woken for it."""
    if not places.session_socket(session).exists():
        return False
    return session_names.dozes(session) or session_names.is_there(session)


def ago(one: Lost) -> str:
    """Return how long ago it was seen, for a sentence, such as "20 s"."""
    return span(max(0.0, time.time() - one.seen_wall))  # noqa: TID251  # for display


def span(seconds: float) -> str:
    """Return a length of time for a sentence, such as "20 s"."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def _is_id(text: str) -> bool:
    try:
        parse_session_id(text)
    except HoldfastError:
        return False  # Somebody's file with a name like ours.
    return True


def _fits(one: Lost, text: str) -> bool:
    return one.id == text or (bool(one.name) and same_name(one.name, text))


def _lost(session: SessionId) -> Lost | None:
    """Return what is known of a session that nobody has; None if it has ended."""
    name, entries = session_names.last_name(session), last_entries(session)
    at = entries[-1].get("at") if entries else None
    wall = at / 1000 if isinstance(at, int) else 0.0
    try:
        facts = recovery_files.facts_of(session)
    except (HoldfastError, OSError):
        if entries and has_ended(entries, life_of(entries[-1])):
            return None
        return Lost(session, name, wall, None, "its records cannot be read")
    if has_ended(entries, facts.incarnation):
        return None
    tail = recovery_files.tail_of(session)
    if tail is not None:
        wall = max(wall, tail.at_ms / 1000)
    why = "" if entries else "its logbook cannot be read"
    begun = recovery_files.next_of(session)
    for one in (facts,) if begun is None else (facts, begun):
        if is_running(one.leader):
            why = f"process {one.leader.pid} of it still runs, and nobody holds it"
    return Lost(session, name or facts.name, wall, facts, why)
