"""The bytes that make a new terminal look the same as this one.

The core's own formatter loses the primary screen behind the alternate one, the
saved cursors, the title, the cursor's shape and empty rows at the end. So it is
asked for the parts, and they are put together here, in this order:

    1  text and colours of the primary screen, and its saved cursor
    2  if the alternate screen is shown: cursor and pen, the switch, and 1 again
    3  modes, tab stops, scroll region, cursor shape, title
    4  cursor, pen, character sets; the sequence that was left unfinished

What can only be queried by changing something is queried on a copy. A copy takes as
long as the lines above the screen are many, so one is made and emptied, and what
has to be changed again is a copy of that. Finally
the keyframe is tried on a new terminal. Wrapped lines are joined, so that they
rewrap when a viewer resizes; where that would change the picture, they are not.

Not kept: links, images, colours set by OSC 4 and 10 to 19, a cursor outside the
region it is counted from. No copy can be made in the middle of a sequence that
is too long, or where a resize has cut a wide character in two; then only what is
shown is kept.
"""

import re

from pyghostty import GhosttyError  # type: ignore[import-untyped]  # it has no types

from holdfast.painter.ghostty import GhosttyCore
from holdfast.term.cells import clean

_PLAIN_PEN = b"\x1b[m\x1b(B\x0f"
_CANCEL = b"\x18"

_SWALLOW = b"\x1b]7777;"
"""Opens a string that no terminal knows: for one that is too long to repeat."""

_PROPERTIES = ("modes", "scrolling_region", "tabstops", "keyboard")
_PEN = ("style", "protection", "kitty_keyboard", "charsets")
_SAVED_PEN = ("style", "charsets")

_NOT_FOR_VIEWERS = re.compile(rb"\x1b\[\?(?:3|40|2026|47|1047|1049)h")
"""Modes that would resize a viewer's window, stop it from drawing, or switch
screens, which is done at its own place."""

_EMPTY = b"\x1b[2J\x1b[3J"


def keyframe(core: GhosttyCore) -> bytes:
    """Return bytes for a new terminal of the same size.

    At most a few times what the screen and the lines above it hold.
    """
    unfinished = core.unfinished()
    if unfinished is None:
        return _plainer(core) + _SWALLOW
    try:
        painting = _painting(core, unwrap=True)
        if not _shows_the_same(core, painting):
            painting = _painting(core, unwrap=False)
    except GhosttyError:
        painting = _plainer(core)
    return painting + unfinished


def _painting(core: GhosttyCore, *, unwrap: bool) -> bytes:
    mode = core.alternate_mode()
    parts: list[bytes] = []
    if mode is not None:
        copy = _copied(core)
        copy.feed(b"\x1b[?%dl" % mode)
        place = copy.place()
        written = _content(copy, unwrap=unwrap)
        copy.feed(_EMPTY)
        parts += (written, _saved_cursor(copy), _at(place), _pen(copy))
        parts += (b"\x1b[?%dh" % mode, _PLAIN_PEN, b"\x1b[H")
        copy.close()
    bare = _copied(core)
    # Ending half a character has moved the copy's cursor: only the corner that
    # rows and columns are counted from is asked of it.
    told, place = bare.cursor(), bare.place()
    corner = told[0] - place[0], told[1] - place[1]
    bare.feed(_EMPTY)
    parts += (_content(core, unwrap=unwrap), _saved_cursor(bare))
    parts += (_properties(bare), _title(core), _finish(core, bare, corner))
    bare.close()
    return b"".join(parts)


def _saved_cursor(bare: GhosttyCore) -> bytes:
    """Return what saves the cursor that an emptied copy has saved."""
    copy = _copied(bare)
    copy.feed(b"\x1b8")
    saved = _at(copy.place()) + _pen(copy) + b"\x1b7"
    copy.close()
    return saved + _PLAIN_PEN


def _content(core: GhosttyCore, *, unwrap: bool) -> bytes:
    empty = core.total_rows() - core.formatted().count(b"\r\n") - 1
    written = [core.formatted(unwrap=unwrap), b"\x1b[m", b"\r\n" * empty]
    # The formatter leaves out the colour of a row without text.
    for row, line in enumerate(core.screen().lines):
        colour = b"" if line else core.ground(row)
        if colour:
            written.append(b"\x1b[%d;1H\x1b[48;%bm\x1b[K\x1b[m" % (row + 1, colour))
    return b"".join(written)


def _properties(bare: GhosttyCore) -> bytes:
    """Return what is neither text nor cursor nor title."""
    written = _NOT_FOR_VIEWERS.sub(b"", bare.formatted(extra=_PROPERTIES))
    shape = bare.cursor_shape()
    return written + (b"\x1b[" + shape + b" q" if shape else b"")


def _finish(core: GhosttyCore, bare: GhosttyCore, corner: tuple[int, int]) -> bytes:
    """Return what puts the cursor and the pen where they are."""
    pen = bare.formatted(pen=_PEN)
    row, column = core.place()
    row += corner[0]
    column += corner[1]
    if not core.wraps_next():
        return b"\x1b[%d;%dH" % (row, column) + pen
    # Only writing into the last cell makes a terminal wait with the wrap.
    cell, back = core.cell_under_cursor()
    return b"\x1b[%d;%dH" % (row, column - back) + cell + pen


def _plainer(core: GhosttyCore) -> bytes:
    """Return what can be said without a copy."""
    content = core.formatted()
    written = core.formatted(extra=_PROPERTIES, pen=("cursor", *_PEN))
    written = _NOT_FOR_VIEWERS.sub(b"", written)
    before, _, after = written.partition(content) if content else (written, b"", b"")
    empty = core.total_rows() - content.count(b"\r\n") - 1
    mode = core.alternate_mode()
    switch = b"" if mode is None else b"\x1b[?%dh" % mode
    parts = (switch, content, b"\x1b[m", b"\r\n" * empty, before, after)
    return b"".join(parts) + _title(core)


def _shows_the_same(core: GhosttyCore, painting: bytes) -> bool:
    trial = GhosttyCore(core.size)
    trial.feed(painting)
    same = trial.screen() == core.screen() and (trial.total_rows() == core.total_rows())
    trial.close()
    return same


def _copied(core: GhosttyCore) -> GhosttyCore:
    copy = core.copy()
    copy.feed(_CANCEL)
    return copy


def _pen(copy: GhosttyCore) -> bytes:
    other = _copied(copy)
    other.feed(_EMPTY)
    written = other.formatted(pen=_SAVED_PEN)
    other.close()
    return written


def _title(core: GhosttyCore) -> bytes:
    # Clean, because every viewer's terminal will carry it out.
    return b"\x1b]2;" + clean(core.title()).encode() + b"\x1b\\"


def _at(place: tuple[int, int]) -> bytes:
    row, column = place
    return b"\x1b[%d;%dH" % (row + 1, column + 1)


class GhosttyEmulator(GhosttyCore):
    """The Emulator that Ghostty's core is."""

    def keyframe(self) -> bytes:
        """Return bytes that make a new terminal the same as this one."""
        return keyframe(self)
