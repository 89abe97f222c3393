"""Lost sessions, here or elsewhere: which there are, and how one is begun again."""

import os
import time
from collections.abc import Sequence

from holdfast.client import keeper
from holdfast.client.proven_requests import recovery_by_us
from holdfast.client.wanted_session import are_we_a_person, environment
from holdfast.linux.stored import lost_sessions, places, session_names
from holdfast.model.errors import NotRecoverable, SessionIsLost
from holdfast.model.ids import ENTROPY, SessionId, client_id
from holdfast.model.lost_record import LostRecord, lost_in
from holdfast.model.session_record import SessionRecord, record_of
from holdfast.model.session_requests import Created, ListSessions, Recover
from holdfast.model.text import checked_name


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
    why = "it lives" if found.exit is None else "it has ended; it was not lost"
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
    """Have the next life of a session begun; return what the keeper says of it.

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
