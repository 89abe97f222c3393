"""The bytes that clear a terminal for a keyframe and keep its scrollback."""

_CLEAR = (
    b"\x18\x1b[?1049l\x1b[!p\x1b[?7h\x1b[m\x1b[999;1H",
    b"\n",
    b"\x1b[H\x1b[J",
)
"""End what is unfinished, leave another screen, undo what a program has set and
go to the last line; push what was shown out of the top; clear the rest."""


def cleared(rows: int) -> bytes:
    """Return what makes room for a keyframe and loses nothing of what was shown."""
    first, push, last = _CLEAR
    return first + push * rows + last
