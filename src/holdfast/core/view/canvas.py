r"""The bytes that turn one frame on a terminal into the next.

Theory of operation
-------------------
The canvas knows what it has drawn. Of a new frame it writes the rows that differ, each
from the first piece that does; the cursor is put last, and hidden meanwhile. What is
drawn together is shown together, by terminals that know how (mode 2026).

A terminal may count the columns of a letter otherwise than we do. So a row with any but
ASCII letters is drawn from its beginning, and wrapping is off: what goes wrong in a
row stays in it.

Invariants:

I1  A terminal that obeyed every drawing so far shows the last frame.
I2  The same frame twice costs nothing.
"""

from typing import NamedTuple

from holdfast.core.view.rows import EMPTY, Row, painted, width_of_row
from holdfast.model.geometry import Size

_BEGIN, _END = b"\x1b[?2026h\x1b[?25l", b"\x1b[?2026l"
_SHOWN = b"\x1b[?25h"


class Frame(NamedTuple):
    """What a terminal is to show: as many rows as it has, and the cursor's place."""

    size: Size
    rows: tuple[Row, ...]
    cursor: tuple[int, int] | None
    """Row and column, from 0; None if it is hidden."""


class Canvas:
    """What is drawn on one terminal."""

    def __init__(self) -> None:
        self._last: Frame | None = None

    def forget(self) -> None:
        """Take that the terminal may show anything."""
        self._last = None

    def draw(self, frame: Frame) -> bytes:
        """Return what makes the terminal show `frame`; nothing if it does."""
        last = self._last
        if frame == last:
            return b""
        self._last = frame
        parts = [_BEGIN]
        if last is None or last.size != frame.size:
            parts.append(b"\x1b[m\x1b[2J")
            before: tuple[Row, ...] = (EMPTY,) * len(frame.rows)
        else:
            before = last.rows
        columns = frame.size.columns
        for number, (old, new) in enumerate(zip(before, frame.rows, strict=True)):
            if old != new:
                parts.append(_changed(number, old, new, columns))
        if frame.cursor is not None:
            row, column = frame.cursor
            parts.append(b"\x1b[%d;%dH" % (row + 1, column + 1) + _SHOWN)
        parts.append(_END)
        return b"".join(parts)


def _changed(number: int, old: Row, new: Row, columns: int) -> bytes:
    same, column = 0, 0
    while (
        same < min(len(old), len(new))
        and old[same] == new[same]
        and new[same].text.isascii()
    ):
        column += len(new[same].text)
        same += 1
    width = width_of_row(new)
    # In the last column the cursor stands on what it has drawn.
    rest = b"\x1b[K" if width < columns else b""
    drawn = painted(new[same:])
    return b"\x1b[%d;%dH" % (number + 1, column + 1) + drawn + rest
