"""Rows of text in columns."""

from collections.abc import Iterable


def table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table: each column as wide as its widest cell."""
    known = [*rows]
    widths = [max(map(len, column)) for column in zip(*known, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in known]
