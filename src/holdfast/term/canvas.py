"""The cells of a screen of our own, and the bytes that make a terminal show them.

A `Canvas` is drawn anew for each picture; `difference` returns what has to be written
so that a terminal that shows one canvas shows another. Wrapping has to be off there.

I1  No cell has a control character, a line break, or a character that turns the
    reading order or hides itself: a stand-in is drawn instead.
I2  What is drawn stays within its width: a wide character that does not fit is left
    out, and nothing of it remains when a half of it is drawn over.
I3  Terminals disagree about the width of letters beyond ASCII. So the place of what
    follows such a letter is said again, unless it is the same letter; and no row is
    spoiled further than that.
"""

import functools
import unicodedata
from itertools import groupby
from operator import itemgetter, ne
from typing import NamedTuple

from holdfast.term.looks import CUBE_AND_GREYS, EXACT, SGR_LOOKS

MAX_CELL = 8
"""Characters in one cell: a letter, and what is put on it."""

_BASIC = 16
_BLACK, _WHITE = 1, 16
"""As colours are numbered in a style."""

_HALF = 3 * 0x80
"""Red, green and blue of what is neither dark nor light, together."""

_ERASE = "\x1b[0m\x1b[K"
_NEAR = 8
"""Unchanged cells between two changes that are written again: to skip them, a
terminal has to be sent as many bytes."""

_STAND_IN = "\ufffd"
_ADDED = frozenset({"Mn", "Me"})
_UNFIT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SELECTORS = ("\ufe00", "\ufe0f")
_SGR = tuple((int(look), str(number)) for number, look in SGR_LOOKS.items())

_SIXTEEN = (
    *(0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5),
    *(0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF),
)


class Style(NamedTuple):
    """How letters are drawn; colours are numbered as in term.looks."""

    foreground: int = 0
    background: int = 0
    look: int = 0


class Depth(NamedTuple):
    """How many colours a terminal has: none, 16, 256, or all (`is_exact`)."""

    colours: int = _BASIC
    is_exact: bool = False


PLAIN = Style()
SIXTEEN = Depth()
EVERY_COLOUR = Depth(256, is_exact=True)

Cell = tuple[str, Style]
"""What stands in it; nothing if it is the right half of the cell before."""

BLANK: Cell = (" ", PLAIN)
_known: dict[str, tuple[str, int]] = {}


def measured(character: str) -> tuple[str, int]:
    """Return how a character is drawn, and in how many cells."""
    found = _known.get(character)
    if found is None:
        found = _known[character] = _measure(character)
    return found


def _measure(character: str) -> tuple[str, int]:
    category = unicodedata.category(character)
    first, last = _SELECTORS
    if character == "\u200d" or first <= character <= last:
        return "", 0  # An emoji of several is drawn as several, in every terminal.
    if category in _UNFIT:
        return _STAND_IN, 1
    if category in _ADDED:
        return character, 0
    is_wide = unicodedata.east_asian_width(character) in ("W", "F")
    return (character if category != "Zs" else " "), 2 if is_wide else 1


def width_of(text: str) -> int:
    """Return in how many cells a text is drawn."""
    return sum(measured(one)[1] for one in text)


def clipped(text: str, width: int) -> str:
    """Return a text that fits so many cells; one that is cut ends in '…'."""
    if width <= 0:
        return ""
    if width_of(text) <= width:
        return text
    at, left = 0, width - 1
    while (cells := measured(text[at])[1]) <= left:  # It ends: all do not fit.
        left -= cells
        at += 1
    return f"{text[:at]}…"


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines that fit so many cells, cut anywhere."""
    lines, left = [""], max(1, width)
    for character in text:
        cells = measured(character)[1]
        if cells > left:
            lines.append("")
            left = max(1, width)
        lines[-1] += character
        left -= cells
    return lines


class Canvas:
    """Cells in rows, all blank at first. Rows and columns count from 0."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = max(1, columns)
        self.rows = max(1, rows)
        self.cells: list[list[Cell]] = [
            [BLANK] * self.columns for _ in range(self.rows)
        ]

    def put(
        self,
        row: int,
        column: int,
        text: str,
        style: Style = PLAIN,
        width: int | None = None,
    ) -> int:
        """Draw a text, as much as fits so many cells; return the column after it."""
        end = self.columns if width is None else min(self.columns, column + width)
        if not 0 <= row < self.rows:
            return column
        cells = self.cells[row]
        for character in text:
            shown, size = measured(character)
            if size == 0:
                self._add(cells, column, shown)
                continue
            if column + size > end:
                break
            self._clear(cells, column, size)
            cells[column] = shown, style
            if size > 1:
                cells[column + 1] = "", style
            column += size
        return column

    def fill(self, row: int, column: int, width: int, style: Style) -> None:
        """Make cells blank, in a style."""
        self.put(row, column, " " * max(0, width), style)

    def text(self, row: int) -> str:
        """Return what stands in a row."""
        return "".join(shown for shown, _ in self.cells[row])

    def _clear(self, cells: list[Cell], column: int, size: int) -> None:
        """Leave no half of what is drawn over."""
        end = column + size
        if not cells[column][0] and column > 0:
            cells[column - 1] = " ", cells[column - 1][1]
        if end < self.columns and not cells[end][0]:
            cells[end] = " ", cells[end][1]

    def _add(self, cells: list[Cell], column: int, mark: str) -> None:
        """Put a mark on the letter before; one without a letter is left out."""
        at = column - 1
        while at > 0 and not cells[at][0]:
            at -= 1
        if at >= 0 and len(cells[at][0]) < MAX_CELL:
            cells[at] = cells[at][0] + mark, cells[at][1]


def difference(before: Canvas | None, after: Canvas, depth: Depth = SIXTEEN) -> bytes:
    """Return what makes a terminal show `after` that shows `before`.

    None stands for anything: the screen is cleared first. So it is for another size.
    """
    written = changes(before, after, depth)
    return b"\x1b[?2026h%b\x1b[?2026l" % written if written else b""


def changes(before: Canvas | None, after: Canvas, depth: Depth) -> bytes:
    """Return the same, to be written together with something else."""
    parts: list[str] = []
    is_same_size = before is not None and (before.columns, before.rows) == (
        after.columns,
        after.rows,
    )
    if before is None or not is_same_size:
        parts.append("\x1b[0m\x1b[2J")
        before = Canvas(after.columns, after.rows)
    for row, (old, new) in enumerate(zip(before.cells, after.cells, strict=True)):
        if old is not new and old != new:
            for start, end in _stretches(old, new):
                parts.append(f"\x1b[{row + 1};{start + 1}H")
                parts += _written(new, start, end, depth)
    if not parts:
        return b""
    return f"{''.join(parts)}\x1b[0m".encode()


def _stretches(old: list[Cell], new: list[Cell]) -> list[tuple[int, int]]:
    """Return the stretches that differ, each from the beginning of a character."""
    differ = [at for at, differs in enumerate(map(ne, old, new)) if differs]
    found: list[tuple[int, int]] = []
    if len(differ) * 2 > differ[-1] - differ[0]:  # Most: they are one.
        found.append((differ[0], differ[-1] + 1))
        differ = []
    for column in differ:
        start = column if new[column][0] else column - 1
        if found and start - found[-1][1] < _NEAR:
            found[-1] = found[-1][0], column + 1
        else:
            found.append((start, column + 1))
    return [(start - (not new[start][0]), end) for start, end in found]


def _written(cells: list[Cell], start: int, end: int, depth: Depth) -> list[str]:
    parts: list[str] = []
    last = _last(cells, start, end)
    column, before = start, " "
    for style, run in groupby(cells[start:last], itemgetter(1)):
        letters = [shown for shown, _ in run]
        text = "".join(letters)
        said = sgr(style, depth)
        if text.isascii() and before.isascii():  # Then none is wider than its cell.
            parts += said, text
            column += len(letters)
            continue
        for shown in letters:
            if shown:
                if not before.isascii() and shown != before:
                    parts.append(f"\x1b[{column + 1}G")
                parts += said, shown
                said, before = "", shown
            column += 1
    if last < end:
        place = "" if before.isascii() else f"\x1b[{last + 1}G"
        parts.append(place + _ERASE)
    return parts


def _last(cells: list[Cell], start: int, end: int) -> int:
    """Return where blanks begin that are better erased than written; else `end`."""
    if any(one != BLANK for one in cells[end:]):
        return end
    last = end
    while last > start and cells[last - 1] == BLANK:
        last -= 1
    return last if end - last >= len(_ERASE) else end


@functools.lru_cache(maxsize=1024)
def sgr(style: Style, depth: Depth) -> str:
    """Return what makes the letters that follow look like this, as far as they can."""
    numbers = ["0"]
    numbers += [number for bit, number in _SGR if style.look & bit]
    front, ground = (_shown(one, depth) for one in (style.foreground, style.background))
    if front == ground and style.foreground != style.background:
        front = _apart(ground)
    numbers += _coloured(front, 30, 90, "38")
    numbers += _coloured(ground, 40, 100, "48")
    return f"\x1b[{';'.join(numbers)}m"


def _shown(colour: int, depth: Depth) -> int:
    """Return the colour, numbered as before, that a terminal shows for one."""
    if not colour or not depth.colours:
        return 0
    if colour >= EXACT:
        return colour if depth.is_exact else nearest(colour - EXACT, depth) + 1
    if colour > _BASIC >= depth.colours:
        return nearest(_value(colour - 1), depth) + 1
    return colour


def _apart(ground: int) -> int:
    """Return a colour that is legible on one of few, where two became the same."""
    if not ground:
        return 0
    is_dark = sum(_parts(_value(ground - 1))) < _HALF
    return _WHITE if is_dark else _BLACK


def _coloured(colour: int, dark: int, bright: int, long: str) -> list[str]:
    """Return a colour as words of an SGR."""
    if not colour:
        return []
    if colour >= EXACT:
        return [long, "2", *map(str, _parts(colour - EXACT))]
    number = colour - 1
    if number >= _BASIC:
        return [long, "5", str(number)]
    return [str(dark + number if number < _BASIC // 2 else bright + number - 8)]


def nearest(value: int, depth: Depth) -> int:
    """Return the number of the colour that is most like 0xRRGGBB."""
    numbers = range(_BASIC) if depth.colours <= _BASIC else range(_BASIC, 256)
    wanted = _parts(value)

    def distance(number: int) -> int:
        pairs = zip(wanted, _parts(_value(number)), strict=True)
        return sum((one - other) ** 2 for one, other in pairs)

    return min(numbers, key=distance)


def _value(number: int) -> int:
    if number < _BASIC:
        return _SIXTEEN[number]
    return CUBE_AND_GREYS[number - _BASIC]


def _parts(value: int) -> tuple[int, int, int]:
    return value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF
