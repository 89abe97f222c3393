"""Which part of a session a smaller terminal shows.

The part follows the cursor, and no more than it must: what is written stays where it is
as long as the cursor is to be seen. A person may look elsewhere (`pan`) until the
cursor moves again, or the terminal has another size.

I1  What is shown lies within the session, and the cursor within what is shown, unless
    the user pans.
"""

from holdfast.model.geometry import Size


class Viewport:
    """The place of a terminal's window over a session's screen."""

    def __init__(self) -> None:
        self.top = self.left = 0
        self._followed: tuple[tuple[int, int], Size | None] = (0, 0), None

    def follow(self, session: Size, room: Size, cursor: tuple[int, int]) -> None:
        """Take the sizes, and where the cursor is: row and column."""
        if (cursor, room) != self._followed:
            self._followed = cursor, room
            self.top = _moved(self.top, cursor[0], room.rows)
            self.left = _moved(self.left, cursor[1], room.columns)
        self.top = max(0, min(self.top, session.rows - room.rows))
        self.left = max(0, min(self.left, session.columns - room.columns))

    def pan(self, rows: int, columns: int) -> None:
        """Look elsewhere; `follow` keeps it within the session."""
        self.top += rows
        self.left += columns

    def place(self, cursor: tuple[int, int], room: Size) -> tuple[int, int] | None:
        """Return where a place of the session is on the terminal, if it is there."""
        row, column = cursor[0] - self.top, cursor[1] - self.left
        if 0 <= row < room.rows and 0 <= column < room.columns:
            return row, column
        return None


def _moved(first: int, place: int, count: int) -> int:
    if place < first:
        return place if place >= count else 0  # The beginning, if that will do.
    return max(first, place - count + 1)
