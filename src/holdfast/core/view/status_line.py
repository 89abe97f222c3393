"""The status line of a framed session: name, state, turn, attached operators.

What matters most comes first and is left out last; the right side says what part of
the session is to be seen.
"""

from dataclasses import dataclass
from textwrap import wrap

from holdfast.core.view.rows import Piece, Row
from holdfast.model.text import printable
from holdfast.model.text_width import columns_of, fitted
from holdfast.term.looks import Look

MAX_LINES = 3
"""Rows of one notice: most of the screen stays the program's."""

MAX_NOTICE = 1000
"""Characters of it; more does not fit those rows."""

MAX_FACT = 200
"""Characters of one fact."""


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """How things stand in a session, in words that are safe to print."""

    label: str
    state: str = ""
    turn: str = ""
    waits: str = ""
    presence: str = ""


def status_line(standing: StatusFacts, views: tuple[str, ...], columns: int) -> Row:
    """Return the line, exactly as wide as the terminal.

    The first of `views` is on the right for which there is room beside the name.
    """
    facts = (
        standing.label,
        standing.waits,
        standing.state,
        f"turn: {standing.turn}" if standing.turn else "",
        standing.presence,
    )
    left = " · ".join(printable(fact, MAX_FACT) for fact in facts if fact)
    room = columns - 2  # A space on either side.
    name = columns_of(printable(standing.label, MAX_FACT))
    right = next((one for one in views if name + 2 + columns_of(one) <= room), "")
    kept = room - columns_of(right) - (2 if right else 0)
    left = fitted(left, max(0, kept))
    gap = " " * max(0, room - columns_of(left) - columns_of(right))
    text = fitted(f" {left}{gap}{right} ", columns)
    return (Piece(text + " " * (columns - columns_of(text)), look=Look.INVERSE),)


def notice_rows(texts: list[str], columns: int) -> list[Row]:
    """Return notices, on as few rows as they fit, and none wider than the terminal."""
    rows: list[Row] = []
    for text in texts:
        said = printable(f"[holdfast] {text}", MAX_NOTICE)
        width = max(1, columns)
        lines = wrap(said, width, max_lines=MAX_LINES, placeholder="…")
        rows += [(Piece(fitted(one, columns), look=Look.INVERSE),) for one in lines]
    return rows
