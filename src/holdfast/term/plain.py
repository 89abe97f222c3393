r"""A program's output without anything that a terminal obeys.

Theory of operation
-------------------
Output is read by programs as text. Escape sequences and control characters are
taken out; a line end is one newline, whichever way it was printed, and so is a
carriage return in the middle of a line, so that what a progress bar wrote over
itself stands below each other. Tabs stay. What is no UTF-8 becomes U+FFFD.

Invariants:

I1  No control character but newline and tab is left.
I2  What has no escape sequence and no control character is left as it is.
I3  The work is linear in the output.
"""

import re

ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]*+[ -/]*+[@-~]"
    rb"|[\]PX^_][^\x07\x18\x1a\x1b]*+(?:\x07|\x18|\x1a|\x1b\\|(?=\x1b)|\Z)"
    rb"|[ -/]*+[0-~])"
)
"""What ESC begins: CSI, a string of any kind, or a short sequence."""

_LINE_END = re.compile(r"\r*\n|\r+")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(output: bytes) -> str:
    """Return the text of what was printed."""
    text = ESCAPE.sub(b"", output).decode("utf-8", "replace")
    return _CONTROL.sub("", _LINE_END.sub("\n", text))
