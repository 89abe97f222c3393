"""Moves output from the terminal into the window; a kill in between loses nothing.

What is read lands in the window's own memory, behind its end, where it outlives us.
Then queries are taken out of it, and the rest is made visible by advancing the end.
A successor finds what its predecessor had read but not yet made visible, including an
unfinished escape sequence, and continues from there.
"""

from collections.abc import Callable

from holdfast.core.session.stream import StreamWindow
from holdfast.linux import pty
from holdfast.term.attention import Call, CallScanner
from holdfast.term.queries import Query, QueryFilter
from holdfast.wire.codec import output_head

CHUNK = 64 * 1024
"""Bytes taken in one go: after that, clients and clocks are looked at."""


SMALL = 1024
"""Bytes that are written down for clients when they come: an echo, and a prompt."""


class Output:
    """What one program prints."""

    def __init__(
        self,
        master: int,
        window: StreamWindow,
        called: Callable[[Call], None],
        interrupt: Callable[[], None] = lambda: None,
    ) -> None:
        """Read what `master` has; `called` is told about calls for attention.

        `interrupt` is called before anything comes of output but that it is shown.
        """
        self._master = master
        self._window = window
        self._called = called
        self._interrupt = interrupt
        self._filter = QueryFilter()
        self._calls = CallScanner()
        self._is_at_rest = False
        """Whether no sequence has begun."""

        self.count: int | None = 0
        """Bytes that were read last; None at the end."""

        self.begin = 0
        """Where what was taken last begins, if there is a frame of it."""

        self.frame = b""
        """What was taken last, as clients are sent it; empty if there was much."""

    def take_up(self) -> tuple[Query, ...]:
        """Go on with what a predecessor had read; return the queries in it."""
        # A string may be open, whose end is no bell. What it calls for was told.
        self._calls.feed(self._window.since(self._window.end - CHUNK))
        return self._admit(bytes(self._window.ahead))

    def take(self) -> tuple[Query, ...] | None:
        """Take what has been printed; return the queries in it.

        None means that the terminal is closed: nothing will ever come again.
        """
        self.frame = b""
        room = self._window.room(CHUNK)
        self.count = count = pty.read_into(self._master, room, self._window.took)
        if count is None:
            return None
        fresh = bytes(room[:count])
        if self._is_at_rest and count == 1 and b" " <= fresh <= b"~":
            # A letter outside of any sequence is shown as it is.
            self._filter.passed += 1
            self._show(fresh)
            return ()
        return self._admit(fresh)

    def _admit(self, fresh: bytes) -> tuple[Query, ...]:
        call = self._calls.feed(fresh)
        filtered = self._filter.feed(fresh)
        if call is not None or filtered.queries:
            self._interrupt()
        if call is not None:
            # Before it is part of the stream: should we be killed, it is read again.
            self._called(call)
        if filtered.queries:
            raw = bytes(self._window.ahead)
            held = raw[len(raw) - self._filter.held :]
            self._window.replace_ahead(filtered.visible, held)
        else:
            self._show(filtered.visible)
        self._is_at_rest = self._filter.is_at_rest and self._calls.is_at_rest
        return filtered.queries

    def _show(self, visible: bytes) -> None:
        """Make what was read part of the stream."""
        window, size = self._window, len(visible)
        if 0 < size <= SMALL:
            self.begin = begin = window.end
            self.frame = output_head(begin, size) + visible
        window.admit(size)
