r"""Rows of a screen, as they are drawn on a terminal.

A row is pieces of text that look the same. It is read from what the painter writes,
text and SGR, and nothing else of it is ever drawn: a painter may have been broken by
what it painted.

I1  No text of a row holds a control character: what is drawn moves no cursor.
I2  A row cut to some columns takes no more than these.
"""

from typing import NamedTuple

from holdfast.model.text_width import columns_of, sliced
from holdfast.term.canvas import EVERY_COLOUR, PLAIN, Style, sgr
from holdfast.term.cells import Pen, clean
from holdfast.term.looks import Look

MAX_PIECES = 4096
"""Pieces of one row: four for each column of the widest."""


class Piece(NamedTuple):
    """Text that looks the same."""

    text: str
    foreground: int = 0
    background: int = 0
    look: int = 0


Row = tuple[Piece, ...]

EMPTY: Row = ()


def row_from(written: bytes) -> Row:
    """Read a row from text with SGR, as an emulator writes it."""
    if b"\x1b" not in written:  # As most are.
        text = clean(written.decode(errors="replace"))
        return (Piece(text),) if text else EMPTY
    pen, pieces = Pen(), []
    for text in pen.texts(written.decode(errors="replace")):
        pieces.append(Piece(clean(text), pen.foreground, pen.background, pen.look))
        if len(pieces) >= MAX_PIECES:
            break
    return tuple(pieces)


def rows_from(written: bytes, count: int) -> list[Row]:
    """Read so many rows; those that are not there are empty."""
    lines = written.split(b"\r\n")[:count]
    return [*map(row_from, lines), *[EMPTY] * (count - len(lines))]


def text_of(row: Row) -> str:
    """Return what a row says."""
    return "".join(piece.text for piece in row)


def width_of_row(row: Row) -> int:
    """Return the columns that a row takes."""
    return sum(columns_of(piece.text) for piece in row)


def cut(row: Row, left: int, columns: int) -> Row:
    """Return the part of a row in so many columns from `left` on."""
    shown: list[Piece] = []
    at = 0
    for piece in row:
        width = columns_of(piece.text)
        if at + width > left and at < left + columns:
            text = sliced(piece.text, max(0, left - at), left + columns - at)
            shown.append(piece._replace(text=text))
        at += width
    return tuple(shown)


def marked(row: Row, start: int, end: int) -> Row:
    """Return a row with the columns `start` to `end` in inverse colours."""
    if start >= end:
        return row
    padding = end - width_of_row(row)
    whole = (*row, Piece(" " * padding)) if padding > 0 else row
    before, after = cut(whole, 0, start), cut(whole, end, width_of_row(whole))
    middle = [
        piece._replace(look=piece.look ^ Look.INVERSE)
        for piece in cut(whole, start, end - start)
    ]
    return (*before, *middle, *after)


def laid_over(under: Row, over: Row) -> Row:
    """Return a row of which the beginning is covered by another."""
    covered = width_of_row(over)
    return (*over, *cut(under, covered, max(0, width_of_row(under) - covered)))


def painted(row: Row) -> bytes:
    """Return the bytes that draw a row, the pen being plain before and after."""
    parts: list[str] = []
    for piece in row:
        style = Style(piece.foreground, piece.background, piece.look)
        drawn = f"{sgr(style, EVERY_COLOUR)}{piece.text}\x1b[m"
        parts.append(piece.text if style == PLAIN else drawn)
    return "".join(parts).encode()
