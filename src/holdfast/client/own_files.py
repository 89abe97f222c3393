"""The own files of sessions: listing, applying and discarding their changes."""

import contextlib
import os
from collections.abc import Iterable

from holdfast.client import keeper
from holdfast.client.authority import demand_grant
from holdfast.core.book.logbook import EntryKind
from holdfast.core.capsule.changes import Change, counts
from holdfast.linux.stored import (
    folders,
    host_book,
    layer_store,
    own_changes,
    session_names,
)
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable, same_name

_STILL = ("frozen", "exited")


def meant(text: str) -> SessionId:
    """Return the session of that name or id that has files of its own.

    It may have ended; of several with that name it is the newest.

    Raises:
        UsageError: There is none.

    """
    if "/" in text:
        raise errors.OnlyHere("managing a session's files")
    having = layer_store.sessions()
    with contextlib.suppress(errors.HoldfastError):
        found = SessionId(keeper.resolve(text, keeper.sessions()).id)
        if found in having:
            return found
    for one in sorted(having, key=layer_store.age, reverse=True):
        if text == one or same_name(called(one), text):
            return one
    raise errors.NoFiles(printable(text))


def called(session: SessionId) -> str:
    """Return what a session was called last; its id's beginning if nobody knows."""
    return session_names.last_name(session) or session[2:8]


def listed() -> list[tuple[SessionId, dict[str, int]]]:
    """Return the sessions with files of their own, and how much each has changed."""
    found = []
    for one in sorted(layer_store.sessions(), key=layer_store.age):
        with contextlib.suppress(errors.HoldfastError):
            found.append((one, counts(own_changes.changes(one))))
    return found


def apply(session: SessionId, *, forced: bool = False) -> tuple[Change, ...]:
    """Make what a session has changed the machine's; it must not run meanwhile.

    Raises:
        Forbidden: An operator involved lacks the right.
        UsageError: It runs, or its files were changed outside, too.
        Unavailable: It could not be done, or not all of it.

    """
    us = demand_grant("files --apply")
    _demand_still(session)
    # What a session says of our keys and policy is never believed.
    ours = (folders.runtime_path(), folders.state_path(), folders.config_path())
    spared = map(os.path.realpath, ours)
    found = own_changes.apply(session, spared, forced=forced)
    record(session, us.actor.id, found, forced=forced)
    return found


def record(
    session: SessionId, by: str, found: Iterable[Change], *, forced: bool
) -> None:
    """Have the host's logbook say that changes of a session were applied.

    Raises:
        Unavailable: It cannot be written.

    """
    told = {"whose": session, "by": by}
    numbers = {"forced": int(forced), **counts(found)}
    host_book.record(EntryKind.FILES, {**told, **numbers})


def discard(session: SessionId) -> None:
    """Remove what a session has changed; it must have ended.

    Raises:
        Forbidden: An operator involved lacks the right.
        UsageError: It runs.
        Unavailable: It cannot be removed.

    """
    demand_grant("files --discard")
    known = _known(session)
    if known is not None and known.state != "exited":
        raise errors.FilesInUse(called(session))
    layer_store.remove(session)


def _demand_still(session: SessionId) -> None:
    known = _known(session)
    if known is not None and known.state not in _STILL:
        raise errors.FilesInUse(called(session))


def _known(session: SessionId) -> SessionRecord | None:
    return next((one for one in keeper.sessions() if one.id == session), None)
