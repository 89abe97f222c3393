"""Matches submitted lines with the line that a shell executes.

A shell tells the line that it executes. It was typed in so many words, or it is
several lines that make one command, or it is something that was not typed so: taken
from the history, completed, edited. A line of which only a guess could be made is
None, and is none of the first two.
"""

from collections.abc import Sequence


def lines_of(texts: Sequence[str | None], line: str | None) -> int:
    """Return up to and with which of `texts` they have become `line`; 0: none."""
    exact = exact_line(texts, line)
    return several_lines(texts, line) if exact is None else exact + 1


def exact_line(texts: Sequence[str | None], line: str | None) -> int | None:
    """Return which of `texts` says exactly what `line` does."""
    wanted = None if line is None else line.strip()
    if not wanted:
        return None
    numbers = (at for at, one in enumerate(texts) if one == wanted)
    return next(numbers, None)


def several_lines(texts: Sequence[str | None], line: str | None) -> int:
    """Return how many, from the first on, make up what the shell tells."""
    if line is None:
        return 0
    rest = line.strip()
    for count, one in enumerate(texts, 1):
        if one == "":
            continue
        before, found, rest = rest.partition(one or "\0")
        # Between the lines of one command a shell puts no words of its own.
        if not found or before.strip("; \n"):
            return 0
        if not rest.strip("; \n"):
            return count
    return 0
