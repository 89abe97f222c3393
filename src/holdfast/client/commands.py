"""A command in a session's shell: typed once, waited for, and its output gathered.

The client that sends it exists for this command only. With a key its id is made
of the key, so that whoever repeats it, after whatever died, is the same client to
the holder, and is told what came of the first.
"""

import hashlib
import os
import re
import time
from dataclasses import dataclass

from holdfast.client.acting import ourselves
from holdfast.client.attaching import attach, messages, submit
from holdfast.client.attachment import Attachment
from holdfast.client.connection import Connection
from holdfast.linux import folders
from holdfast.model.errors import (
    NotAtPrompt,
    OutcomeForgotten,
    SessionOver,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    ClientId,
    SessionId,
    client_id,
)
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import Message, error_from
from holdfast.wire.commands import (
    CommandEnded,
    CommandReport,
    CommandRequest,
    CommandStarted,
    ShellCommand,
)
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Exited, Gap, Mode, Output, Refuse

PROMPT_PATIENCE = 5.0
"""Seconds for a shell that has just begun, or just ended a command, to show its
prompt; one that runs something is not waited for."""

TYPING_PATIENCE = 10.0
"""Seconds for the terminal to take a line."""

_STEP = 0.01
_PROMPT = "prompt"
_SOON = frozenset({"unmarked", "between"})
_NO_CLIENT = ClientId("")


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command; `output` is the end of it, after `left_out` bytes.

    While it runs, because something expected was printed, `command` has no end.
    """

    command: ShellCommand
    output: bytes
    left_out: int


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

    def between(self, start: int, end: int | None) -> tuple[bytes, int]:
        """Return the last bytes from `start` to `end`, and how many are left out."""
        last = self._end if end is None else min(end, self._end)
        first = max(start, self._end - len(self._bytes), last - self._limit)
        begin = self._end - len(self._bytes)
        found = bytes(self._bytes[max(0, first - begin) : max(0, last - begin)])
        return found, max(0, (last if end is None else end) - start - len(found))


def client_of(session: str, key: str | None) -> ClientId:
    """Return the client that runs a command: of the key, or one never used before."""
    if key is None:
        return client_id(os.urandom(ENTROPY))
    parts = ("holdfast run", session, ourselves().actor.id, key)
    digest = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape"))
    return client_id(digest.digest()[:ENTROPY])


def ask(session: str, client: ClientId = _NO_CLIENT) -> CommandReport:
    """Return where the shell is, and the command that `client` sent, or the last.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        Forbidden: It may not be watched.

    """
    deadline = time.monotonic() + PROMPT_PATIENCE
    while True:
        try:
            return _ask(SessionId(session), client, deadline)
        except SessionUnreachable:  # Its holder has a successor.
            if time.monotonic() >= deadline:
                raise


def _ask(wanted: SessionId, client: ClientId, deadline: float) -> CommandReport:
    with Connection.open(wanted, folders.session_address(wanted)) as link:
        link.send(CommandRequest(client))
        for message in messages(link, deadline):
            match message:
                case CommandReport():
                    return message
                case Refuse(refused=FrameKind.COMMAND_REQUEST):
                    raise error_from(message)
                case _:
                    pass
    raise WaitedInVain("an answer of the session", round(PROMPT_PATIENCE * 1000))


class Running:
    """One command, from its first key to its end."""

    def __init__(self, session: str, client: ClientId, deadline: float) -> None:
        self._session = SessionId(session)
        self._client = client
        self._deadline = deadline
        self._begun = time.monotonic()

    def type(self, line: bytes) -> int:
        """Type the line at the prompt, once; return where its output may begin.

        Raises:
            Unavailable: The shell is not at its prompt.
            HoldfastError: It was refused, and why.

        """
        patience = min(self._deadline, time.monotonic() + PROMPT_PATIENCE)
        was_there = False
        while True:
            attachment = Attachment(self._session, self._client)
            left = max(_STEP, min(self._deadline - time.monotonic(), TYPING_PATIENCE))
            try:
                offset = submit(attachment, InputKind.COMMAND, line + b"\r", left)
            except OutcomeForgotten:
                return 0  # It was typed, and is asked for by its client.
            except NotAtPrompt:
                phase = ask(self._session).phase
                # It may have come to its prompt since; refused there a second
                # time, something else stands in the way.
                is_soon = phase in _SOON or (phase == _PROMPT and not was_there)
                was_there = phase == _PROMPT
                if not is_soon or time.monotonic() >= patience:
                    raise
                time.sleep(_STEP)
            else:
                return offset or 0

    def wait(
        self, offset: int, limit: int, expected: re.Pattern[bytes] | None = None
    ) -> Ran:
        """Wait until the command has ended, or has printed what is expected.

        Raises:
            Unavailable: It did not come in time; the command goes on.
            UsageError: The session ended first.

        """
        found = ask(self._session, self._client).command
        begin = offset if found is None else found.start
        watch = _Watch(self._session, self._client, Gathered(limit), expected)
        attachment = Attachment(self._session, client_of("", None), Mode.OBSERVE)
        attachment.offset, attachment.incarnation = begin, FIRST_INCARNATION
        while time.monotonic() < self._deadline:
            try:
                link, _ = attach(attachment)
                with link:
                    ran = watch.follow(link, attachment, self._deadline)
                if ran is not None:
                    return ran
            except SessionUnreachable:
                if time.monotonic() >= self._deadline:
                    raise
        waited = round((self._deadline - self._begun) * 1000)
        raise WaitedInVain("the end of the command, which goes on", waited)


class _Watch:
    """What is known of a command that is waited for, whichever link it came on."""

    def __init__(
        self,
        session: SessionId,
        client: ClientId,
        gathered: Gathered,
        expected: re.Pattern[bytes] | None,
    ) -> None:
        self._session = session
        self._client = client
        self._gathered = gathered
        self._expected = expected
        self._command: ShellCommand | None = None

    def follow(
        self, link: Connection, attachment: Attachment, deadline: float
    ) -> Ran | None:
        link.send(CommandRequest(self._client))
        for message in messages(link, deadline):
            self._hear(message, attachment)
            if self._is_over(attachment.offset or 0):
                return self._ran()
        return None

    def _hear(self, message: Message, attachment: Attachment) -> None:
        match message:
            case Output(offset, data):
                printed = attachment.heard(message)
                self._gathered.add(offset + len(data) - len(printed), printed)
            case Gap():
                attachment.heard(message)
            case CommandStarted(command) | CommandEnded(command) if self._is_ours(
                command
            ):
                self._command = command
            case CommandReport(_, command) if command is not None:
                self._command = command
            case Exited():
                raise SessionOver("exited while the command ran")
            case _:
                attachment.heard(message)

    def _is_ours(self, command: ShellCommand) -> bool:
        return command.client == self._client

    def _is_over(self, seen: int) -> bool:
        command = self._command
        if command is None:
            return False
        if command.end is not None:
            return seen >= command.end
        if self._expected is None:
            return False
        printed, _ = self._gathered.between(command.start, None)
        return self._expected.search(printed) is not None

    def _ran(self) -> Ran:
        assert self._command is not None  # noqa: S101  # asked by `_is_over`
        output, left_out = self._gathered.between(
            self._command.start, self._command.end
        )
        return Ran(self._command, output, left_out)
