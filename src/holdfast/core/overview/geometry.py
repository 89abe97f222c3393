"""Where the parts of an overview are, on a terminal of any size."""

from typing import NamedTuple

WIDE = 120
"""Columns from which the preview stands beside the list."""

MAX_LIST = 78
"""Columns of a list beside a preview: more would be blank."""

TALL = 12
"""Rows from which there is a preview below the list."""

LEAST_PREVIEW = 30
"""Columns without which a preview says nothing."""

TILE = (38, 9)
"""Columns and rows of the smallest tile of the wall."""


class Rect(NamedTuple):
    """A part of the screen; what has no columns or rows is not there."""

    column: int
    row: int
    columns: int
    rows: int

    @property
    def is_there(self) -> bool:
        """Whether it has any room."""
        return self.columns > 0 and self.rows > 0


NOWHERE = Rect(0, 0, 0, 0)


class Parts(NamedTuple):
    """The list and the preview beside or below it; header and footer have a row."""

    header: Rect
    titles: Rect
    rows: Rect
    preview: Rect
    footer: Rect


def parts(columns: int, rows: int) -> Parts:
    """Return where the parts of the list's page are."""
    columns, rows = max(1, columns), max(1, rows)
    header = Rect(0, 0, columns, 1 if rows > 1 else 0)
    footer = Rect(0, rows - 1, columns, 1) if rows > 2 else NOWHERE  # noqa: PLR2004
    body = Rect(0, header.rows, columns, rows - header.rows - footer.rows)
    listed, preview = body, NOWHERE
    if columns >= WIDE:
        left = min(MAX_LIST, columns // 2)
        preview = Rect(left + 1, body.row, columns - left - 1, body.rows)
        listed = body._replace(columns=left)
    elif rows >= TALL and columns >= LEAST_PREVIEW:
        above = max(4, body.rows * 2 // 5)
        preview = Rect(0, body.row + above, columns, body.rows - above)
        listed = body._replace(rows=above)
    titles = listed._replace(rows=1 if rows >= TALL else 0)
    below = listed.row + titles.rows
    rest = listed._replace(row=below, rows=listed.rows - titles.rows)
    return Parts(header, titles, rest, preview, footer)


def tiles(columns: int, rows: int, count: int) -> list[Rect]:
    """Return where the tiles of the wall are: at most `count`, at least one."""
    body = parts(columns, rows)
    area = Rect(0, body.header.rows, max(1, columns), max(1, rows))
    room = area.rows - body.header.rows - body.footer.rows
    across, down = max(1, area.columns // TILE[0]), max(1, room // TILE[1])
    # As few rows of tiles as are needed, and as large as they can be.
    across = min(across, max(1, count))
    while across > 1 and across * (across - 1) >= count and down >= across - 1:
        across -= 1
    down = min(down, -(-max(1, count) // across))
    wide, high = area.columns // across, max(1, room // down)
    return [
        Rect(column * wide, area.row + row * high, wide, high)
        for row in range(down)
        for column in range(across)
    ]
