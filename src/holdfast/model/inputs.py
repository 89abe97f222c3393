"""What an operator sends, by any route.

Every route makes the same thing: an Input. Its id is a client and a count, so
that "never twice" needs no unbounded memory (ADR 0003).
"""

import enum
import hashlib
import re

import msgspec

from holdfast.model.envelopes import Right
from holdfast.model.errors import LineTooLong, MalformedArgument
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.text import printable

MAX_INPUT = 64 * 1024
"""Bytes in one input: a large paste in one piece, a small part of a window."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

RESIZES = "resizes per second"
"""What a budget calls the rate of resizes, which a client may wait out unasked."""


class InputKind(enum.StrEnum):
    """The kind of an act; RIGHT_FOR says which right each needs."""

    KEYS = "keys"
    COMMAND = "command"
    SIGNAL = "signal"
    RESIZE = "resize"
    ANSWER = "answer"
    START = "start"  # the command a session is made for; only its holder makes it


TYPED = frozenset({InputKind.KEYS, InputKind.COMMAND, InputKind.ANSWER})
"""Kinds whose bytes go to the terminal as they are."""

RIGHT_FOR: dict[InputKind, Right] = {
    InputKind.KEYS: Right.INPUT,
    InputKind.ANSWER: Right.INPUT,
    InputKind.COMMAND: Right.COMMAND,
    InputKind.SIGNAL: Right.SIGNAL,
    InputKind.RESIZE: Right.RESIZE,
    InputKind.START: Right.CREATE,
}


class InputId(msgspec.Struct, frozen=True):
    """An input's id: the `sequence`-th that `client` ever sent, from 1."""

    client: ClientId
    sequence: int


class Input(msgspec.Struct, frozen=True):
    """One act of one operator, made under one turn of one incarnation."""

    id: InputId
    actor: ActorId
    kind: InputKind
    incarnation: Incarnation
    epoch: Epoch
    payload: bytes
    seen: int | None = None
    """Up to which offset of the stream its sender had seen, if that is known."""

    waits: bool = True
    """Whether a client waits for the answer; if not, it may come a little later."""

    def digest(self) -> bytes:
        """Return what an approval or an outcome is bound to: kind and bytes."""
        return hashlib.sha256(self.kind.encode() + b"\0" + self.payload).digest()


def digest_of(kind: InputKind, payload: bytes) -> bytes:
    """Return the digest of an input of this kind with these bytes."""
    return hashlib.sha256(kind.encode() + b"\0" + payload).digest()


def shell_line(text: str) -> bytes:
    """Return a command as it is typed into a shell, without the Enter after it.

    Raises:
        UsageError: It is not one line of text, or is too long.

    """
    # A newline would make it several commands, a tab would complete, and any other
    # control character would be a key.
    if not text.strip() or _CONTROL.search(text):
        raise MalformedArgument(
            printable(text, 64),
            "one line for a shell: no newline, tab or other control character; join"
            " commands with `;`, or put them in a file and run that",
        )
    line = text.encode("utf-8", "surrogateescape")
    if len(line) >= MAX_INPUT:  # Enter comes with it.
        raise LineTooLong(len(line), MAX_INPUT - 1)
    return line
