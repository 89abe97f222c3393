"""How many columns of a terminal a text takes.

As the emulator that paints sessions counts: each code point by itself, so that a family
of emoji is as wide as its members.
"""

import unicodedata

_WIDE = frozenset("WF")
_WITHOUT_WIDTH = frozenset({"Mn", "Me", "Cf"})


def width_of(character: str) -> int:
    """Return the columns that one character takes: 0, 1 or 2."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in _WITHOUT_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def columns_of(text: str) -> int:
    """Return the columns that a text takes."""
    return len(text) if text.isascii() else sum(map(width_of, text))


def sliced(text: str, start: int, end: int) -> str:
    """Return the part of a text in the columns `start` to `end`.

    Of a character that is cut in two, a space is left.
    """
    if text.isascii() or end <= start:
        return text[start:end] if start < end else ""
    shown: list[str] = []
    column = 0
    for character in text:
        width = width_of(character)
        after = column + width
        if start <= column and after <= end and (width or after > start):
            shown.append(character)
        elif column < end and after > start:
            shown.append(" ")
        column = after
    return "".join(shown)


def fitted(text: str, columns: int) -> str:
    """Return a text that fits; `…` stands for what is left out."""
    if columns_of(text) <= columns:
        return text
    return sliced(text, 0, max(0, columns - 1)) + "…" if columns > 0 else ""


def padded(text: str, columns: int) -> str:
    """Return a text of exactly `columns` columns: filled up with blanks, or cut."""
    shown = fitted(text, columns)
    return shown + " " * (columns - columns_of(shown))
