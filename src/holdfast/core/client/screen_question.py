"""The question for a session's current screen."""

from dataclasses import dataclass

from holdfast.core.client.questions import SessionQuestion, parts_of
from holdfast.term.cells import MAX_RUNS, Run
from holdfast.term.screen import Screen
from holdfast.term.unseen import Hidden, reason_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.screens import MAX_SCREEN_RUNS, ScreenRequest
from holdfast.wire.screens import Screen as ScreenPart

MAX_PARTS = 2 * MAX_RUNS // MAX_SCREEN_RUNS
"""Parts taken: twice what the runs of the largest screen come in."""

ATTEMPTS = 3
"""Times a painter is asked: on a busy machine the first may not be there in time."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A screen as it was at byte `offset`; exact if nothing had to be left out."""

    screen: Screen
    offset: int
    exact: bool


def screen(*, cells: bool) -> SessionQuestion[Seen]:
    """Ask what the session shows, with its colours if `cells`."""
    asked = ScreenRequest(cells=cells)
    begin = parts_of(ScreenPart, FrameKind.SCREEN_REQUEST, MAX_PARTS, seen_from)
    return SessionQuestion((asked,), begin, attempts=ATTEMPTS)


def seen_from(parts: list[ScreenPart]) -> Seen:
    """Put a screen together again from the parts it came in."""
    last = parts[-1]
    shown = Screen(
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
    return Seen(shown, last.offset, last.exact)
