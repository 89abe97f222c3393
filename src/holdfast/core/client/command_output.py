"""The result of a command in a session's shell, and its output."""

import enum
import re
from dataclasses import dataclass

from holdfast.model.errors import CommandGoesOn, EndUnknown
from holdfast.wire.commands import ShellCommand

MAX_MATCH = 64 * 1024
"""Bytes of what was printed in which something expected is looked for."""


class Stop(enum.Enum):
    """Why a command is not waited for any longer."""

    ENDED = "ended"
    EXPECTED = "expected"  # it has printed what was expected
    ASKED = "asked"  # it waits for input
    LATE = "late"  # the time is up
    PROMPTED = "prompt"  # it has no marks, and its prompt stands there again
    LEFT = "left"  # it was an interpreter, and another program has the terminal now


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command; `output` is the end of it, after `left_out` bytes.

    Of what is left out, `head` has the first bytes, if requested. While it
    runs `command` has no end; `state` is what the session did then, if that was looked
    at.
    """

    command: ShellCommand
    output: bytes
    left_out: int
    stop: Stop = Stop.ENDED
    state: str = ""
    head: bytes = b""
    lost: int = 0
    """How many bytes were gone before they could be passed on."""

    @property
    def omitted(self) -> int:
        """How many bytes are in neither of the two."""
        return self.left_out - len(self.head)

    def demand_settled(self, waited_ms: int) -> None:
        """Do nothing if it stopped in time, and how it ended is known.

        Raises:
            Unsettled: The command is still running, or its exit status is not known.

        """
        command = self.command
        if self.stop is Stop.LATE:
            raise CommandGoesOn(command.start, waited_ms, self.state or "not known")
        if self.stop is Stop.ENDED and command.status is None:
            raise EndUnknown(command.number)


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

    @property
    def end(self) -> int:
        """Where the next part is expected."""
        return self._end

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


_END_MARK = re.compile(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* {8,}\r \r\Z")
"""What zsh prints before its prompt, so that it begins on a line of its own."""


_MAYBE_END_MARK = re.compile(
    rb"(?:\x1b\[[0-9;]*m)+[%#](?:\x1b\[[0-9;]*m)* *(?:\r ?\r?)?\Z"
)
"""What may become that, when more is printed."""


class Following:
    """What a command prints, each byte once, while it is printed."""

    def __init__(self, head: int) -> None:
        self.head = bytearray()
        """The first bytes of it."""

        self.lost = 0
        """How many bytes were gone before they could be read."""

        self._room = head
        self._at: int | None = None

    def follow(self, command: ShellCommand, gathered: Gathered) -> bytes:
        """Return what is new; what may not be the command's is left for later."""
        at = command.start if self._at is None else self._at
        end = gathered.end if command.end is None else min(command.end, gathered.end)
        end = max(at, end)
        fresh, missing = gathered.between(at, end, end - at)
        tidy = without_end_mark(fresh)
        if command.end is None:
            found = _MAYBE_END_MARK.search(fresh)
            fresh = tidy = fresh if found is None else fresh[: found.start()]
        self._at = at + missing + len(fresh)
        self.lost += missing
        if not self.lost:
            self.head += tidy[: self._room - len(self.head)]
        return tidy


def without_end_mark(output: bytes) -> bytes:
    """Return what the command printed, without what zsh adds before its prompt."""
    return _END_MARK.sub(b"", output)
