"""When each event of a recording is shown.

Theory of operation
-------------------
A player is given events one by one, and says when the next is due. Its speed divides
every interval; a limit shortens long ones. While it is paused nothing is due, and what
was left of the wait continues afterwards. A jump makes everything up to the next marker
due at once, so that the screen is what it would be.

Invariants:

I1  Events are shown once each, in order.
I2  Without a jump, none is shown before its time.
"""

import math
from collections.abc import Iterator

from holdfast.core.recording.cast_reader import Recorded
from holdfast.core.recording.cast_writer import MARK, OUTPUT


class Player:
    """One recording while it is played. `now` is seconds of any monotonic clock."""

    def __init__(
        self,
        events: Iterator[Recorded],
        now: float,
        *,
        speed: float = 1.0,
        idle_limit: float = math.inf,
    ) -> None:
        self._events = events
        self._speed = speed
        self._idle_limit = idle_limit
        self._next: Recorded | None = None
        self._due_at = now
        self._paused_at: float | None = None
        self._advance()

    @property
    def is_over(self) -> bool:
        """Whether everything was shown."""
        return self._next is None

    @property
    def is_paused(self) -> bool:
        """Whether nothing is shown until it continues."""
        return self._paused_at is not None

    def next_deadline(self) -> float | None:
        """Return when to call `tick`; None while nothing is due."""
        return None if self.is_paused or self.is_over else self._due_at

    def tick(self, now: float) -> str:
        """Return what is to be printed by now."""
        shown = []
        while not self.is_paused and self._next is not None and now >= self._due_at:
            shown.append(self._take())
        return "".join(shown)

    def toggle_pause(self, now: float) -> None:
        """Pause, or continue."""
        if self._paused_at is None:
            self._paused_at = now
        else:
            self._due_at += now - self._paused_at
            self._paused_at = None

    def step(self, now: float) -> str:
        """Return the next event's output at once."""
        shown = "" if self._next is None else self._take()
        self._restart(now)
        return shown

    def jump(self, now: float) -> str:
        """Return all output up to the next marker, or to the end."""
        shown = []
        while self._next is not None:
            is_mark = self._next.code == MARK
            shown.append(self._take())
            if is_mark:
                break
        self._restart(now)
        return "".join(shown)

    def _take(self) -> str:
        event = self._next
        assert event is not None  # noqa: S101  # callers have looked
        self._advance()
        return event.data if event.code == OUTPUT else ""

    def _advance(self) -> None:
        self._next = next(self._events, None)
        if self._next is not None:
            self._due_at += self._wait()

    def _wait(self) -> float:
        interval = 0.0 if self._next is None else self._next.interval
        return min(interval, self._idle_limit) / self._speed

    def _restart(self, now: float) -> None:
        """Count from now on to the next event."""
        self._due_at = now + self._wait()
        if self._paused_at is not None:
            self._paused_at = now
