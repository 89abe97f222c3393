"""What does a session show at this moment?"""

import contextlib
import time
from dataclasses import dataclass

from holdfast.client.attaching import messages
from holdfast.client.connection import Connection
from holdfast.model.errors import (
    MalformedMessage,
    PainterDied,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import SessionId
from holdfast.term.cells import MAX_RUNS, Run
from holdfast.term.screen import Screen
from holdfast.term.unseen import Hidden, reason_from
from holdfast.wire.codec import error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Refuse
from holdfast.wire.screens import MAX_SCREEN_RUNS, ScreenRequest
from holdfast.wire.screens import Screen as ScreenPart

PATIENCE = 5.0
"""Seconds for an answer: a holder gives up its painter after three."""

ATTEMPTS = 3
"""Times a painter is asked: on a busy machine the first may not be there in time."""

MAX_PARTS = 2 * MAX_RUNS // MAX_SCREEN_RUNS
"""Parts taken: twice what the runs of the largest screen come in."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A screen as it was at byte `offset`; exact if nothing had to be left out."""

    screen: Screen
    offset: int
    exact: bool


def see(session: str, *, cells: bool = False, patience: float = PATIENCE) -> Seen:
    """Return what `session` shows, with its colours if `cells`.

    Raises:
        Unavailable: The session cannot be reached, or has no painter now.
        PeerError: It answered what is no screen.

    """
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(PainterDied):
            return _see(session, patience, cells=cells)
    return _see(session, patience, cells=cells)


def _see(session: str, patience: float, *, cells: bool) -> Seen:
    deadline = time.monotonic() + patience
    with Connection.open(SessionId(session), patience=patience) as link:
        link.send(ScreenRequest(cells=cells))
        return seen_from(_parts(session, link, deadline))


def seen_from(parts: list[ScreenPart]) -> Seen:
    """Put a screen together again from the parts it came in."""
    last = parts[-1]
    screen = Screen(
        size=last.size.to_size(),
        lines=tuple("".join(part.text for part in parts).split("\n")),
        cursor_row=last.cursor_row,
        cursor_column=last.cursor_column,
        cursor_visible=last.cursor_visible,
        title=last.title,
        alternate=last.alternate,
        runs=tuple(
            Run(run.row, run.text, run.foreground, run.background, run.look)
            for part in parts
            for run in part.runs
        ),
        hidden=tuple(
            Hidden(one.row, one.start, one.end, reason_from(one.reason))
            for part in parts
            for one in part.hidden
        ),
        above=last.above,
    )
    return Seen(screen, last.offset, last.exact)


def _parts(session: str, link: Connection, deadline: float) -> list[ScreenPart]:
    parts: list[ScreenPart] = []
    for message in messages(link, deadline):
        match message:
            case ScreenPart():
                parts.append(message)
                if not message.more:
                    return parts
                if len(parts) > MAX_PARTS:
                    raise MalformedMessage("screen", "it does not end")
            case Refuse(refused=FrameKind.SCREEN_REQUEST):
                raise error_from(message)
            case _:
                raise UnexpectedMessage(type(message).__name__, "asking for a screen")
    if not parts:
        raise PainterDied("no screen came in time")
    raise SessionUnreachable(SessionId(session), "its screen stopped half way")
