"""Wire form of the commands that a session's shell executes.

Specified in docs/spec/wire.md, section 4.12.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import ClientOrNobody, Number, Part, Positive, Word

MAX_TOLD: Final = 4096
"""Characters of a line or a folder: the bytes that a mark has room for, each
written as four characters if none of them is text."""

MAX_STATUS: Final = 255
"""The greatest exit status that a shell can know."""

Told = Annotated[str, Meta(max_length=MAX_TOLD)]
Status = Annotated[int, Meta(ge=0, le=MAX_STATUS)]


class ShellCommand(Part, frozen=True, kw_only=True):
    """One command; it runs as long as it has no `end`.

    Its output is the stream from `start` to `end`. Without a `status` it is not
    known how it ended; an empty `line` or `cwd` is not known either.
    """

    number: Positive
    client: ClientOrNobody
    line: Told
    start: Number
    end: Number | None
    status: Status | None
    duration_ms: Number
    cwd: Told


class CommandStarted(Part, frozen=True):
    """The shell executes a command."""

    command: ShellCommand


class CommandEnded(Part, frozen=True):
    """The shell is done with a command."""

    command: ShellCommand


class CommandRequest(Part, frozen=True):
    """Asks for the shell's phase, and for the outcome of `client`'s command.

    Without a client: of the last one.
    """

    client: ClientOrNobody


class CommandReport(Part, frozen=True):
    """Where the shell is, and the command asked for, if it is known."""

    phase: Word
    command: ShellCommand | None
