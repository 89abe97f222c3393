"""The list of sessions, and requests about them, local or remote.

The keeper of this machine knows those here. What is asked about a session elsewhere
is asked of its host, which has a keeper of its own.
"""

import contextlib
import os
from collections.abc import Sequence
from typing import TypeVar

from holdfast.client import early_session
from holdfast.client.early_far import EarlyFarSession
from holdfast.linux.keeper_requests import PATIENCE, ask_keeper
from holdfast.linux.stored import folders
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.model.lost_record import lost_in
from holdfast.model.process_status import KeeperStatus
from holdfast.model.session_record import Facts, SessionRecord, listed_in, record_of
from holdfast.model.session_requests import (
    ListSessions,
    ProvenChange,
    Request,
    Status,
)
from holdfast.model.text import checked_name, printable, same_name

SOON = 0.1
"""Seconds for the list in which a session is looked up: a keeper that is well needs a
few milliseconds, and without it a session is found by what lies in its folder."""

MIN_PREFIX = len("s_") + 4
"""Letters of an id that are enough: a slip of the finger should fit nothing."""

MAX_HINTS = 8
"""Sessions named in an error; a longer list would hide the error itself."""

Record = TypeVar("Record", bound=SessionRecord)


def request(
    asked: Request,
    *,
    start: bool = True,
    host: str = "",
    patience: float = PATIENCE,
) -> Facts:
    """Ask the keeper, and return its answer. With `start`, have one started.

    With the name of a `host`, that host is asked, and asks its own.

    Raises:
        Unavailable: There is no keeper, or it does not answer.
        Unsettled: It went away with a creation that it may have passed on.
        HoldfastError: The keeper refused, and why.

    """
    if host:
        from holdfast.client.session_location import ask_far  # noqa: PLC0415  # rarely needed

        return ask_far(host, asked)
    if isinstance(asked, ProvenChange) and not asked.proof:
        from holdfast.client import proven_requests  # noqa: PLC0415  # rarely needed

        asked = proven_requests.change_proven_by_us(asked)
    return ask_keeper(asked, start=start, patience=patience)


def status(*, patience: float = PATIENCE) -> KeeperStatus:
    """Return how a keeper that runs does.

    Raises:
        Unavailable: There is no keeper, or it does not answer.

    """
    return record_of(KeeperStatus, request(Status(), start=False, patience=patience))


def sessions(
    *,
    start: bool = True,
    host: str = "",
    patience: float = PATIENCE,
    look: bool = False,
) -> list[SessionRecord]:
    """Return every session here, or all that a host lets us see, oldest first.

    With `look`, holders are asked what each does now.

    Raises:
        Unavailable: There is no keeper, or it does not answer.

    """
    answer = request(ListSessions(look), start=start, host=host, patience=patience)
    return sessions_in(answer, host)


def sessions_by_socket() -> list[SessionRecord]:
    """Return the sessions whose sockets answer, without the keeper.

    Little is known of them: what they are called, and since when.

    Raises:
        UsageError: The place of the sockets is not ours.

    """
    from holdfast.linux.stored import session_names  # noqa: PLC0415  # rarely needed

    known = session_names.known().items()
    return [
        _by_socket(session, name)
        for session, name in known
        # To connect would wake one that dozes, and a list wakes nobody.
        if session_names.dozes(session) or session_names.is_there(session)
    ]


def sessions_in(answer: Facts, host: str) -> list[SessionRecord]:
    """Return the sessions that an answer lists, oldest first.

    Raises:
        PeerError: It lists none, nor says that there is none.

    """
    try:
        listed = [SessionRecord.from_facts(one, host) for one in listed_in(answer)]
    except (errors.UsageError, errors.PeerError):
        raise errors.MalformedMessage("list of sessions", "it is none") from None
    return sorted(listed, key=lambda session: (session.created_ms, session.id))


def find(text: str, *, start: bool = True) -> SessionRecord:
    """Return the session that is meant: one here, or as HOST/NAME one elsewhere.

    A whole id means the same session everywhere, so one that is not here is looked
    for on every host that we know.

    Raises:
        UsageError: It fits none, or several.
        Unavailable: The process that would know does not answer.

    """
    early = early_session.begun_as(text)
    if isinstance(early, EarlyFarSession):
        return _found_early(early)
    if early is not None:
        return _by_socket(early.id, early.name)
    host, _, name = text.partition("/")
    if not (host and name):
        try:
            return _find_here(text, start=start)
        except errors.SessionNotFound:
            elsewhere = _moved_away(text) or _elsewhere(text)
            if elsewhere is None:
                from holdfast.client.past_sessions import demand_not_ended  # noqa: PLC0415  # rarely needed

                demand_not_ended(text)
                raise
            return elsewhere
    from holdfast.client.session_location import settle  # noqa: PLC0415  # rarely needed

    answer = request(ListSessions(), host=checked_name(host))
    try:
        found = resolve(name, sessions_in(answer, host))
    except errors.SessionNotFound:
        from holdfast.client.lost_sessions import demand_not_lost  # noqa: PLC0415  # ditto

        demand_not_lost(name, lost_in(answer, host))
        raise
    settle(found.id, host)
    return found


def _found_early(early: EarlyFarSession) -> SessionRecord:
    """Return the session elsewhere that there is a link to, by what its host said."""
    from holdfast.client.session_location import settle  # noqa: PLC0415  # rarely needed

    settle(early.id, early.host)
    return resolve(early.id, sessions_in({"sessions": early.listed}, early.host))


def _find_here(text: str, *, start: bool) -> SessionRecord:
    """Return the session here that is meant, also if the keeper is dead or hangs."""
    try:
        return resolve(text, sessions(start=False, patience=SOON))
    except errors.NoKeeper:
        if (found := _found_by_socket(text)) is not None:
            return found
    return resolve(text, sessions(start=start))


def _found_by_socket(text: str) -> SessionRecord | None:
    from holdfast.linux.stored import session_names  # noqa: PLC0415  # rarely needed

    known = [_by_socket(one, name) for one, name in session_names.known().items()]
    with contextlib.suppress(errors.UsageError):
        found = resolve(text, known)
        return found if session_names.is_there(SessionId(found.id)) else None
    return None


def _by_socket(session: str, name: str) -> SessionRecord:
    created_ms = 0
    with contextlib.suppress(OSError):
        found = os.lstat(folders.session_address(SessionId(session)))
        created_ms = found.st_mtime_ns // 1_000_000
    record = SessionRecord(SessionId(session), name, state="running")
    return record._replace(created_ms=created_ms)


def _moved_away(text: str) -> SessionRecord | None:
    """Return a session that has moved from here to another host, as it is there.

    Raises:
        UsageError: That host does not tell us of it, but it went there.

    """
    from holdfast.client.departures import gone  # noqa: PLC0415  # rarely needed
    from holdfast.client.session_location import follow, settle  # noqa: PLC0415  # ditto

    if (note := gone(text)) is None:
        return None
    host = follow(note.session, note.told)
    try:
        for session in sessions(host=host):
            if session.id == note.session:
                settle(session.id, host)
                return session
    except errors.HoldfastError as error:
        raise errors.SessionMoved(note.name, note.host) from error
    # It may have gone on from there: who dials is told.
    return SessionRecord(SessionId(note.session), note.name, state="running", host=host)


def _elsewhere(text: str) -> SessionRecord | None:
    """Return the session of this very id, if a host that we know has it."""
    if not text.startswith("s_"):
        return None
    from holdfast.client import hosts  # noqa: PLC0415  # rarely needed
    from holdfast.client.session_location import settle  # noqa: PLC0415  # ditto

    for host in hosts.known():
        with contextlib.suppress(errors.Unavailable, errors.Forbidden):
            for session in sessions(host=host.name):
                if session.id == text:
                    settle(session.id, host.name)
                    return session
    return None


def resolve(text: str, known: list[Record]) -> Record:
    """Return the session that `text` means: an id, a name, or how an id begins.

    Raises:
        UsageError: It fits none of `known`, or several.

    """
    for fits in (
        lambda session: session.id == text,
        lambda session: bool(text) and same_name(session.name, text),
        lambda session: len(text) >= MIN_PREFIX and session.id.startswith(text),
    ):
        found = [session for session in known if fits(session)]
        if len(found) == 1:
            return found[0]
        if found:
            raise _hinting(
                errors.AmbiguousSession(printable(text, 64), len(found)), found
            )
    raise _hinting(errors.SessionNotFound(printable(text, 64)), known)


def _hinting(
    error: errors.HoldfastError, known: Sequence[SessionRecord]
) -> errors.HoldfastError:
    names = [f"{session.label} ({session.id})" for session in known[:MAX_HINTS]]
    if len(known) > MAX_HINTS:
        names.append(f"and {len(known) - MAX_HINTS} more")
    near = _near(error, known)
    if near:
        error.add_note(f"Did you mean {' or '.join(near)}?")
    error.add_note("There is: " + ", ".join(names) if names else "There is none.")
    return error


def _near(error: errors.HoldfastError, known: Sequence[SessionRecord]) -> list[str]:
    """Return the names that look like the one that was not found."""
    asked = error.facts.get("session")
    if not isinstance(error, errors.SessionNotFound) or not isinstance(asked, str):
        return []
    import difflib  # noqa: PLC0415  # slow to load

    labels = {one.name.lower(): one.label for one in known if one.name}
    return [labels[one] for one in difflib.get_close_matches(asked.lower(), labels)]
