"""Stores on disk what a recovery of the session needs.

No key waits for it, nor does who starts a session: what it was started with is
written a moment later. What is printed sets a timer, once, and what has piled up is
written when that is due, bit by bit, and when the session falls asleep. A disk that
takes nothing costs the session nothing; the next attempt comes with the next output.
"""

import contextlib
import sys
import time

from holdfast.core.session import recovery
from holdfast.core.session.paint_requests import Past
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.output.painter_link import (
    PainterLink,  # noqa: TC001  # an annotation people read
)
from holdfast.holder.recovered_session import origin_of
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux.stored import recovery_files, recovery_places
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId

FACTS_AFTER = 0.05
"""Seconds from when the command has begun until it is on disk what it was begun with:
its first prompt comes first."""


class RecoveryRecord:
    """What is on disk of one session."""

    def __init__(
        self, descriptors: SessionDescriptors, window: StreamWindow, timers: Timers
    ) -> None:
        self._descriptors = descriptors
        self._window = window
        self._timer = timers.add(self._due, is_minor=True)
        self._facts_timer = timers.add(self._facts_due, is_minor=True)
        self._slot: int | None = None
        self._writing: recovery_files.TailWriting | None = None
        self._is_kept = False
        self._has_run = False
        is_woken = descriptors.woken is not None
        self._is_durable = is_woken  # By the holder that let it doze.
        self._written = self._changing() if is_woken else None
        self.painter: PainterLink | None = None
        """Who has the last keyframe."""

        self.is_stale = False
        """Whether something was printed that is not on disk, and will be soon."""

    def begun(self, now: float) -> None:
        """Note that the command runs: from now on the session can be lost."""
        if self._has_run:
            return
        self._has_run = True
        if self._descriptors.woken is None:
            self._facts_timer.set(now + FACTS_AFTER)

    def printed(self, now: float) -> None:
        """Note that something was printed; call it if nothing is stale yet."""
        self.is_stale = True
        if self._writing is None:  # Else it is noted once that is done.
            self._timer.set(now + recovery.FLUSH_AFTER)

    def rest(self) -> None:
        """Sync everything to disk: nobody waits for us now."""
        with contextlib.suppress(OSError, HoldfastError):
            while self._writing is not None:
                self._go_on()
            if self.is_stale or self._written != self._changing():
                self._flush()
            while self._writing is not None:
                self._go_on()
        if not self._is_durable:
            recovery_files.make_durable(self._descriptors.session)
            self._is_durable = True

    def parts(self) -> tuple[bytes, bytes]:
        """Return what this life was begun with, and the end of its output.

        Raises:
            OSError: It cannot be kept on disk, or read from there.
            HoldfastError: What is there is damaged.

        """
        self._keep_facts()
        facts = recovery_files.facts_of(self._descriptors.session)
        return facts.to_bytes(), self._tail().to_bytes()

    def over(self) -> bool:
        """Note that the leader is gone: what has ended cannot be lost any more.

        Return whether this life never began, because it was refused: then what is
        kept of the last one stays, and the session is as lost as before.
        """
        self._timer.set(None)
        self._facts_timer.set(None)
        if self._writing is not None:
            self._writing.close()
            self._writing = None
        self.is_stale = True  # Nothing is to be written again.
        session = self._descriptors.session
        if not self._has_run and _last_life(session) < self._descriptors.incarnation:
            recovery_places.remove_next(session)
            return True
        recovery_places.remove(session)
        return False

    def _facts_due(self, _now: float) -> None:
        with contextlib.suppress(OSError, HoldfastError):
            self._keep_facts()

    def _due(self, now: float) -> None:
        with contextlib.suppress(OSError, HoldfastError):
            if self._writing is None:
                self._flush()
            else:
                self._go_on()
        if self._writing is not None:
            self._timer.set(now)  # After whatever waits for us.
        elif self.is_stale:
            self._timer.set(now + recovery.FLUSH_AFTER)

    def _keep_facts(self) -> None:
        """Write to disk what this life was begun with."""
        if self._is_kept:
            return
        self._facts_timer.set(None)
        descriptors = self._descriptors
        try:
            recovery_files.begin(
                descriptors.session
            )  # Of a life that is not the first.
        except FileNotFoundError:
            if _last_life(descriptors.session) != descriptors.incarnation:
                origin = descriptors.origin or origin_of(
                    descriptors, self._window.capacity
                )
                recovery_files.write_facts(origin)
                self._is_durable = False
        else:
            self._is_durable = False
        self._is_kept, descriptors.origin = True, None

    def _flush(self) -> None:
        """Begin to write what was printed last."""
        self.is_stale = False
        if not self._has_run:
            return  # What is on disk is of the last life.
        self._keep_facts()
        session, tail = self._descriptors.session, self._tail()
        slot = recovery_files.older_slot(session) if self._slot is None else self._slot
        self._slot = slot ^ 1
        self._is_durable = False
        changing = self._changing()
        self._writing = recovery_files.TailWriting(session, tail, slot)
        self._written = changing

    def _go_on(self) -> None:
        writing = self._writing
        assert writing is not None  # noqa: S101  # only then is it called
        self._writing = None
        if not writing.go_on():
            self._writing = writing

    def _changing(self) -> tuple[object, ...]:
        """Return what may change without a byte of output."""
        record = self._descriptors.record
        return record.name, record.keep, record.size

    def _tail(self) -> recovery.OutputTail:
        window, record = self._window, self._descriptors.record
        start = max(window.start, window.end - recovery.MAX_TAIL)
        past = Past(False, start, (), None)  # noqa: FBT003  # a tuple with names
        if self.painter is not None:
            past = recovery.painting_for(self.painter.past(), start)
        return recovery.OutputTail(
            incarnation=self._descriptors.incarnation,
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
