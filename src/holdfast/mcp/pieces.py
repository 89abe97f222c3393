r"""Where the stream can be cut without changing how it reads.

Theory of operation
-------------------
An agent reads the stream in pieces of its own size. A cut in the middle of an escape
sequence or a character would leave its rest as text in the next piece, and a colour
that hides text would be forgotten at the cut, so that the text behind it was not told
of as hidden. So a piece begins after whatever it would have only the end of, ends
before whatever it has only the beginning of, and is judged together with the colours
that were set before it.

Invariants, each checked by tests/mcp/test_pieces.py:

I1  A piece is never longer than the data, is its beginning, and is empty only if the
    data is.
I2  A piece begins no earlier than it was asked to, and in no sequence or character
    that fits into LONGEST bytes.
I3  The colours of what came before decide which part of a piece is hidden; of its text
    nothing is added or lost.
"""

import re

from holdfast.sdk.exported import Found, hidden_in_output

LEAD = 32 * 1024
"""Bytes before a piece whose colours count: programs set them line by line."""

LONGEST = 300
"""Bytes of a sequence that is kept whole: longer ones are titles and links."""

_SGR = re.compile(rb"\x1b\[[0-9;:]*m")
_UNFINISHED = re.compile(
    rb"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,256}\x1b?|[ -/]*)?"
    rb"|[\xc0-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf7][\x80-\xbf]{0,2})\Z"
)
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]{0,256}(?:\x07|\x1b\\)"
    rb"|[ -/]*[0-~])"
    rb"|[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3}"
)


def whole(data: bytes) -> bytes:
    """Return data without what it has only the beginning of."""
    unfinished = _UNFINISHED.search(data, max(0, len(data) - LONGEST))
    if unfinished is None or unfinished.start() == 0:
        return data
    return data[: unfinished.start()]


def begin(data: bytes, wanted: int) -> int:
    """Return the first place from `wanted` on that is in the middle of nothing."""
    unfinished = _UNFINISHED.search(data[:wanted], max(0, wanted - LONGEST))
    if unfinished is None:
        return wanted
    whole_one = _SEQUENCE.match(data, unfinished.start())
    return wanted if whole_one is None else max(wanted, whole_one.end())


def hidden_after(before: bytes, piece: bytes) -> list[Found]:
    """Return the parts of a piece that nobody sees, after the colours set before it."""
    return hidden_in_output(b"".join(_SGR.findall(before)) + piece)
