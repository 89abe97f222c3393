"""Who submitted the line that the shell executes now, and who typed it.

Theory of operation
-------------------
Lines are entered into a terminal, and the shell says which line it executes. In
between stands whatever else reads from that terminal: a line may have been read
by a program, may be the first of several that make one command, or may wait for
the shell because it was typed ahead. So what was entered is kept until the shell
executes something, and the two are compared:

- A line that was typed exactly as the shell tells it is that line. What was
  entered before it has been read by another program.
- Lines that are found in what the shell tells, one after the other and the last
  at its end, are one command of several lines; who entered the last one started it.
- Anything else (a line from the history, an edited or completed one, one that
  the shell does not report) was submitted by the one who submitted all that is kept; if
  they are several, nobody can say who.

A shell that has shown its prompt reads what was typed ahead at once. What has not
become a command SETTLED seconds later was read by a program, and is forgotten
when the next line is entered.

Invariants, checked by tests/core/provenance/test_entered_lines.py:

I1  A trigger that is named entered a line since the last command began, or typed
    one ahead.
I2  If all that is kept was entered by one operator, it is named; if several
    could be meant, and nothing tells them apart, none is.
I3  An operator who typed a byte of the started line is among its authors.
I4  No more than MAX_LINES lines and MAX_AUTHORS authors are kept.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from holdfast.core.provenance.matching_lines import exact_line, several_lines
from holdfast.core.provenance.staged import Staged
from holdfast.model.ids import ActorId

MAX_LINES = 256
"""Lines kept: a paste of a whole function, entered at once."""

MAX_AUTHORS = 16
"""Operators named for one command; so many do not type one line."""

SETTLED = 0.5
"""Seconds after a prompt in which lines that were typed ahead may still begin:
many times what a shell takes to read them."""


class Instant(NamedTuple):
    """A moment, in milliseconds since 1970 and since the machine was started.

    The first is for files and people; the second, which nobody can set, is how
    the kernel dates processes.
    """

    wall_ms: int
    up_ms: int


class Press(NamedTuple):
    """Who made the shell execute a line, who typed it, and when it was entered."""

    trigger: ActorId | None
    authors: tuple[ActorId, ...]
    since: Instant | None
    """None if it was not seen to be entered."""


NOBODY = Press(None, (), None)


@dataclass(frozen=True, slots=True)
class _Line:
    text: str | None
    """None if what stood there is a guess."""

    actor: ActorId
    authors: tuple[ActorId, ...]
    at: Instant
    is_ahead: bool = False


class EnteredLines:
    """The lines that were entered and that have not become a command."""

    def __init__(self) -> None:
        self._lines: deque[_Line] = deque(maxlen=MAX_LINES)
        self._prompted_at: float | None = None

    def prompted(self, now: float) -> None:
        """Take note that the shell shows its prompt."""
        self._prompted_at = now
        # An empty line makes a shell show its prompt again, and nothing else.
        ahead = [replace(one, is_ahead=True) for one in self._lines if one.text != ""]
        self._lines = deque(ahead, MAX_LINES)

    def entered(
        self, actor: ActorId, lines: Iterable[Staged], at: Instant, now: float
    ) -> None:
        """Take note of lines that an operator entered."""
        prompted = self._prompted_at
        if prompted is not None and now - prompted >= SETTLED:
            self._lines = deque((x for x in self._lines if not x.is_ahead), MAX_LINES)
        for line in lines:
            is_guess = line.is_edited and not line.is_erased
            is_known = not is_guess and not line.hidden
            text = line.data.decode("utf-8", "backslashreplace").strip()
            by = line.by or (actor,)
            self._lines.append(_Line(text if is_known else None, actor, by, at))

    def began(self, line: str | None) -> Press:
        """Return who is behind the line that the shell executes; None: not told."""
        self._prompted_at = None
        lines = [*self._lines]
        texts = [one.text for one in lines]
        found = exact_line(texts, line)
        if found is not None:
            self._keep(lines[found + 1 :])
            return _press(lines[found : found + 1])
        count = several_lines(texts, line)
        if count:
            self._keep(lines[count:])
            return _press(lines[:count])
        # What was typed in so many words, and is not this, may still come.
        self._keep(one for one in lines if line is not None and _is_plain(one))
        press = _press(lines)
        return press if _is_one(lines) else press._replace(trigger=None)

    def waiting(self) -> tuple[ActorId, ...]:
        """Return whose lines whatever runs now may read."""
        return distinct(line.actor for line in self._lines)

    def forget(self) -> None:
        """Forget everything: what was entered never came to the shell."""
        self._lines.clear()

    def _keep(self, lines: Iterable[_Line]) -> None:
        self._lines = deque(lines, MAX_LINES)


def distinct(actors: Iterable[ActorId]) -> tuple[ActorId, ...]:
    """Return each once, in order, no more than MAX_AUTHORS."""
    return tuple(dict.fromkeys(actors))[:MAX_AUTHORS]


def _press(lines: list[_Line]) -> Press:
    if not lines:
        return NOBODY
    # Who entered a line before the last one shaped it, too.
    authors = [actor for line in lines for actor in line.authors]
    earlier = [line.actor for line in lines[:-1]]
    by = distinct([*authors, *earlier])
    return Press(lines[-1].actor, by, min(line.at for line in lines))


def _is_one(lines: list[_Line]) -> bool:
    return len({line.actor for line in lines}) == 1


def _is_plain(line: _Line) -> bool:
    return bool(line.text) and "!" not in str(line.text)
