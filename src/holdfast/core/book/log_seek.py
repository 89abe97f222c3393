"""Finds an entry in a long logbook without reading all of it.

Theory of operation
-------------------
Every line begins with its index, and indices grow by one. So the place of an entry
is found by halving: look somewhere, go on to the next line, compare. A book is
looked at through a function that returns some bytes from a place on.

Times are found among the first lines of pieces, in order, and then line by line
within one piece. Clocks are set back; then the first of the moments that were shown
twice is found only if it lies within that piece.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

Read = Callable[[int, int], bytes]
"""Returns at most so many bytes from an offset on; b"" at the end."""

PIECE: Final = 256 * 1024
"""Bytes looked at at once: two of the longest lines."""

STRIDE: Final = 4 * 1024 * 1024
"""Bytes between the lines whose times are compared first."""

_INDEX = re.compile(rb'\{"index":([0-9]{1,15}),')
_AT = re.compile(rb'\{"index":[0-9]{1,15},[^{}]{0,300}?,"at":(-?[0-9]{1,15}),')


def seek_index(read: Read, length: int, index: int) -> int:
    """Return where the entry `index` begins; `length` if there is none such.

    The book's first line is taken to be entry 0.
    """
    low, high = 0, length
    # A line begins at `low`, and the entry in between: not before, not after `high`.
    while high - low > PIECE:
        middle = (low + high) // 2
        found = _line_from(read, middle)
        if found is not None and found[0] < high and found[1] <= index:
            low = found[0]
        else:
            high = middle
    for start, line in _lines(read, low):
        said = _INDEX.match(line)
        if said is None or int(said[1]) >= index:
            return start
    return length


def seek_time(read: Read, length: int, at_wall_ms: int) -> int:
    """Return where the first entry begins that is as late; `length` if none is."""
    begin = 0
    for place in range(STRIDE, length, STRIDE):
        found = _next_line(read, place)
        if found is None:
            break
        said = _AT.match(found[1])
        if said is not None and int(said[1]) >= at_wall_ms:
            break
        begin = found[0]
    for start, line in _lines(read, begin):
        said = _AT.match(line)
        if said is None or int(said[1]) >= at_wall_ms:
            return start
    return length


def last_index(read: Read, length: int) -> int:
    """Return the index of the last whole line; -1 if there is none."""
    size = PIECE
    while True:
        begin = max(0, length - size)
        raw = b""
        while piece := read(length - begin - len(raw), begin + len(raw)):
            raw += piece
        for line in reversed(raw.split(b"\n")[:-1]):
            if said := _INDEX.match(line):
                return int(said[1])
        if begin == 0:
            return -1
        size *= 2


def _line_from(read: Read, offset: int) -> tuple[int, int] | None:
    """Return the first line that begins after `offset`, and its index."""
    found = _next_line(read, offset)
    said = None if found is None else _INDEX.match(found[1])
    return None if found is None or said is None else (found[0], int(said[1]))


def _next_line(read: Read, offset: int) -> tuple[int, bytes] | None:
    raw, end = b"", -1
    while end < 0 or raw.find(b"\n", end + 1) < 0:
        piece = read(PIECE, offset + len(raw))
        if not piece:
            break
        raw += piece
        end = raw.find(b"\n") if end < 0 else end
    line = raw[end + 1 :].split(b"\n", 1)[0]
    return (offset + end + 1, line) if end >= 0 and line else None


def _lines(read: Read, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield the whole lines from `offset` on, at which one begins."""
    rest = b""
    while piece := read(PIECE, offset + len(rest)):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield offset, line
            offset += len(line) + 1
