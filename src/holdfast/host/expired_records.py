"""Removes expired records from the keeper, and expired logbooks."""

import contextlib
from collections.abc import Container

from holdfast.core.session.expired_records import (
    Ended,
    Leftover,
    files_to_clear,
    records_to_clear,
)
from holdfast.host.keeper_requests import PATIENCE, vouched
from holdfast.linux.keeper_requests import ask_keeper
from holdfast.linux.stored import count_files, layer_store, places, recovery_places
from holdfast.model.errors import HoldfastError, UsageError
from holdfast.model.ids import parse_session_id
from holdfast.model.session_record import HeldRecord, SessionRecord, listed_in
from holdfast.model.session_requests import Forget, ListSessions

_LOG = ".log"


def clear_away(now_wall: float) -> int:
    """Clear away what is due by now, and return how many sessions are gone from view.

    Raises:
        Unavailable: The keeper does not answer.
        OSError: A file cannot be removed.

    """
    listed = listed_in(ask_keeper(ListSessions(), patience=PATIENCE))
    cleared = records_to_clear(_ended(listed), now_wall)
    for session in cleared:
        with contextlib.suppress(HoldfastError):  # Its holder may say no.
            ask_keeper(vouched(Forget(session)), patience=PATIENCE)
    known = {SessionRecord.from_facts(one).id for one in listed}
    left = files_to_clear(_leftovers(), known, now_wall)
    for session in left:
        recovery_places.remove(session)
        with contextlib.suppress(HoldfastError):
            layer_store.remove(session)
        for path in places.session_log_files(session):
            path.unlink(missing_ok=True)
    count_files.add_ended({*known})
    return len(cleared) + len(left)


def _ended(listed: list[object]) -> list[Ended]:
    found = []
    for facts in listed:
        one = SessionRecord.from_facts(facts)
        ended_ms = HeldRecord.from_facts(facts).ended_ms
        if one.state == "exited":
            ended_wall = None if ended_ms is None else ended_ms / 1000
            found.append(Ended(one.id, ended_wall, one.keep))
    return found


def _leftovers() -> list[Leftover]:
    found = []
    for path in places.log_dir().glob(f"s_*{_LOG}"):
        try:
            session = parse_session_id(path.name.removesuffix(_LOG))
            parts = [path, *path.parent.glob(f"{path.name}.*")]
            changed_wall = max(part.lstat().st_mtime for part in parts)
        except (UsageError, OSError):
            continue  # Not a session's file, or gone meanwhile.
        has_socket = places.session_socket(session).exists()
        found.append(Leftover(session, changed_wall, has_socket))
    return [*found, *_layers_alone({one.session for one in found})]


def _layers_alone(booked: Container[str]) -> list[Leftover]:
    """Return the layers of sessions without a logbook: who began them was killed."""
    return [
        Leftover(
            one,
            layer_store.age(one),
            places.session_socket(one).exists(),
            has_logbook=False,
        )
        for one in layer_store.sessions()
        if one not in booked
    ]
