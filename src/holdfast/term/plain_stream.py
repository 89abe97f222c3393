r"""A program's output as text, piece by piece as it comes.

Theory of operation
-------------------
The same as term.plain, for output that is shown while it is printed. A piece may end
in the middle of an escape sequence, of a character, or between a carriage return and
its newline; what cannot be told yet is held until the next piece.

A carriage return in the middle of a line means that the line is written anew, as
progress bars do. It is left in the text, alone, before what replaces the line. On a
terminal that is what happens; `last_states` keeps what stood there last.

Invariants, each checked by tests/term/test_plain_stream.py:

I1  No control character but newline, tab and such a carriage return is left.
I2  However the output is cut into pieces, the text is the same.
I3  At most MAX_HELD bytes and a character are held between pieces.
"""

import codecs
import re

from holdfast.term.plain import ESCAPE

MAX_HELD = 4096
"""Bytes of a sequence that is not over; of a longer one only how it began is kept."""

_UNFINISHED = re.compile(
    rb"\x1b(?:\[[0-?]*+[ -/]*+|[\]PX^_][^\x07\x18\x1a\x1b]*+\x1b?|[ -/]*+)\Z"
)
"""What ESC begins, and the piece does not end."""

_INTRODUCER = 2
_LINE_END = re.compile(r"\r*\n")
_AGAIN = re.compile(r"\r+")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class PlainStream:
    """The text of one stretch of output."""

    def __init__(self) -> None:
        self._held = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._returns = False

    def feed(self, output: bytes) -> str:
        """Take what was printed next; return the text that is certain by now."""
        raw = self._held + output
        self._held = b""
        if (found := _UNFINISHED.search(raw)) is not None:
            self._held, raw = found[0], raw[: found.start()]
            if len(self._held) > MAX_HELD:
                self._held = self._held[:_INTRODUCER]
        return self._text(self._decoder.decode(ESCAPE.sub(b"", raw)))

    def end(self) -> str:
        """Return what was still held; a sequence that never ended is no text."""
        self._held = b""
        text = self._text(self._decoder.decode(b"", final=True))
        self._returns = False
        return text

    def _text(self, text: str) -> str:
        text = _CONTROL.sub("", text)
        if not text:
            return ""
        if self._returns:
            text = "\r" + text
        # What follows a return says whether it ends a line or begins it anew.
        self._returns = text.endswith("\r")
        return _AGAIN.sub("\r", _LINE_END.sub("\n", text.rstrip("\r")))


def last_states(output: bytes) -> str:
    """Return the text of output, each line as it was written last."""
    stream = PlainStream()
    text = stream.feed(output) + stream.end()
    return "\n".join(map(last_state, text.split("\n")))


def last_state(line: str) -> str:
    """Return what a line says after it was written anew, perhaps several times."""
    return line.rpartition("\r")[2]
