r"""What a terminal shows of a framed session, and the bytes that show it.

A frame is drawn on a canvas; what has changed since the last one is written, and the
cursor is put last, and hidden meanwhile. Letters are as wide as the session's emulator
counts them. The cells of rows that were there before are kept.

Invariants:

I1  A terminal that obeyed every drawing so far shows the last frame.
I2  The same frame twice costs nothing.
"""

from itertools import repeat
from typing import NamedTuple

from holdfast.core.view.rows import Row
from holdfast.model.geometry import Size
from holdfast.model.text_width import width_of
from holdfast.term.canvas import (
    BLANK,
    EVERY_COLOUR,
    Canvas,
    Cell,
    Depth,
    Style,
    changes,
)

_BEGIN, _END = b"\x1b[?2026h\x1b[?25l", b"\x1b[?2026l"
_SHOWN = b"\x1b[?25h"


class Frame(NamedTuple):
    """What a terminal is to show: as many rows as it has, and the cursor's place."""

    size: Size
    rows: tuple[Row, ...]
    cursor: tuple[int, int] | None
    """Row and column, from 0; None if it is hidden."""


class DrawnFrame:
    """The frame that one terminal shows, in the colours that it has."""

    def __init__(self, depth: Depth = EVERY_COLOUR) -> None:
        self._depth = depth
        self._last: tuple[Frame, Canvas] | None = None

    def forget(self) -> None:
        """Note that the terminal may show anything."""
        self._last = None

    def draw(self, frame: Frame) -> bytes:
        """Return what makes the terminal show `frame`; nothing if it does."""
        last, shown = self._last or (None, None)
        if frame == last:
            return b""
        canvas = Canvas(frame.size.columns, frame.size.rows)
        known: dict[Row, list[Cell]] = {}
        if last is not None and shown is not None and last.size == frame.size:
            known = dict(zip(last.rows, shown.cells, strict=False))
        for at, row in enumerate(frame.rows):
            # A row that has scrolled is one of those before.
            canvas.cells[at] = known.get(row) or _cells(row, canvas.columns)
        self._last = frame, canvas
        parts = [_BEGIN, changes(shown, canvas, self._depth)]
        if frame.cursor is not None:
            row_at, column = frame.cursor
            parts.append(b"\x1b[%d;%dH" % (row_at + 1, column + 1) + _SHOWN)
        return b"".join([*parts, _END])


def _cells(row: Row, columns: int) -> list[Cell]:
    cells: list[Cell] = []
    for piece in row:
        style = Style(piece.foreground, piece.background, piece.look)
        if piece.text.isascii():
            cells += zip(piece.text, repeat(style))
        else:
            _add(cells, piece.text, style)
    return [*cells, *[BLANK] * (columns - len(cells))]


def _mark(cells: list[Cell], mark: str) -> None:
    """Put a mark on the letter before; one without a letter is left out."""
    at = len(cells) - 1
    while at > 0 and not cells[at][0]:
        at -= 1
    if cells:
        cells[at] = cells[at][0] + mark, cells[at][1]


def _add(cells: list[Cell], text: str, style: Style) -> None:
    """Add letters of any width: marks stand on the letter before."""
    for letter in text:
        match width_of(letter):
            case 0:
                _mark(cells, letter)
            case 1:
                cells.append((letter, style))
            case _:
                cells += (letter, style), ("", style)
