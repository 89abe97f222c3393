"""Wire form of a screen.

In parts, because the largest has a million cells: every part repeats what is
said of the whole screen, and carries as much of its text and of its runs as
fits one frame. Specified in docs/spec/wire.md, section 4.3.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.model.geometry import MAX_SIDE
from holdfast.wire.messages import Cells, Number, Part, Text, Word

MAX_SCREEN_TEXT: Final = 32 * 1024
"""Characters of a screen in one SCREEN: a screen of common size is a quarter."""

MAX_SCREEN_RUNS: Final = 64
"""Runs in one SCREEN; with the text, as many as a frame has room for."""

MAX_RUN_TEXT: Final = 256
"""Characters in one run: a line of a wide terminal."""

MAX_SCREEN_HIDDEN: Final = 256
"""Hidden stretches in one SCREEN: ten for each row of a screen of common size."""

MAX_ROW: Final = 16 * MAX_SIDE
"""Characters of one row: as many in each cell as a cell may have."""

MAX_COLOUR: Final = 0x1FFFFFF
"""The greatest number of a colour."""

MAX_LOOK: Final = 511
"""The greatest number of a look: every bit of it."""

Place = Annotated[int, Meta(ge=0, le=MAX_SIDE - 1)]
Colour = Annotated[int, Meta(ge=0, le=MAX_COLOUR)]


class ScreenRequest(Part, frozen=True):
    """Asks for the screen, with colours or without."""

    cells: bool


class ScreenRun(Part, frozen=True):
    """Text in one row that looks the same."""

    row: Place
    text: Annotated[str, Meta(max_length=MAX_RUN_TEXT)]
    foreground: Colour
    background: Colour
    look: Annotated[int, Meta(ge=0, le=MAX_LOOK)]


class ScreenHidden(Part, frozen=True):
    """Characters `start` to `end` of a row that a person would not see, and why."""

    row: Place
    start: Annotated[int, Meta(ge=0, le=MAX_ROW)]
    end: Annotated[int, Meta(ge=1, le=MAX_ROW)]
    reason: Word


class Screen(Part, frozen=True, kw_only=True):
    """What is to be seen at `offset`, or a part of it, when `more` follows.

    `above` counts the rows that have scrolled out at the top.
    """

    offset: Number
    size: Cells
    cursor_row: Place
    cursor_column: Place
    cursor_visible: bool
    title: Text
    alternate: bool
    exact: bool
    text: Annotated[str, Meta(max_length=MAX_SCREEN_TEXT)]
    runs: Annotated[tuple[ScreenRun, ...], Meta(max_length=MAX_SCREEN_RUNS)]
    hidden: Annotated[tuple[ScreenHidden, ...], Meta(max_length=MAX_SCREEN_HIDDEN)]
    above: Number
    more: bool
