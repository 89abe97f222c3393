"""Keeps on disk what it takes to begin the session again when everything is lost.

No key waits for it: what is printed sets a timer, once, and what has piled up is
written when that is due, and when the session falls asleep. A disk that takes nothing
costs the session nothing; the next attempt comes with the next output.
"""

import contextlib
import sys
import time

from holdfast.core.session.paint_requests import Past
from holdfast.core.session.recovery import (
    FLUSH_AFTER,
    MAX_TAIL,
    OutputTail,
    painting_for,
)
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.output.painter_link import (
    PainterLink,  # noqa: TC001  # an annotation people read
)
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.timers import Timers
from holdfast.linux.stored import recovery_files, recovery_places
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId


class RecoveryRecord:
    """What is on disk of one session."""

    def __init__(self, vaulted: Vaulted, window: StreamWindow, timers: Timers) -> None:
        self._vaulted = vaulted
        self._window = window
        self._timer = timers.add(self._due, is_minor=True)
        self._slot = 0
        self._is_begun = False
        self._has_run = False
        is_woken = vaulted.woken is not None
        self._is_durable = is_woken  # By whoever let it fall asleep.
        self._written = self._changing() if is_woken else None
        self.painter: PainterLink | None = None
        """Who has the last keyframe."""

        self.is_stale = False
        """Whether something was printed that is not on disk, and will be soon."""

    def begun(self) -> None:
        """Take that the command runs: from now on the session can be lost."""
        self._has_run = True
        if self._is_begun:
            return
        session, origin = self._vaulted.session, self._vaulted.origin
        with contextlib.suppress(OSError, HoldfastError):
            try:
                recovery_files.begin(session)
                self._is_durable = False
            except FileNotFoundError:  # It was begun before us, or the disk was full.
                if origin is not None:
                    recovery_files.write_next(origin)
                    recovery_files.begin(session)
                    self._is_durable = False
            self._is_begun, self._vaulted.origin = True, None

    def printed(self, now: float) -> None:
        """Take that something was printed; call it if nothing is stale yet."""
        self.is_stale = True
        self._timer.set(now + FLUSH_AFTER)

    def rest(self) -> None:
        """Have everything on disk, for good: nobody waits for us now."""
        if self.is_stale or self._written != self._changing():
            self._flush()
        if not self._is_durable:
            recovery_files.make_durable(self._vaulted.session)
            self._is_durable = True

    def over(self) -> bool:
        """Take that the leader is gone: what has ended cannot be lost any more.

        Return whether this life never began, because it was refused: then what is
        kept of the last one stays, and the session is as lost as before.
        """
        self._timer.set(None)
        self.is_stale = True  # Nothing is to be written again.
        session = self._vaulted.session
        if not self._has_run and _last_life(session) < self._vaulted.incarnation:
            recovery_places.remove_next(session)
            return True
        recovery_places.remove(session)
        return False

    def _due(self, _now: float) -> None:
        self._flush()

    def _flush(self) -> None:
        self.is_stale = False
        if not self._has_run:
            return  # What is on disk is of the last life.
        self.begun()
        with contextlib.suppress(OSError, HoldfastError):
            self._slot ^= 1
            recovery_files.write_tail(self._vaulted.session, self._tail(), self._slot)
            self._written, self._is_durable = self._changing(), False

    def _changing(self) -> tuple[object, ...]:
        """Return what may change without a byte of output."""
        record = self._vaulted.record
        return record.name, record.keep, record.size

    def _tail(self) -> OutputTail:
        window, record = self._window, self._vaulted.record
        start = max(window.start, window.end - MAX_TAIL)
        past = Past(False, start, (), None)  # noqa: FBT003  # a tuple with names
        if self.painter is not None:
            past = painting_for(self.painter.past(), start)
        return OutputTail(
            incarnation=self._vaulted.incarnation,
            at_ms=time.time_ns() // 1_000_000,
            name=record.name,
            keep=record.keep,
            size=(record.size.columns, record.size.rows),
            start=start,
            data=window.since(start),
            painting=past,
        )


def _last_life(session: SessionId) -> int:
    """Return the last life that has begun, by what is on disk; a high one if none."""
    try:
        return recovery_files.facts_of(session).incarnation
    except (OSError, HoldfastError):
        return sys.maxsize
