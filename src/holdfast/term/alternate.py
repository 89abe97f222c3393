r"""Whether a program shows the alternate screen.

A full-screen program switches to it when it begins, and back when it ends:

    ESC [ ? 1049 h     shown; also 1047 and 47
    ESC [ ? 1049 l     not shown

This is looked for on demand, and not while a program prints. What was looked
through is not looked through again; the last switch counts.

I1  Any cut of a stream gives the same answer.
I2  The work is linear in what was printed since the last look.
"""

import re

_SWITCHES = (b"\x1b[?1049", b"\x1b[?1047", b"\x1b[?47")
_SWITCH = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")

OVERLAP = 7
"""Bytes looked at twice: a switch that is cut has fewer before its last."""


def last_switch(printed: bytes) -> bool | None:
    """Return whether the last switch shows the alternate screen; None if none is."""
    end = len(printed)
    while (at := max(printed.rfind(one, 0, end) for one in _SWITCHES)) >= 0:
        found = _SWITCH.match(printed, at)
        if found is not None:
            return found[1] == b"h"
        end = at + 1
    return None
