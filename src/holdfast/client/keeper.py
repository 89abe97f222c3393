"""What does the keeper know, and what is it asked to do?

One connection for each request: one packet of JSON goes, one comes. An answer
too large for a packet comes in several, `more` true in all but the last.
"""

import errno
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.linux import folders, packets
from holdfast.model.errors import (
    AmbiguousSession,
    CreationUnknown,
    HoldfastError,
    MalformedMessage,
    NoKeeper,
    RequestTooLarge,
    SessionNotFound,
    from_facts,
)
from holdfast.model.text import printable, same_name, shown_name

PATIENCE = 15.0
"""Seconds for an answer: longer than the keeper itself waits for a holder."""

MAX_ANSWER = 1024 * 1024
"""Bytes we take in one packet; the kernel passes no larger one."""

MIN_PREFIX = len("s_") + 4
"""Letters of an id that are enough: a slip of the finger should fit nothing."""

MAX_HINTS = 8
"""Sessions named in an error; a longer list would hide the error itself."""

Facts = dict[str, Any]
"""What a packet holds. It is our own keeper's, and read field by field."""


class Listed(NamedTuple):
    """One session, as the keeper knows it."""

    id: str
    name: str
    pid: int
    state: str
    exit: int | None
    command: list[str]
    cwd: str
    created_ms: int
    size: list[int]
    keep: bool

    @property
    def label(self) -> str:
        """What people call it, safe to print."""
        return shown_name(self.name) if self.name else self.id


def request(do: str, fields: Mapping[str, object] = {}, *, start: bool = True) -> Facts:
    """Ask the keeper, and return its answer. With `start`, have one started.

    Raises:
        Unavailable: There is no keeper, or it does not answer.
        Unsettled: It went away with a creation that it may have passed on.
        HoldfastError: The keeper refused, and why.

    """
    raw = json.dumps({"do": do, **fields}).encode()
    if len(raw) > packets.MAX_PACKET:
        raise RequestTooLarge(len(raw))
    gone: type[NoKeeper | CreationUnknown] = NoKeeper
    try:
        with _connect(start=start) as link:
            link.send(raw)
            # Whatever else is asked for can be asked for again.
            gone = CreationUnknown if do == "create" else NoKeeper
            return _answer(link)
    except TimeoutError:
        raise gone(f"no answer within {PATIENCE:.0f} s") from None
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


def sessions(*, start: bool = True) -> list[Listed]:
    """Return every session of this user on this machine, oldest first.

    Raises:
        Unavailable: There is no keeper, or it does not answer.

    """
    listed = [_listed(facts) for facts in request("list", start=start)["sessions"]]
    return sorted(listed, key=lambda session: (session.created_ms, session.id))


def resolve(text: str, known: list[Listed]) -> Listed:
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


def _hinting(error: HoldfastError, known: list[Listed]) -> HoldfastError:
    names = [f"{session.label} ({session.id})" for session in known[:MAX_HINTS]]
    if len(known) > MAX_HINTS:
        names.append(f"and {len(known) - MAX_HINTS} more")
    error.add_note("There is: " + ", ".join(names) if names else "There is none.")
    return error


def _connect(*, start: bool) -> socket.socket:
    path = folders.keeper_address()
    try:
        return packets.connect(path, PATIENCE)
    except (FileNotFoundError, ConnectionRefusedError):
        if not start:
            raise
    from holdfast.linux.start import ensure_keeper  # noqa: PLC0415  # starts processes

    ensure_keeper()
    return packets.connect(path, PATIENCE)


def _answer(link: socket.socket) -> Facts:
    gathered: list[Facts] = []
    while True:
        raw = link.recv(MAX_ANSWER)
        if not raw:
            raise OSError(errno.ECONNRESET, "it hung up")
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


def _listed(facts: Facts) -> Listed:
    ended = facts.get("exit")
    return Listed(
        id=str(facts.get("id")),
        name=str(facts.get("name") or ""),
        pid=int(facts.get("pid") or 0),
        state=str(facts.get("state") or "") if ended is None else "exited",
        exit=ended,
        command=[str(word) for word in facts.get("command") or ()],
        cwd=str(facts.get("cwd") or ""),
        created_ms=int(facts.get("created_ms") or 0),
        size=list(facts.get("size") or (0, 0)),
        keep=bool(facts.get("keep")),
    )
