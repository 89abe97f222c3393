r"""The shell's own marks in a program's output, and their meaning.

Theory of operation
-------------------
A shell with our integration prints a mark before its prompt, before a command
and after it. QueryFilter takes everything out of the stream that looks like one;
here it is decided what counts:

    ESC ] 7077 ; nonce ; P [ ; number ] ESC \        the prompt comes next
    ESC ] 7077 ; nonce ; L ; size ; line ESC \       this stands on the line now
    ESC ] 7077 ; nonce ; B ; size ; line ESC \       the same, as it was asked for
    ESC ] 7077 ; nonce ; C ; size ; line ESC \       this line is executed now
    ESC ] 7077 ; nonce ; D ; status ; cwd ESC \      it has ended, in this folder

A control byte, a semicolon, a backslash and the byte C2 in `line` and `cwd` are
written as `\x` and two digits: C2 may begin a C1 control, which would end the mark
early and show the nonce to viewers. Any other byte may be.
`size` is how long the line is; what is longer than MAX_LINE is cut, and a size of 0
says that the shell does not know its line; only in a B, that it is empty. A folder
that is too long is left empty, which means that it is not known. `number` is that of
the message in which the shell has said what is set in it now
(core.shell.state_messages); without one it has not said that.

Any program can print a mark; only the shell knows the nonce. A mark that
is not exactly of this form, or has another nonce, is dropped: viewers never see
it, and nothing comes of it. One longer than QueryFilter waits for is let through
as plain text by that, and is no mark either.

Invariants:

I1  Without the nonce no bytes make a mark.
I2  What a shell writes of a mark is read back as it was.
I3  Whatever the bytes, a mark within bounds comes out of them, or None.
"""

import hmac
import re
from dataclasses import dataclass

NONCE = 32
"""Hexadecimal digits in a nonce: 128 bits, which nobody guesses."""

MAX_LINE = 1024
"""Bytes of a line or a folder: each may need four in the mark, and a mark that
is longer than QueryFilter waits for (MAX_SEQUENCE) would be lost."""

MAX_STATUS = 255
"""The greatest status that a shell can know."""

_TEXT = rb"((?>[ -:<-\[\]-~\x80-\xc1\xc3-\xff]|\\x[0-9A-Fa-f]{2})*+)"
_FORM = re.compile(
    rb"\x1b\]7077;([0-9a-f]{32});"
    rb"(?:(P)(?:;([0-9]{1,9}))?|([BCL]);([0-9]{1,7});"
    + _TEXT
    + rb"|D;([0-9]{1,3});"
    + _TEXT
    + rb")\x1b\\"
)
_ESCAPED = re.compile(rb"\\x([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Prompted:
    """The shell is about to show its prompt.

    What is set in it is in its message of this `number`; 0: it has not said.
    """

    number: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands on the line that the shell edits now, which has `size` bytes."""

    line: str
    size: int


@dataclass(frozen=True, slots=True)
class Buffer:
    """What stood on the line, of `size` bytes, when the shell was asked for it."""

    line: str
    size: int


@dataclass(frozen=True, slots=True)
class Began:
    """The shell is about to execute `line`, which has `size` bytes; 0: unknown."""

    line: str
    size: int

    @property
    def is_known(self) -> bool:
        """Whether the shell said all of its line."""
        return 0 < self.size <= MAX_LINE


@dataclass(frozen=True, slots=True)
class Ended:
    """What the shell executed last has ended; '' is a folder it does not tell."""

    status: int
    cwd: str


Mark = Prompted | Standing | Buffer | Began | Ended

_OF_LINES: dict[bytes, type[Standing | Buffer | Began]] = {
    b"B": Buffer,
    b"C": Began,
    b"L": Standing,
}


def read_mark(raw: bytes, nonce: bytes) -> Mark | None:
    """Return what a mark says, or None if it is not one of the shell with `nonce`."""
    found = _FORM.fullmatch(raw)
    if found is None or not hmac.compare_digest(found[1], nonce):
        return None
    _, prompt, number, letter, size, line, status, cwd = found.groups()
    if prompt is not None:
        return Prompted(int(number or 0))
    if size is not None:
        said = _plain(line)
        if len(said) != min(int(size), MAX_LINE):
            return None
        return _OF_LINES[letter](_text(said), int(size))
    folder = _plain(cwd)
    if int(status) > MAX_STATUS or len(folder) > MAX_LINE:
        return None
    return Ended(int(status), _text(folder))


def _plain(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), text)


def _text(raw: bytes) -> str:
    # What is no UTF-8 is shown as what it is, and never as something else.
    return raw.decode("utf-8", "backslashreplace")
