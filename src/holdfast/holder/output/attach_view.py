"""How a client catches up with the session: from the stream or from a keyframe.

A client that has seen nothing yet, or not enough, gets a keyframe and the stream from
there. While the keyframe is being made only that client waits; where none can be had,
the client gets the window from its start.
"""

import json
import time
from dataclasses import replace
from functools import partial

from holdfast.core.session.paint_requests import Picture, Want
from holdfast.core.session.stream import Resume, StreamWindow, plan_resume
from holdfast.holder.links.connection import Connection
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.timers import Timers
from holdfast.model.errors import PainterDied, PeerError
from holdfast.term.screen import Screen
from holdfast.wire import messages as wire
from holdfast.wire import screens
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind

SHORT = 64 * 1024
"""Bytes of a stream that is shown as it is, if nothing of it is gone: it is there
sooner than any picture of it."""

_ATTACH = FrameKind.ATTACH

HURRY = 0.06
"""Seconds a picture may take if the window still has everything that was printed:
then the stream shows the same, and a painter that has to be started is slower."""

MAX_SENT = 2 * 1024 * 1024
"""Longest keyframe that is sent; instead of a longer one the stream is."""

MAX_STREAM = 1024 * 1024
"""Bytes of the stream that are sent instead of a picture: however much is kept, nobody
wants to see it all run by."""


class AttachView:
    """What clients are shown of one session."""

    def __init__(
        self, window: StreamWindow, painter: PainterLink, timers: Timers
    ) -> None:
        self._window = window
        self._painter = painter
        self._timer = timers.add(self.tick)
        self._asking: set[Connection] = set()
        self._repainting: set[Connection] = set()
        self._hurrying: dict[Connection, float] = {}

    def begin(self, connection: Connection, plan: Resume, asked: wire.Attach) -> None:
        """Show a client the session as `plan` says, or better."""
        is_fresh = asked.after is None or plan.gap > 0 or plan.at != asked.after
        is_short = plan.at == 0 and self._window.end <= SHORT
        if not asked.keyframe or not is_fresh or is_short:
            self._stream(connection, plan)
            return
        seen = plan.at - plan.gap if plan.gap else None
        if self._window.start == 0 and self._window.end <= MAX_STREAM and seen is None:
            self._hurrying[connection] = time.monotonic() + HURRY
            self._timer.set(min(self._hurrying.values()))
        self._painter.ask(Want.KEYFRAME, partial(self._paint, connection, seen))

    def again(self, connection: Connection) -> None:
        """Show a client the session from a keyframe on, or tell it why not."""
        if connection in self._repainting:
            self._refuse(connection, "it is asked for one already", _ATTACH)
            return
        self._repainting.add(connection)
        self._painter.ask(Want.KEYFRAME, partial(self._repaint, connection))

    def tick(self, now: float) -> None:
        """Show the stream to clients that waited long enough for a picture."""
        for connection, by in [*self._hurrying.items()]:
            if now >= by:
                del self._hurrying[connection]
                if not connection.is_closed:
                    self._stream(connection, plan_resume(self._window, None))
        self._timer.set(min(self._hurrying.values(), default=None))

    def screen(self, connection: Connection, asked: screens.ScreenRequest) -> None:
        """Tell a client what is to be seen."""
        if connection in self._asking or connection.is_behind:
            # One that asks faster than it reads would fill our memory.
            self._refuse(connection, "it has not taken the last screen yet")
            return
        self._asking.add(connection)
        want = Want.CELLS if asked.cells else Want.SCREEN
        self._painter.ask(want, partial(self._tell, connection))

    def _stream(self, connection: Connection, plan: Resume) -> None:
        if plan.gap:
            connection.send(wire.Gap(plan.at - plan.gap, plan.at))
        connection.watch(self._window, plan.at)
        connection.pump()

    def _unpainted(self, seen: int | None) -> Resume:
        """Return how a client goes on that gets no picture."""
        plan = plan_resume(self._window, seen)
        at = max(plan.at, self._window.end - MAX_STREAM)
        gap = 0 if seen is None or at == seen else at - seen
        return replace(plan, at=at, gap=gap)

    def _paint(
        self, connection: Connection, seen: int | None, picture: Picture | None
    ) -> None:
        self._hurrying.pop(connection, None)
        if connection.is_closed or connection.viewer is not None:
            return
        if picture is None or len(picture.data) > MAX_SENT:
            self._stream(connection, self._unpainted(seen))
            return
        if seen is not None and seen < picture.offset:
            connection.send(wire.Gap(seen, picture.offset))
        self._go_on_from(connection, picture)

    def _repaint(self, connection: Connection, picture: Picture | None) -> None:
        self._repainting.discard(connection)
        if connection.is_closed:
            return
        if picture is None or len(picture.data) > MAX_SENT:
            self._refuse(connection, "it gave no keyframe in time", _ATTACH)
            return
        if connection.is_behind:
            # One that asks faster than it reads would fill our memory.
            self._refuse(connection, "the last one was not taken yet", _ATTACH)
            return
        self._go_on_from(connection, picture)

    def _go_on_from(self, connection: Connection, picture: Picture) -> None:
        connection.queue(_keyframes(picture))
        connection.watch(self._window, picture.offset)
        connection.pump()

    def _tell(self, connection: Connection, picture: Picture | None) -> None:
        self._asking.discard(connection)
        if connection.is_closed:
            return
        if picture is None:
            self._refuse(connection, "it gave no screen in time")
            return
        try:
            screen = Screen.from_object(json.loads(picture.data))
        except (ValueError, RecursionError, PeerError):
            self._refuse(connection, "its screen is invalid")
            return
        connection.queue(screen_parts(screen, picture))
        connection.pump()

    def _refuse(
        self,
        connection: Connection,
        why: str,
        what: FrameKind = FrameKind.SCREEN_REQUEST,
    ) -> None:
        connection.queue([refusal(PainterDied(why), what)])
        connection.pump()


def screen_parts(screen: Screen, picture: Picture) -> list[screens.Screen]:
    """Return a screen as it travels: in as many parts as it takes."""
    text = screen.text()
    runs = [
        screens.ScreenRun(run.row, run.text, run.foreground, run.background, run.look)
        for run in screen.runs
    ]
    hidden = [
        screens.ScreenHidden(one.row, one.start, one.end, one.reason.value)
        for one in screen.hidden
    ]
    count = max(
        1,
        -(-len(text) // screens.MAX_SCREEN_TEXT),
        -(-len(runs) // screens.MAX_SCREEN_RUNS),
        -(-len(hidden) // screens.MAX_SCREEN_HIDDEN),
    )
    return [
        screens.Screen(
            offset=picture.offset,
            size=wire.Cells(screen.size.columns, screen.size.rows),
            cursor_row=screen.cursor_row,
            cursor_column=screen.cursor_column,
            cursor_visible=screen.cursor_visible,
            title=screen.title,
            alternate=screen.alternate,
            exact=picture.exact,
            text=text[_part(number, screens.MAX_SCREEN_TEXT)],
            runs=tuple(runs[_part(number, screens.MAX_SCREEN_RUNS)]),
            hidden=tuple(hidden[_part(number, screens.MAX_SCREEN_HIDDEN)]),
            above=screen.above,
            more=number + 1 < count,
        )
        for number in range(count)
    ]


def _keyframes(picture: Picture) -> list[wire.Keyframe]:
    starts = range(0, len(picture.data), wire.MAX_KEYFRAME_PART) or [0]
    return [
        wire.Keyframe(
            offset=picture.offset,
            size=wire.Cells(picture.size.columns, picture.size.rows),
            more=start != starts[-1],
            data=picture.data[start : start + wire.MAX_KEYFRAME_PART],
        )
        for start in starts
    ]


def _part(number: int, size: int) -> slice:
    return slice(number * size, (number + 1) * size)
