r"""Output that a person at the terminal would not have seen.

Theory of operation
-------------------
Output that is read as text (term.plain) has lost its colours, and with them what
made some of it invisible: concealed text, and text in the colour of its background,
read like any other. So the colours are followed here, and what they hide is told
beside the text, with the characters that show nothing or turn the reading order.

Only colours and characters are followed, and no places: what was written over or
erased is in the text too. What is to be seen now, a screen says (term.screen).

Invariants, each checked by tests/term/test_printed.py:

I1  What is found is in the text, or is a character of it.
I2  No more than MAX_FOUND stretches are told, each at most MAX_TEXT long; the last
    one may stand for more. Of characters each kind is told once.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from holdfast.term.cells import Pen
from holdfast.term.looks import CUBE_AND_GREYS
from holdfast.term.plain import plain
from holdfast.term.unseen import Palette, Reason, reason_for, unseen_in

MAX_FOUND = 32
"""Findings that are told: more are one warning."""

MAX_TEXT = 200
"""Characters of each: enough to know it by."""

_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
_FIRST = (
    *(0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5),
    *(0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF),
)
USUAL = Palette((*_FIRST, *CUBE_AND_GREYS))
"""The colours of most terminals, where nobody has been asked for his own."""


class Found(NamedTuple):
    """Text that was not to be seen; or the numbers of characters that are not."""

    reason: Reason
    text: str


def hidden_in_output(output: bytes) -> list[Found]:
    """Return the parts of this output that a person would not have seen."""
    found = [*islice(_coloured(output), MAX_FOUND)]
    if len(found) == MAX_FOUND:
        found[-1] = Found(Reason.MIXED, "and more")
    return [*found, *_characters(plain(output))]


def _coloured(output: bytes) -> Iterator[Found]:
    pen, last = Pen(), 0
    reason: Reason | None = None
    known: dict[bytes, Reason | None] = {}
    for change in _SGR.finditer(output):
        yield from _drawn(reason, output[last : change.start()])
        pen.change(change[1].decode())
        look = b"%d %d %d" % (pen.foreground, pen.background, pen.look)
        if look not in known:
            known[look] = reason_for(pen.draw(""), USUAL)
        reason, last = known[look], change.end()
    yield from _drawn(reason, output[last:])


def _drawn(reason: Reason | None, output: bytes) -> Iterator[Found]:
    text = "" if reason is None else plain(output).strip()[:MAX_TEXT]
    if reason is not None and text:
        yield Found(reason, text)


def _characters(text: str) -> Iterator[Found]:
    numbers: dict[Reason, dict[str, None]] = {}
    for at, reason in () if text.isascii() else unseen_in(text):
        numbers.setdefault(reason, {})[f"U+{ord(text[at]):04X}"] = None
    for reason, which in numbers.items():
        yield Found(reason, " ".join(which)[:MAX_TEXT])
