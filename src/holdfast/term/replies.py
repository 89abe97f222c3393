"""Answers to terminal queries that do not depend on the screen.

One terminal answers for all viewers: a plain VT220 with colours, on a dark
ground, that knows no optional mode. A reply is made of fixed text and of numbers
that were read as numbers and cut down, so no program can make the host type
what it likes (T58). Where the screen must be asked, the answer is None here and
the painter gives it; where nothing is to be told, it is None and stays so.
"""

from holdfast.model.geometry import Size
from holdfast.term.looks import CUBE_AND_GREYS
from holdfast.term.queries import ST, Query, QueryKind

NAME = b"holdfast"

CELL_WIDTH, CELL_HEIGHT = 8, 16
"""Pixels of a nominal cell: viewers differ, and programs need only the ratio."""

MAX_ASKED = 256
"""Colours answered to one query: every one there is, once."""

_CSI = b"\x1b["
_OSC = b"\x1b]"
_DCS = b"\x1bP"

_FIXED = {
    QueryKind.PRIMARY_ATTRIBUTES: _CSI + b"?62;22c",
    QueryKind.SECONDARY_ATTRIBUTES: _CSI + b">1;1;0c",
    QueryKind.TERTIARY_ATTRIBUTES: _DCS + b"!|00000000" + ST,
    QueryKind.STATUS: _CSI + b"0n",
    QueryKind.SETTING: _DCS + b"0$r" + ST,
    QueryKind.CAPABILITY: _DCS + b"0+r" + ST,
    QueryKind.VERSION: _DCS + b">|" + NAME + ST,
}

_ONLY_WITHOUT_PARAMETER = frozenset(
    {
        QueryKind.PRIMARY_ATTRIBUTES,
        QueryKind.SECONDARY_ATTRIBUTES,
        QueryKind.TERTIARY_ATTRIBUTES,
        QueryKind.VERSION,
    }
)
"""A parameter other than 0 makes these something that terminals ignore."""

_FOREGROUND, _BACKGROUND = 0xD0D0D0, 0x101010
_COLOURS = {
    10: _FOREGROUND,
    11: _BACKGROUND,
    12: _FOREGROUND,  # cursor
    17: 0x404040,  # ground of what is selected
    19: _FOREGROUND,  # what is selected
}

_ANSI = (
    *(0x000000, 0xCD3131, 0x0DBC79, 0xE5E510, 0x2472C8, 0xBC3FBC, 0x11A8CD, 0xD0D0D0),
    *(0x666666, 0xF14C4C, 0x23D18B, 0xF5F543, 0x3B8EEA, 0xD670D6, 0x29B8DB, 0xFFFFFF),
)
PALETTE = _ANSI + CUBE_AND_GREYS
"""The 256 colours of xterm, the first 16 toned for a dark ground."""


def reply(query: Query, size: Size) -> bytes | None:
    """Return what the program is to read as the answer, or None for nothing.

    At most about 8 KiB, for a query that asks for every colour at once.
    """
    match query.kind:
        case QueryKind.MODE:
            return _CSI + b"%d;0$y" % query.numbers[0]
        case QueryKind.PRIVATE_MODE:
            return _CSI + b"?%d;0$y" % query.numbers[0]
        case QueryKind.PALETTE:
            return _palette(query.numbers)
        case QueryKind.COLOUR:
            return _colours(query.numbers)
        case QueryKind.WINDOW:
            return _window(query.numbers[0], size)
        case _:
            return _fixed(query)


def _fixed(query: Query) -> bytes | None:
    if query.kind in _ONLY_WITHOUT_PARAMETER and any(query.numbers[:1]):
        return None
    return _FIXED.get(query.kind)


def _palette(asked: tuple[int, ...]) -> bytes | None:
    answers = [
        _OSC + b"4;%d;%s" % (colour, _rgb(PALETTE[colour])) + ST
        for colour in asked[:MAX_ASKED]
        if colour < len(PALETTE)
    ]
    return b"".join(answers) or None


def _colours(asked: tuple[int, ...]) -> bytes | None:
    answers = [
        _OSC + b"%d;%s" % (code, _rgb(_COLOURS[code])) + ST
        for code in asked[:MAX_ASKED]
        if code in _COLOURS
    ]
    return b"".join(answers) or None


def _rgb(colour: int) -> bytes:
    red, green, blue = colour.to_bytes(3, "big")
    return b"rgb:%02x%02x/%02x%02x/%02x%02x" % (red, red, green, green, blue, blue)


def _window(report: int, size: Size) -> bytes | None:
    height, width = size.rows * CELL_HEIGHT, size.columns * CELL_WIDTH
    return {
        11: _CSI + b"1t",  # open, not iconified
        13: _CSI + b"3;0;0t",
        14: _CSI + b"4;%d;%dt" % (height, width),
        15: _CSI + b"5;%d;%dt" % (height, width),
        16: _CSI + b"6;%d;%dt" % (CELL_HEIGHT, CELL_WIDTH),
        18: _CSI + b"8;%d;%dt" % (size.rows, size.columns),
        19: _CSI + b"9;%d;%dt" % (size.rows, size.columns),
        # Never the title: it was chosen by a program, and would be typed.
        20: _OSC + b"L" + ST,
        21: _OSC + b"l" + ST,
    }.get(report)
