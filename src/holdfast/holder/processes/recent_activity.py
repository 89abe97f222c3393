"""What a session has done lately, for core.session.program_state to judge.

Nothing of it costs anything while a program prints: the stream is looked through for a
switch of screens on demand, as far as it is new, and processor time is
compared with what it was at the last request.
"""

import math
from typing import NamedTuple

from holdfast.core.session.program_state import ECHO, LATELY, Activity
from holdfast.core.session.session_state import Evidence
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.output.attention import AttentionCalls
from holdfast.linux.procfs import TICKS
from holdfast.term.alternate import OVERLAP, last_switch

SHORTEST = 0.25
LONGEST = 10.0
"""Seconds between two looks at the processor time that can be compared: in fewer, a
tick of the kernel's clock is too much; in more, what is past counts too much."""


class _Sample(NamedTuple):
    """What a group of processes had used, and when that was looked up."""

    group: int | None
    at: float
    ticks: int


class RecentActivity:
    """What one session has done lately."""

    def __init__(self, window: StreamWindow, attention: AttentionCalls) -> None:
        self._window = window
        self._attention = attention
        self._seen = 0
        self._is_alternate = False
        self._sample = _Sample(None, -math.inf, 0)

    def look(self, seen: Evidence, now: float) -> Activity:
        """Return what the session has done up to now."""
        return Activity(self._alternate(), self._quiet(now), self._processor(seen, now))

    def _alternate(self) -> bool:
        if self._window.end > self._seen:
            found = last_switch(self._window.since(self._seen - OVERLAP))
            self._seen = self._window.end
            if found is not None:
                self._is_alternate = found
        return self._is_alternate

    def _quiet(self, now: float) -> float | None:
        printed, typed = self._attention.printed_at, self._attention.typed_at
        quiet = now - printed
        is_echo = quiet < LATELY and 0 <= printed - typed < ECHO
        return None if printed == -math.inf or is_echo else quiet

    def _processor(self, seen: Evidence, now: float) -> float | None:
        former = self._sample
        since = now - former.at
        is_same = seen.foreground == former.group and seen.ticks >= former.ticks
        if is_same and since < SHORTEST:
            return None
        self._sample = _Sample(seen.foreground, now, seen.ticks)
        if not is_same or since > LONGEST:
            return None
        return (seen.ticks - former.ticks) / TICKS / since
