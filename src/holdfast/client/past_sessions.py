"""Ended sessions of this machine, read from their logbooks.

A logbook outlives its session, and a link beside it says what that was last called. How
it ended is among its last entries; a book without an end is that of a session that was
lost, with the machine or with all of our processes at once.
"""

import base64
import contextlib
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

from holdfast.client.lost_sessions import demand_not_lost, lives, span
from holdfast.linux.stored import places, session_names
from holdfast.linux.stored.book_end import first_entries, last_entries
from holdfast.linux.stored.lost_sessions import lost
from holdfast.model.errors import HoldfastError, SessionEnded, UsageError
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.text import printable, same_name, shown_name

REMEMBERED = 24 * 3600.0
"""Seconds for which what is over is listed: until tomorrow at the same hour."""

MAX_LISTED = 200
"""Sessions that are over in a list, the last to end."""

_ENVIRONMENT = "  # environment "
"""What follows the command in the entry of a start."""


class Past(NamedTuple):
    """One session that is over."""

    id: SessionId
    name: str
    ended_wall: float
    """When it ended, or when the last entry of its book was written."""

    how: str = ""
    """Its exit status, or its signal negated; empty if it was lost."""

    command: str = ""

    @property
    def label(self) -> str:
        """What people called it."""
        return shown_name(self.name) if self.name else printable(self.id, 32)

    @property
    def status(self) -> int | None:
        """Its exit status; below zero, its signal; None if it is not known."""
        with contextlib.suppress(ValueError):
            return int(self.how)
        return None

    def facts(self) -> dict[str, object]:
        """Return it as a JSON object."""
        return {
            "id": self.id,
            "name": self.name,
            "state": "exited" if self.how else "lost",
            "exit": self.status,
            "ended_ms": round(self.ended_wall * 1000),
            "command": self.command,
        }


def past(listed: Collection[str]) -> list[Past]:
    """Return what ended or was lost in the last day, first to last; not what is listed.

    Raises:
        UsageError: The place of the logbooks is not ours.

    """
    since = time.time() - REMEMBERED  # noqa: TID251  # what is over is not decided by it
    ids = [session for changed, session in _books() if changed >= since]
    over = [one for one in ids if one not in listed and not lives(one)]
    found = [_read(one) for one in over[:MAX_LISTED]]
    ended = [one for one in found if one is not None and one.ended_wall >= since]
    # One that was refused before it began has a book, and no name.
    ended = [one for one in ended if one.name or one.how]
    return sorted(ended, key=lambda one: (one.ended_wall, one.id))


def ended_as(text: str, *, since: float = 0.0) -> Past | None:
    """Return the session that was called so and ended last, if one is over.

    Raises:
        UsageError: The place of the logbooks is not ours.

    """
    for changed, session in _books():
        if changed < since:
            break
        name = session_names.last_name(session)
        fits = same_name(name, text) if name else False
        if (fits or session == text) and not lives(session):
            return _read(session)
    return None


def demand_not_ended(text: str) -> None:
    """Do nothing, unless a session that was called so is over since yesterday.

    Raises:
        UsageError: It is, and how it ended.

    """
    now = time.time()  # noqa: TID251  # for display
    demand_not_lost(text, lost(()))
    try:
        found = ended_as(text, since=now - REMEMBERED) if text else None
    except (OSError, UsageError):
        return  # Then it is just not found.
    if found is None:
        return
    ago = span(max(0.0, now - found.ended_wall))
    if found.how:
        status = found.status
        how = "how is not known" if status is None else f"status {status}"
        if status is not None and status < 0:
            how = f"signal {-status}"
        raise SessionEnded(found.label, f"ended {ago} ago, {how}")
    raise SessionEnded(found.label, f"was lost {ago} ago, or soon after that")


def _books() -> Iterator[tuple[float, SessionId]]:
    """Return when each logbook was last written, and whose it is; the last first."""
    found: list[tuple[float, SessionId]] = []
    for path in places.log_dir().glob("s_*.log"):
        with contextlib.suppress(OSError, HoldfastError):
            session = parse_session_id(path.stem)
            # Its signed head is written with its last entries, whatever part has them.
            head = places.session_head(session)
            changed = [path.lstat().st_mtime]
            with contextlib.suppress(FileNotFoundError):
                changed.append(head.lstat().st_mtime)
            found.append((max(changed), session))
    return iter(sorted(found, reverse=True))


def _read(session: SessionId) -> Past | None:
    """Return what the book of a session says; None if it tells nothing."""
    last = last_entries(session)
    first = first_entries(session)
    if not last:
        return None
    ends = [one for one in last if one.get("kind") == "exited"]
    told = ends[-1] if ends else last[-1]
    at = told.get("at")
    how = str(told.get("how") or "unknown") if ends else ""
    return Past(
        session,
        session_names.last_name(session),
        at / 1000 if isinstance(at, int) else 0.0,
        how,
        _command(first),
    )


def _command(entries: list[dict[str, object]]) -> str:
    """Return what was started, without the folder and the environment."""
    for entry in entries:
        if entry.get("input") == "start":
            with contextlib.suppress(ValueError):
                line = base64.b64decode(str(entry.get("data"))).decode(
                    "utf-8", "replace"
                )
                line = line.rpartition(_ENVIRONMENT)[0] or line
                return printable(line.partition(" && ")[2] or line, 200)
    return ""
