"""The size of a terminal."""

from dataclasses import dataclass

from holdfast.model.errors import SizeOutOfRange

MAX_SIDE = 1000
"""More cells than any screen; keeps a hostile resize from costing memory."""


@dataclass(frozen=True, slots=True)
class Size:
    """A terminal's size in character cells."""

    columns: int
    rows: int

    def __post_init__(self) -> None:
        """Refuse what is no size.

        Raises:
            UsageError: A side is under 1 or over MAX_SIDE.

        """
        if not (1 <= self.columns <= MAX_SIDE and 1 <= self.rows <= MAX_SIDE):
            raise SizeOutOfRange(self.columns, self.rows)


DEFAULT_SIZE = Size(80, 24)


def clamped(columns: int, rows: int) -> Size:
    """Return the nearest size that can be.

    For sizes a terminal reports about itself: 0 is what one says that does not
    know, and is no reason to refuse its user.
    """
    return Size(_between(columns), _between(rows))


def _between(side: int) -> int:
    return max(1, min(side, MAX_SIDE))
