"""A command in a session's shell: which is it, and what did it print?

The client that sends it exists for this command only. With a key its id is made
of the key, so that whoever repeats it, after whatever died, is the same client to
the holder, and is told what came of the first.
"""

import enum
import hashlib
import os
import time
from dataclasses import dataclass

from holdfast.client.acting import ourselves
from holdfast.client.attaching import messages
from holdfast.client.connection import Connection
from holdfast.model.errors import SessionUnreachable, WaitedInVain
from holdfast.model.ids import ENTROPY, ActorId, ClientId, SessionId, client_id
from holdfast.wire.codec import error_from
from holdfast.wire.commands import CommandReport, CommandRequest, ShellCommand
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Refuse

PATIENCE = 10.0
"""Seconds for an answer: a holder that hangs is replaced in less."""

MAX_MATCH = 64 * 1024
"""Bytes of what was printed in which something expected is looked for."""

_NO_CLIENT = ClientId("")


class Stop(enum.Enum):
    """Why a command is not waited for any longer."""

    ENDED = "ended"
    EXPECTED = "expected"  # it has printed what was expected
    ASKED = "asked"  # it waits for somebody to type
    LATE = "late"  # the time is up


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command; `output` is the end of it, after `left_out` bytes.

    While it runs `command` has no end; `state` is what the session did then, if
    that was looked at.
    """

    command: ShellCommand
    output: bytes
    left_out: int
    stop: Stop = Stop.ENDED
    state: str = ""


class Gathered:
    """The last bytes of a stretch of the stream: at most `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._end = 0

    def add(self, offset: int, printed: bytes) -> None:
        """Take what was printed at `offset`, which is where the last part ended."""
        if offset != self._end:
            self._bytes.clear()
        self._bytes += printed
        self._end = offset + len(printed)
        # Twice as much is kept, so that not every part moves all of it.
        if len(self._bytes) > 2 * self._limit:
            del self._bytes[: -self._limit]

    def since(self, start: int) -> bytes:
        """Return everything that is kept from `start` on."""
        return bytes(self._bytes[max(0, start - self._end + len(self._bytes)) :])

    def between(
        self, start: int, end: int | None, limit: int | None = None
    ) -> tuple[bytes, int]:
        """Return the last bytes from `start` to `end`, and how many are left out."""
        limit = self._limit if limit is None else limit
        last = self._end if end is None else min(end, self._end)
        first = max(start, self._end - len(self._bytes), last - limit)
        begin = self._end - len(self._bytes)
        found = bytes(self._bytes[max(0, first - begin) : max(0, last - begin)])
        return found, max(0, (last if end is None else end) - start - len(found))


def client_of(session: str, key: str | None) -> ClientId:
    """Return the client that runs a command: of the key, or one never used before."""
    if key is None:
        return client_id(os.urandom(ENTROPY))
    return keyed_client(session, ourselves().actor.id, key)


def keyed_client(session: str, actor: ActorId, key: str) -> ClientId:
    """Return the client by which an operator runs what has this key."""
    parts = ("holdfast run", session, actor, key)
    digest = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape"))
    return client_id(digest.digest()[:ENTROPY])


def ask(session: str, client: ClientId = _NO_CLIENT) -> CommandReport:
    """Return where the shell is, and the command that `client` sent, or the last.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        Forbidden: It may not be watched.

    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with Connection.open(SessionId(session)) as link:
                return reports_on(link, client)[0]
        except SessionUnreachable:  # Its holder has a successor.
            if time.monotonic() >= deadline:
                raise


def reports_on(link: Connection, *clients: ClientId) -> list[CommandReport]:
    """Return the same for each client, on a link that nothing else comes on yet.

    Raises:
        Unavailable: There is no answer, or nobody to give one.
        Forbidden: It may not be watched.

    """
    for client in clients:
        link.send(CommandRequest(client))
    found: list[CommandReport] = []
    for message in messages(link, time.monotonic() + PATIENCE):
        match message:
            case CommandReport():
                found.append(message)
                if len(found) == len(clients):
                    return found
            case Refuse(refused=FrameKind.COMMAND_REQUEST):
                raise error_from(message)
            case _:
                pass
    raise WaitedInVain("an answer of the session", round(PATIENCE * 1000))
