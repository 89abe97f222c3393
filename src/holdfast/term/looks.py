"""Colours, and how letters are drawn.

A colour is one number, so that it can be compared and sent:

    0                   the terminal's own
    1 to 256            number 0 to 255 of the palette
    0x1000000 and more  exactly this: 0x1RRGGBB
"""

import enum

EXACT = 0x1000000
MAX_COLOUR = EXACT + 0xFFFFFF
"""The largest number of a colour: exact white."""

_STEPS = (0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF)
CUBE_AND_GREYS = (
    *(
        red << 16 | green << 8 | blue
        for red in _STEPS
        for green in _STEPS
        for blue in _STEPS
    ),
    *(0x010101 * level for level in range(8, 248, 10)),
)
"""The colours 16 to 255, which are the same in all terminals."""


class Look(enum.IntFlag):
    """How letters are drawn."""

    BOLD = 1
    FAINT = 2
    ITALIC = 4
    UNDERLINE = 8
    BLINK = 16
    INVERSE = 32
    INVISIBLE = 64
    STRUCK = 128
    OVERLINE = 256


MAX_LOOK = 511
"""Every look at once."""

SGR_LOOKS = {
    1: Look.BOLD,
    2: Look.FAINT,
    3: Look.ITALIC,
    4: Look.UNDERLINE,
    5: Look.BLINK,
    7: Look.INVERSE,
    8: Look.INVISIBLE,
    9: Look.STRUCK,
    53: Look.OVERLINE,
}
"""The number by which a terminal is told of each."""
