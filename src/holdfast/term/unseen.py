r"""Text on a screen that a person would not see, or would read differently.

Theory of operation
-------------------
A program that reads a screen as text gets everything that stands on it, also
what the person beside it cannot see: text that is concealed (SGR 8), text in the
colour of its background, characters that leave nothing to be seen, and those that
reverse the reading order. A program that can print to the terminal could talk to
another behind the person's back (T28). Such stretches are found here, with the
reason for each; the text is shown with marks around them.

Colours are those the terminal shows: a palette that the program has changed counts
as it is now. Only the viewer knows the terminal's own colours;
text in one of them is compared only if the program has set it.

Text that is not on the screen at all, because it has scrolled out of it or stands
on the other screen, is no part of a screen; how many rows that is, Screen says.

Invariants, each checked by tests/term/test_unseen.py:

I1  Stretches of one row are in order and do not overlap; each is within its row.
I2  Every concealed character that is no blank, and every character of UNSEEN or
    TURNING that does not belong to an emoji or to its script, is in one.
I3  A row has no more than MAX_IN_ROW; a row with more is one stretch from the
    first to the last, and says so.
"""

import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.model.errors import MalformedMessage
from holdfast.term.cells import MAX_RUNS, Run
from holdfast.term.looks import EXACT, Look

MAX_IN_ROW = 8
"""Stretches of one row that are told apart: more are one warning, not a list."""

MAX_SUSPECT = 128
"""Characters of one row that are looked at one by one; a row with more is hidden
as a whole, so that no output can make us busy for long."""

MIN_CONTRAST = 1.3
"""Of text and background, as the ratio of their brightness (WCAG); dark grey on
black, which people still read, has 1.6."""

TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the reading order."""

UNSEEN = re.compile(
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065"
    "\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e01ef]"
)
"""Characters that leave nothing to be seen: joiners, selectors, tags, fillers."""

_SUSPECT = re.compile(f"{TURNING.pattern}|{UNSEEN.pattern}")
_JOINERS = "\u200c\u200d"
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEYCAPS = "0123456789#*"
_FOREIGN = re.compile("[\u0600-\u1fff\u2190-\u2bff\u3000-\ufdff\U00010000-\U000dffff]")
"""What joiners and selectors have a use for: scripts that join their letters, and
symbols. Latin, Greek and Cyrillic letters have none."""

_BRIGHTEST, _OFFSET = 255.0, 0.05
_SHARES = (0.2126, 0.7152, 0.0722)


class Reason(enum.StrEnum):
    """Why a stretch is not seen, or not read as it stands."""

    CONCEALED = "concealed"
    SAME_COLOUR = "same-colour"
    ZERO_WIDTH = "zero-width"
    BIDI = "bidi"
    MIXED = "mixed"


def reason_from(word: str) -> Reason:
    """Read a reason; one that a later version has added is as good as any."""
    return Reason(word) if word in set(Reason) else Reason.MIXED


@dataclass(frozen=True, slots=True)
class Hidden:
    """Characters `start` to `end`, without the last, of row `row`."""

    row: int
    start: int
    end: int
    reason: Reason

    def to_object(self) -> list[object]:
        """Return what JSON can write down."""
        return [self.row, self.start, self.end, self.reason.value]

    @classmethod
    def from_object(cls, read: object) -> "Hidden":
        """Make a stretch from what JSON had written down.

        Raises:
            PeerError: It is none.

        """
        match read:
            case [int(row), int(start), int(end), str(reason)] if (
                row >= 0 and 0 <= start < end and reason in set(Reason)
            ):
                return cls(row, start, end, Reason(reason))
            case _:
                raise MalformedMessage("screen", "what is hidden is no stretch")


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a terminal, each as 0xRRGGBB; None is not known."""

    numbered: Sequence[int]
    foreground: int | None = None
    background: int | None = None

    def shown(self, run: Run) -> tuple[int | None, int | None]:
        """Return the colours of a run's letters, and of what is behind them."""
        letters = self._colour(run.foreground, self.foreground)
        behind = self._colour(run.background, self.background)
        if run.look & Look.INVERSE:
            return behind, letters
        return letters, behind

    def _colour(self, number: int, own: int | None) -> int | None:
        if not number:
            return own
        return number - EXACT if number >= EXACT else self.numbered[number - 1]


def hidden_in(
    lines: Sequence[str], runs: Sequence[Run], palette: Palette
) -> tuple[Hidden, ...]:
    """Return what a person would not see: `lines` as printed, and their colours.

    Rows whose colours are not known, because there were too many runs, are hidden
    as a whole, as far as can be told.
    """
    rows: dict[int, list[Hidden]] = {}
    for row, line in enumerate(lines):
        if not line.isascii():
            rows[row] = [*_characters(row, line)]
    for one in _coloured(runs, palette):
        rows.setdefault(one.row, []).append(one)
    if len(runs) >= MAX_RUNS:
        for row in range(runs[-1].row, len(lines)):
            rows[row] = [Hidden(row, 0, max(1, len(lines[row])), Reason.MIXED)]
    return tuple(one for row in sorted(rows) for one in _joined(rows[row]))


def all_hidden(lines: Sequence[str]) -> tuple[Hidden, ...]:
    """Return every row as hidden, for a screen that cannot be looked through."""
    return tuple(
        Hidden(row, 0, len(line), Reason.MIXED)
        for row, line in enumerate(lines)
        if line
    )


def _characters(row: int, line: str) -> Iterator[Hidden]:
    if sum(1 for _ in _SUSPECT.finditer(line)) > MAX_SUSPECT:
        yield Hidden(row, 0, len(line), Reason.MIXED)
        return
    for at, reason in unseen_in(line):
        yield Hidden(row, at, at + 1, reason)


def unseen_in(line: str) -> Iterator[tuple[int, Reason]]:
    """Yield where a character stands that shows nothing, or turns the others."""
    for found in TURNING.finditer(line):
        yield found.start(), Reason.BIDI
    for found in UNSEEN.finditer(line):
        if not _belongs(line, found.start()):
            yield found.start(), Reason.ZERO_WIDTH


def _belongs(line: str, at: int) -> bool:
    """Tell whether an unseen character has a use where it stands."""
    before, after = line[at - 1 : at], line[at + 1 : at + 2]
    if line[at] in _JOINERS:
        joins = _FOREIGN.match(before) or _SELECTORS.match(before)
        return bool(joins and _FOREIGN.match(after))
    if _SELECTORS.match(line[at]):
        return bool(_FOREIGN.match(before)) or (before != "" and before in _KEYCAPS)
    return False


def _coloured(runs: Iterable[Run], palette: Palette) -> Iterator[Hidden]:
    row, at = -1, 0
    for run in runs:
        row, start = run.row, at if run.row == row else 0
        at = start + len(run.text)
        text = run.text.strip()
        if not text:
            continue
        reason = reason_for(run, palette)
        if reason is not None:
            first = start + run.text.index(text)
            yield Hidden(row, first, first + len(text), reason)


def reason_for(run: Run, palette: Palette) -> Reason | None:
    """Return why a run is not to be seen, by its colours; None if it is."""
    if run.look & Look.INVISIBLE:
        return Reason.CONCEALED
    if run.foreground and run.foreground == run.background:
        return Reason.SAME_COLOUR
    letters, behind = palette.shown(run)
    if letters is None or behind is None or contrast(letters, behind) >= MIN_CONTRAST:
        return None
    return Reason.SAME_COLOUR


def contrast(one: int, other: int) -> float:
    """Return how much brighter one colour is than another, from 1 to 21."""
    darker, brighter = sorted((_brightness(one), _brightness(other)))
    return (brighter + _OFFSET) / (darker + _OFFSET)


def _brightness(colour: int) -> float:
    parts = (value / _BRIGHTEST for value in colour.to_bytes(3, "big"))
    # The curve of sRGB, near enough to 2.2 to tell what can be read.
    return sum(
        share * float(part**2.2) for share, part in zip(_SHARES, parts, strict=True)
    )


def _joined(found: list[Hidden]) -> list[Hidden]:
    """Put the stretches of one row in order, without overlap and not too many."""
    joined: list[Hidden] = []
    for one in sorted(found, key=lambda each: (each.start, each.end)):
        if joined and _touch(joined[-1], one):
            joined[-1] = _union(joined[-1], one)
        else:
            joined.append(one)
    if len(joined) > MAX_IN_ROW:
        return [_union(joined[0], joined[-1], Reason.MIXED)]
    return joined


def _touch(one: Hidden, later: Hidden) -> bool:
    is_same = one.reason is later.reason
    return later.start < one.end or (is_same and later.start == one.end)


def _union(one: Hidden, later: Hidden, reason: Reason | None = None) -> Hidden:
    same = one.reason if one.reason is later.reason else Reason.MIXED
    return Hidden(one.row, one.start, max(one.end, later.end), reason or same)
