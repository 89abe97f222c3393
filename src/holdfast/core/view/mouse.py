r"""The mouse of a terminal whose session is framed.

The terminal is asked to report the mouse in one form (SGR, mode 1006), and the program
gets what it asked for: in the form it knows, at the place on its own screen. A program
that asked for nothing gets nothing; then the mouse is ours, for looking back.

I1  A program is told of no place outside its screen.
I2  What is no report of the mouse passes unchanged.
"""

import re
from typing import NamedTuple

from holdfast.core.view.viewport import Viewport
from holdfast.model.geometry import Size
from holdfast.term.key_reader import REPORT, Mouse

TRACKING = frozenset({9, 1000, 1002, 1003})
"""Modes in which a program is told of the mouse."""

SGR = 1006
OWN = frozenset({1000, 1002, SGR})
"""Modes of the terminal for our own use of the mouse."""

_KEYS = frozenset({1, 66, 1004, 2004})
"""Modes that a terminal has to be in because the program is: for keys and pastes."""

_REPORT = re.compile(rb"\x1b\[" + REPORT)
_HALF = re.compile(rb"\x1b\[<[\d;]{0,14}$")
_RELEASE, _OLDEST_LIMIT = 3, 223


class Sorted(NamedTuple):
    """What was typed, told apart."""

    keys: bytes
    """For the program."""

    ours: list[Mouse]
    """What the mouse did that is ours to heed."""


def terminal_modes(program: frozenset[int], *, is_ours: bool) -> frozenset[int]:
    """Return the modes that the terminal is to be in, for keys and mouse."""
    if is_ours:
        return OWN
    tracked = program & TRACKING
    return (program & _KEYS) | (tracked | {SGR} if tracked else OWN)


def half_report(data: bytes) -> bytes:
    """Return the beginning of a report with which `data` ends, if it does."""
    found = _HALF.search(data)
    return found[0] if found else b""


def sort_out(
    data: bytes,
    program: frozenset[int],
    viewport: Viewport,
    sizes: tuple[Size, Size],
) -> Sorted:
    """Tell keys from the mouse; `sizes` are the session's and the room for it."""
    if b"\x1b[<" not in data:
        return Sorted(data, [])
    session, room = sizes
    keys, ours, at = bytearray(), [], 0
    for found in _REPORT.finditer(data):
        keys += data[at : found.start()]
        at = found.end()
        mouse = Mouse.reported(found)
        if not program & TRACKING:
            ours.append(mouse)
        elif mouse.row < room.rows:
            keys += _told(mouse, program, viewport, session)
    keys += data[at:]
    return Sorted(bytes(keys), ours)


def _told(
    mouse: Mouse, program: frozenset[int], viewport: Viewport, session: Size
) -> bytes:
    column, row = mouse.column + viewport.left + 1, mouse.row + viewport.top + 1
    if column > session.columns or row > session.rows:
        return b""
    if SGR in program:
        final = b"m" if mouse.is_release else b"M"
        return b"\x1b[<%d;%d;%d%b" % (mouse.button, column, row, final)
    if max(mouse.button, column, row) > _OLDEST_LIMIT:
        return b""
    button = mouse.button & ~3 | _RELEASE if mouse.is_release else mouse.button
    return b"\x1b[M" + bytes((32 + button, 32 + column, 32 + row))
