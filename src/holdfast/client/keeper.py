"""What does the keeper know, and what is it asked to do?

One connection for each request: one packet of JSON goes, one comes. An answer
too large for a packet comes in several, `more` true in all but the last. What is
asked about a session elsewhere is asked of its host, which has a keeper of its own.
"""

import contextlib
import errno
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.linux import packets
from holdfast.linux.stored import folders
from holdfast.model.errors import (
    AmbiguousSession,
    CreationUnknown,
    Forbidden,
    HoldfastError,
    MalformedMessage,
    NoKeeper,
    PeerError,
    RequestTooLarge,
    SessionNotFound,
    Unavailable,
    UsageError,
    from_facts,
)
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord, listed_in
from holdfast.model.text import checked_name, printable, same_name

PATIENCE = 15.0
"""Seconds for an answer: longer than the keeper itself waits for a holder."""

SOON = 0.1
"""Seconds for the list in which a session is looked up: a keeper that is well needs a
few milliseconds, and without it a session is found by what lies in its folder."""

ATTEMPTS = 3
"""How often something is asked of one keeper after the other: one that hangs is
replaced, and whoever had asked it finds the link cut."""

PAUSE = 0.3
"""Seconds in which another keeper listens."""

PROVEN = frozenset({"rename", "keep", "forget"})
"""What is asked in our name; as in wire.creation. A creation is proven before."""

REPEATABLE = frozenset({"list", "status", *PROVEN})
"""What can be asked twice and means the same."""

MAX_ANSWER = 1024 * 1024
"""Bytes we take in one packet; the kernel passes no larger one."""

MIN_PREFIX = len("s_") + 4
"""Letters of an id that are enough: a slip of the finger should fit nothing."""

MAX_HINTS = 8
"""Sessions named in an error; a longer list would hide the error itself."""

Facts = dict[str, Any]
"""What a packet holds. It is our own keeper's, and read field by field."""


def request(
    do: str,
    fields: Mapping[str, object] = {},
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

        return ask_far(host, do, dict(fields))
    if do in PROVEN and "proof" not in fields:
        from holdfast.client import proven_requests  # noqa: PLC0415  # rarely needed

        fields = proven_requests.change_proven_by_us(fields, do)
    raw = json.dumps({"do": do, **fields}).encode()
    if len(raw) > packets.MAX_PACKET:
        raise RequestTooLarge(len(raw))
    for left in reversed(range(ATTEMPTS)):
        try:
            return _ask(do, raw, start=start, patience=patience)
        except NoKeeper as error:
            # Whoever hung up on us has been replaced, or is being so.
            is_cut = isinstance(error.__cause__, ConnectionResetError)
            if not left or not is_cut or do not in REPEATABLE:
                raise
            time.sleep(PAUSE)
    raise AssertionError  # Not reached: the last attempt raises.


def _ask(do: str, raw: bytes, *, start: bool, patience: float) -> Facts:
    gone: type[NoKeeper | CreationUnknown] = NoKeeper
    try:
        with _connect(start=start, patience=patience) as link:
            link.send(raw)
            # Whatever else is asked for can be asked for again.
            gone = CreationUnknown if do == "create" else NoKeeper
            return _answer(link)
    except TimeoutError:
        raise gone(f"no answer within {patience:g} s") from None
    except OSError as error:
        raise gone(error.strerror or "the connection broke") from error


def conversation(
    do: str, fields: Mapping[str, object] = {}, *, patience: float = PATIENCE
) -> Iterator[Facts]:
    """Ask a keeper that runs, and yield its answers: all but the last have `more`.

    `patience` is how many seconds may pass between two of them.

    Raises:
        Unavailable: There is no keeper, or it does not answer.
        HoldfastError: The keeper refused, and why.

    """
    try:
        with packets.connect(folders.keeper_address(), patience) as link:
            link.send(json.dumps({"do": do, **fields}).encode())
            while True:
                part = _answer(link)
                yield part
                if not part.get("more"):
                    return
    except TimeoutError:
        raise NoKeeper(f"no answer within {patience:.0f} s") from None
    except OSError as error:
        raise NoKeeper(error.strerror or "the connection broke") from error


def sessions(
    *, start: bool = True, host: str = "", patience: float = PATIENCE
) -> list[SessionRecord]:
    """Return every session here, or all that a host lets us see, oldest first.

    Raises:
        Unavailable: There is no keeper, or it does not answer.

    """
    answer = request("list", start=start, host=host, patience=patience)
    return sessions_in(answer, host)


def sessions_by_socket() -> list[SessionRecord]:
    """Return the sessions at whose sockets somebody listens, without the keeper.

    Little is known of them: what they are called, and since when.

    Raises:
        UsageError: The place of the sockets is not ours.

    """
    from holdfast.linux.stored import session_names  # noqa: PLC0415  # rarely needed

    known = session_names.known().items()
    return [
        _by_socket(session, name)
        for session, name in known
        if session_names.is_there(session)
    ]


def sessions_in(answer: Facts, host: str) -> list[SessionRecord]:
    """Return the sessions that an answer lists, oldest first.

    Raises:
        PeerError: It lists none, nor says that there is none.

    """
    try:
        listed = [SessionRecord.from_facts(one, host) for one in listed_in(answer)]
    except (UsageError, PeerError):
        raise MalformedMessage("list of sessions", "it is none") from None
    return sorted(listed, key=lambda session: (session.created_ms, session.id))


def find(text: str, *, start: bool = True) -> SessionRecord:
    """Return the session that is meant: one here, or as HOST/NAME one elsewhere.

    A whole id means the same session everywhere, so one that is not here is looked
    for on every host that we know.

    Raises:
        UsageError: It fits none, or several.
        Unavailable: Whoever would know does not answer.

    """
    host, _, name = text.partition("/")
    if not (host and name):
        try:
            return _find_here(text, start=start)
        except SessionNotFound:
            if (elsewhere := _elsewhere(text)) is None:
                raise
            return elsewhere
    from holdfast.client.session_location import settle  # noqa: PLC0415  # rarely needed

    found = resolve(name, sessions(host=checked_name(host)))
    settle(found.id, host)
    return found


def _find_here(text: str, *, start: bool) -> SessionRecord:
    """Return the session here that is meant, also if the keeper is dead or hangs."""
    try:
        return resolve(text, sessions(start=False, patience=SOON))
    except NoKeeper:
        if (found := _found_by_socket(text)) is not None:
            return found
    return resolve(text, sessions(start=start))


def _found_by_socket(text: str) -> SessionRecord | None:
    from holdfast.linux.stored import session_names  # noqa: PLC0415  # rarely needed

    known = [_by_socket(one, name) for one, name in session_names.known().items()]
    with contextlib.suppress(UsageError):
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


def _elsewhere(text: str) -> SessionRecord | None:
    """Return the session of this very id, if a host that we know has it."""
    if not text.startswith("s_"):
        return None
    from holdfast.client import hosts  # noqa: PLC0415  # rarely needed
    from holdfast.client.session_location import settle  # noqa: PLC0415  # ditto

    for host in hosts.known():
        with contextlib.suppress(Unavailable, Forbidden):
            for session in sessions(host=host.name):
                if session.id == text:
                    settle(session.id, host.name)
                    return session
    return None


def resolve(text: str, known: list[SessionRecord]) -> SessionRecord:
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
            raise _hinting(AmbiguousSession(printable(text, 64), len(found)), found)
    raise _hinting(SessionNotFound(printable(text, 64)), known)


def _hinting(error: HoldfastError, known: list[SessionRecord]) -> HoldfastError:
    names = [f"{session.label} ({session.id})" for session in known[:MAX_HINTS]]
    if len(known) > MAX_HINTS:
        names.append(f"and {len(known) - MAX_HINTS} more")
    error.add_note("There is: " + ", ".join(names) if names else "There is none.")
    return error


def _connect(*, start: bool, patience: float) -> socket.socket:
    path = folders.keeper_address()
    try:
        return packets.connect(path, patience)
    except (FileNotFoundError, ConnectionRefusedError):
        if not start:
            raise
    from holdfast.linux.start import ensure_keeper  # noqa: PLC0415  # starts processes

    ensure_keeper()
    return packets.connect(path, patience)


def _answer(link: socket.socket) -> Facts:
    gathered: list[Facts] = []
    while True:
        raw = link.recv(MAX_ANSWER)
        if not raw:
            raise ConnectionResetError(errno.ECONNRESET, "it hung up")
        part = _parsed(raw)
        if not part.get("ok"):
            raise _refusal(part)
        listed = part.get("sessions")
        if not isinstance(listed, list):
            return part
        gathered += listed
        if not part.get("more"):
            return {**part, "sessions": gathered}


def _refusal(answer: Facts) -> HoldfastError:
    facts = answer.get("facts")
    return from_facts(
        str(answer.get("code")),
        facts if isinstance(facts, dict) else {},
        printable(str(answer.get("text"))),
    )


def _parsed(raw: bytes) -> Facts:
    try:
        part = json.loads(raw)
    except ValueError:
        part = None
    if not isinstance(part, dict):
        raise MalformedMessage("answer of the keeper", "it is no JSON object")
    return part
