"""How many columns of a terminal a text takes, and as much of it as fits."""

import unicodedata

_WIDE = frozenset("WF")
_NONE = frozenset({"Mn", "Me"})


def width(text: str) -> int:
    """Return the columns that a text takes, which has no control characters."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def fitted(text: str, room: int) -> str:
    """Return a text of exactly `room` columns: filled up with blanks, or cut."""
    taken = width(text)
    if taken > room:
        text = _cut(text, room - 1) + "…" if room > 0 else ""
        taken = width(text)
    return text + " " * (room - taken)


def _cut(text: str, room: int) -> str:
    """Return as much as fits of a text that does not fit."""
    taken = kept = 0
    while (taken := taken + _columns(text[kept])) <= room:
        kept += 1
    return text[:kept]


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in _NONE:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE else 1
