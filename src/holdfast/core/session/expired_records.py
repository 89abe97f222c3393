"""The records and files of ended sessions that are cleared away.

Theory of operation
-------------------
A session that has ended stays listed with its exit status, so that a person who comes
later can see it. After a day it goes; and if very many end in a day, the oldest go
first. A `keep` mark exempts, whatever the number and the age.

A logbook is the record of what was done and by whom: it outlives its session, and
goes KEEP_LOG_FOR after its last entry, unless there is a socket: then a holder may
be alive that no keeper has heard of yet.

Time here is the wall clock, because it must count through a restart of the machine.
A clock that is behind clears later; one that jumps ahead clears early what was to
be cleared anyway.

Invariants, checked by tests/core/session/test_expired_records.py:

I1  A record with a keep mark is never cleared.
I2  At most MAX_RECORDS records without one are left.
I3  What ended later is never cleared before what ended earlier.
I4  A file is never cleared while a record or a socket of its session is there.
"""

from dataclasses import dataclass

from holdfast.model.ids import SessionId

KEEP_FOR = 24 * 3600.0
"""Seconds that an ended session stays listed: until tomorrow at the same hour."""

KEEP_LOG_FOR = 90 * 24 * 3600.0
"""Seconds that a logbook outlives its session: people who ask what happened ask
within a season. Those who need it longer export it."""

MAX_RECORDS = 200
"""Ended sessions listed at most: each has a holder that waits to be asked, 1 MB."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that has ended, as the keeper lists it."""

    session: SessionId
    ended_wall: float | None
    """When; None if nobody has noted it."""

    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Leftover:
    """What is on disk of a session: a logbook, or without one its own files."""

    session: SessionId
    changed_wall: float
    has_socket: bool
    has_logbook: bool = True
    """Without one the session never lived: its maker was killed."""


def records_to_clear(ended: list[Ended], now_wall: float) -> list[SessionId]:
    """Return the sessions to be forgotten, oldest first."""
    candidates = sorted(
        (one for one in ended if not one.is_kept),
        key=lambda one: (one.ended_wall or 0.0, one.session),
    )
    too_many = max(0, len(candidates) - MAX_RECORDS)
    return [
        one.session
        for place, one in enumerate(candidates)
        if place < too_many or _is_old(one.ended_wall, now_wall)
    ]


def files_to_clear(
    found: list[Leftover], known: set[SessionId], now_wall: float
) -> list[SessionId]:
    """Return the sessions of which only files are left, and those long enough."""
    return [
        one.session
        for one in found
        if one.session not in known
        and not one.has_socket
        and now_wall - one.changed_wall >= _kept_for(one)
    ]


def _kept_for(left: Leftover) -> float:
    return KEEP_LOG_FOR if left.has_logbook else KEEP_FOR


def _is_old(moment_wall: float | None, now_wall: float) -> bool:
    return moment_wall is not None and now_wall - moment_wall > KEEP_FOR
