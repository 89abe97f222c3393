"""A frame, put together from a session's rows, a status line and notices."""

from dataclasses import dataclass

from holdfast.core.view.copy_mode import CopyMode
from holdfast.core.view.frames import Frame
from holdfast.core.view.rows import Row, cut, laid_over
from holdfast.core.view.status_line import StatusFacts, notice_rows, status_line
from holdfast.core.view.viewport import Viewport
from holdfast.model.geometry import Size

LEAST = 2
"""Rows of a terminal that has a status line: one is for the session."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A session's screen, as its painter tells of it."""

    size: Size
    rows: tuple[Row, ...]
    cursor: tuple[int, int] = (0, 0)
    is_cursor_shown: bool = True
    is_alternate: bool = False
    above: int = 0
    title: str = ""
    modes: frozenset[int] = frozenset()
    shape: int = 0


def room_on(terminal: Size) -> Size:
    """Return how much of a terminal is for the session."""
    rows = terminal.rows - 1 if terminal.rows >= LEAST else terminal.rows
    return Size(terminal.columns, rows)


def live_frame(
    picture: Picture,
    viewport: Viewport,
    terminal: Size,
    standing: StatusFacts,
    notices: list[str],
) -> Frame:
    """Return what a terminal shows of a session as it is now."""
    room = room_on(terminal)
    viewport.follow(picture.size, room, picture.cursor)
    top, left = viewport.top, viewport.left
    shown = [
        cut(row, left, room.columns) for row in picture.rows[top : top + room.rows]
    ]
    cursor = viewport.place(picture.cursor, room) if picture.is_cursor_shown else None
    views = _views_told(picture.size, viewport, room)
    return _frame(
        shown, cursor, terminal, status_line(standing, views, room.columns), notices
    )


def copy_frame(
    copying: CopyMode, terminal: Size, standing: StatusFacts, notices: list[str]
) -> Frame:
    """Return what a terminal shows during a look back."""
    columns = terminal.columns
    place = f"copy {copying.place}"
    views = (copying.said or place, place, "copy")
    line = status_line(standing, views, columns)
    cursor: tuple[int, int] | None = copying.cursor
    if copying.pattern is not None:
        line = status_line(StatusFacts(copying.pattern), (), columns)
    return _frame(copying.shown(), cursor, terminal, line, notices)


def _views_told(session: Size, viewport: Viewport, room: Size) -> tuple[str, ...]:
    if session == room:
        return ()
    size = f"{session.columns}x{session.rows}"
    if session.columns <= room.columns and session.rows <= room.rows:
        return f"session is {size}", size
    place = f"+{viewport.left}+{viewport.top}"
    return f"session is {size} {place}", f"session is {size}", size


def _frame(
    shown: list[Row],
    cursor: tuple[int, int] | None,
    terminal: Size,
    line: Row,
    notices: list[str],
) -> Frame:
    room = room_on(terminal)
    rows = [*shown[: room.rows], *[()] * (room.rows - len(shown))]
    said = notice_rows(notices, terminal.columns)[: room.rows]
    rows[: len(said)] = [
        laid_over(under, over) for under, over in zip(rows, said, strict=False)
    ]
    if terminal.rows >= LEAST:
        rows.append(line)
    return Frame(terminal, tuple(rows), cursor)
