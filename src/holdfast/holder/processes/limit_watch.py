"""Reports to operators and the logbook when a session has reached a limit.

The kernel kills a program that needs more memory than the session may have, and lets
nobody fork beyond the number of processes. Both look like a fault of the program to
who does not know of the limit.

The kernel counts how often that happens; what was told already is deposited with the
keeper, so that a successor tells the rest, and nothing twice.
"""

import time
from collections.abc import Callable

from holdfast.core.book.logbook import EntryKind
from holdfast.core.capsule.limit_files import MEMORY
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.linux import limits, oom_log
from holdfast.model.events import EventName
from holdfast.wire import messages as wire

REST = 5.0
"""Seconds between two looks: a program that forks without end meets its limit a
hundred times a second."""

EVERY = 5.0
"""Seconds between two looks where the kernel gives no sign."""

SOON = 0.05
"""Seconds after which the kernel has counted what it told of."""


class LimitWatch:
    """The limits of one session, as far as it meets them."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        change: Callable[[dict[str, object]], None],
    ) -> None:
        self._context = context
        self._driver = driver
        self._change = change
        held = context.descriptors.held
        texts = () if held.capsule is None else held.capsule.limited
        self._meter = limits.Meter(limits.recorded(texts))
        self._timer = context.timers.add(self._look)
        self._rounds = context.timers.add(self._go_round, is_minor=True)
        if self._meter.is_silent:
            self._rounds.set(time.monotonic() + EVERY)
        if held.met is None:
            # What an earlier life of it has met was told then.
            change({"met": self._meter.read()})
        self._is_watched = False
        self._look(time.monotonic())

    def _go_round(self, now: float) -> None:
        self._rounds.set(now + EVERY)
        if self._is_watched:
            self._look(now)

    def _met(self) -> None:
        self._context.poll.unwatch(self._meter.fileno())
        self._is_watched = False
        self._timer.set(time.monotonic() + SOON)

    def _look(self, now: float) -> None:
        """Tell what is new, and what comes after a while."""
        counted, told = self._meter.read(), self._context.descriptors.held.met or {}
        fresh = {name: one - told.get(name, 0) for name, one in counted.items()}
        fresh = {name: one for name, one in fresh.items() if one > 0}
        for name, count in fresh.items():
            self._tell(name, count)
        if fresh:
            self._change({"met": counted})
            if self._is_watched:
                self._context.poll.unwatch(self._meter.fileno())
                self._is_watched = False
            self._timer.set(now + REST)
        elif not self._is_watched:
            self._timer.set(None)
            self._is_watched = True
            self._context.poll.watch(self._meter.fileno(), self._met)

    def _tell(self, controller: str, count: int) -> None:
        descriptors = self._context.descriptors
        is_memory = controller == MEMORY
        killed = oom_log.last_killed(descriptors.session) if is_memory else None
        fields: dict[str, str | int] = {
            "limit": controller,
            "most": descriptors.record.memory if is_memory else descriptors.record.pids,
            "count": count,
            "program": wire.fitting(killed.program, wire.MAX_TEXT) if killed else "",
            "pid": killed.pid if killed else 0,
        }
        self._driver.record(EntryKind.LIMITED, fields)
        event = wire.Event(EventName.LIMIT_MET, descriptors.session, fields)
        self._context.clients.announce(event)
