"""Writes what a session prints as an asciicast, version 3.

Theory of operation
-------------------
The first line is a JSON object, the header; each further line is an event, an array of
three: seconds since the event before, a letter, and text.

    o    printed          m    marker: a command, or output that is missing
    r    resized, 80x24   x    ended, with its status; always the last

So that a secret is found although it came in pieces, everything waits until its line
has ended, or until there are MAX_HELD characters; then it is masked and written, each
piece with the time at which it came. Input is never recorded.

Invariants:

I1  Every line is whole, and the events are in the order in which they came.
I2  The intervals add up to when an event came, to the millisecond.
I3  Masking changes no other character, and not the number of them.
"""

import codecs
import json
from typing import NamedTuple

from holdfast.core.recording.masks import Masks
from holdfast.model.geometry import Size
from holdfast.model.text import printable

VERSION = 3

MAX_HELD = 64 * 1024
"""Characters of a line that wait: full-screen programs print no lines at all."""

MAX_MARK = 200
"""Characters of a marker."""

OUTPUT, RESIZE, MARK, EXIT = "o", "r", "m", "x"


class _Event(NamedTuple):
    at_ms: int
    code: str
    data: str


class CastWriter:
    """One recording. Times are seconds since it began."""

    def __init__(self, masks: Masks) -> None:
        self._masks = masks
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held: list[_Event] = []
        self._held_length = 0
        self._last_ms = 0

    def header(self, size: Size, term: str, title: str, wall: float) -> str:
        """Return the first line."""
        terminal = {"cols": size.columns, "rows": size.rows, "type": term}
        facts = {"version": VERSION, "term": terminal, "timestamp": int(wall)}
        return _line({**facts, "title": printable(title, MAX_MARK)})

    def printed(self, data: bytes, at: float) -> list[str]:
        """Take output, and return the lines that are due."""
        return self._take(OUTPUT, self._decoder.decode(data), at)

    def shown(self, text: str, at: float) -> list[str]:
        """Take what is on the screen before anything is printed."""
        return self._take(OUTPUT, text, at)

    def resized(self, size: Size, at: float) -> list[str]:
        """Take another size of the terminal."""
        return self._take(RESIZE, f"{size.columns}x{size.rows}", at)

    def marked(self, text: str, at: float) -> list[str]:
        """Take a marker, for players to jump to."""
        hidden = self._masks.hidden(printable(text, MAX_MARK))
        return self._take(MARK, hidden, at)

    def missed(self, count: int, at: float) -> list[str]:
        """Note that so many bytes of output could not be recorded."""
        self._decoder.reset()
        return self.marked(f"{count} bytes of output are missing", at)

    def ended(self, status: int | None, at: float) -> list[str]:
        """Note that the session has ended; None if it has not, and we stop here."""
        rest = self._decoder.decode(b"", final=True)
        lines = self._take(OUTPUT, rest, at) + self._release()
        if status is None:
            return lines
        last = _Event(round(at * 1000), EXIT, str(status))
        return [*lines, self._written(last, str(status))]

    def _take(self, code: str, data: str, at: float) -> list[str]:
        if code == OUTPUT and not data:
            return []
        at_ms = round(at * 1000)
        head, newline, tail = "", "", data
        if code == OUTPUT:
            head, newline, tail = data.rpartition("\n")
        due: list[str] = []
        if newline:
            self._hold(_Event(at_ms, code, head + newline))
            due = self._release()
        if tail or code != OUTPUT:
            self._hold(_Event(at_ms, code, tail))
        if self._held_length > MAX_HELD or not self._held_length:
            due += self._release()
        return due

    def _hold(self, event: _Event) -> None:
        self._held.append(event)
        if event.code == OUTPUT:
            self._held_length += len(event.data)

    def _release(self) -> list[str]:
        """Mask what waits, and return it as lines."""
        due, self._held, self._held_length = self._held, [], 0
        text = "".join(event.data for event in due if event.code == OUTPUT)
        hidden, place = self._masks.hidden(text), 0
        lines = []
        for event in due:
            data = event.data
            if event.code == OUTPUT:
                data = hidden[place : place + len(data)]
                place += len(data)
            lines.append(self._written(event, data))
        return lines

    def _written(self, event: _Event, data: str) -> str:
        # A clock that goes back must not make an interval below zero.
        at_ms = max(event.at_ms, self._last_ms)
        interval, self._last_ms = (at_ms - self._last_ms) / 1000, at_ms
        return _line([interval, event.code, data])


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
