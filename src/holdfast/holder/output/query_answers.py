"""Answers the program's terminal queries once, in order, and between inputs.

Most answers do not depend on the screen. Only the painter knows where the cursor is;
queries that come after such a one wait until it has answered or given up.
"""

import re
import time
from collections.abc import Callable, Iterable
from functools import partial

from holdfast.core.session.paint_requests import Picture, Want
from holdfast.core.session.reply_queue import ReplyQueue
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.timers import Timers
from holdfast.linux import pty
from holdfast.model.geometry import Size
from holdfast.term.queries import Query, QueryKind
from holdfast.term.replies import reply

AGAIN = 0.02
"""Seconds until a terminal that took nothing is tried again."""

_FETCHED = {
    QueryKind.CURSOR: Want.CURSOR,
    QueryKind.PRIVATE_CURSOR: Want.PRIVATE_CURSOR,
}
_REPORT = re.compile(rb"\x1b\[\??[0-9]{1,4};[0-9]{1,4}(;1)?R")
"""All that a painter may have typed: what it paints may have taken it over."""


class Answers:
    """The terminal's side of the conversation."""

    def __init__(
        self,
        master: int,
        begin: int,
        painter: PainterLink,
        timers: Timers,
        is_writing: Callable[[], bool],
    ) -> None:
        """Answer on `master` what is asked after byte `begin` of the stream.

        `is_writing` tells whether an input is half written.
        """
        self._master = master
        self._begin = begin
        self._is_writing = is_writing
        self._painter = painter
        self._timer = timers.add(self.tick)
        self._queue = ReplyQueue()

    def asked(self, queries: Iterable[Query], size: Callable[[], Size]) -> None:
        """Answer queries, as far as that can be done at once."""
        for query in queries:
            want = _FETCHED.get(query.kind)
            if want is not None:
                self._fetch(want, self._begin + query.at)
            elif answer := reply(query, size()):
                self._queue.add(answer)
        self.tick()

    def tick(self, _now: float = 0.0) -> None:
        """Give the program what is ready for it."""
        ready = self._queue.ready()
        # An answer in the middle of an input would become part of it.
        if ready and not self._is_writing():
            self._queue.wrote(pty.write_available(self._master, ready))
        self._timer.set(time.monotonic() + AGAIN if self._queue.ready() else None)

    def _fetch(self, want: Want, upto: int) -> None:
        place = self._queue.hold()
        if place is not None:
            self._painter.ask(want, partial(self._told, place), upto)

    def _told(self, place: int, picture: Picture | None) -> None:
        report = b"" if picture is None else picture.data
        self._queue.fill(place, report if _REPORT.fullmatch(report) else b"")
        self.tick()
