"""Notifies clients when something in the session stops listening.

core.session.listener_watch decides when to look, and what is gone. The look itself
takes a few milliseconds at a time, in between the holder's other work.
"""

import contextlib
import math
import os
import time
from collections.abc import Iterator  # an annotation people read
from functools import partial

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.listener_watch import SOON, Listener, ListenerWatch
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.linux import graph
from holdfast.linux.process_table import SLICE, Belonging
from holdfast.linux.sockets import LISTENING
from holdfast.model.events import EventName
from holdfast.wire import messages as wire


class Listeners:
    """What listens in one session."""

    def __init__(self, context: Context, driver: IntakeDriver) -> None:
        self._context = context
        self._driver = driver
        descriptors = context.descriptors
        self._belonging = Belonging(descriptors.tree(descriptors.record.pid))
        self._poll = context.poll
        self._timer = context.timers.add(self.tick)
        self._watch = ListenerWatch()
        self._printed_at: float | None = None
        self._watched: dict[int, int] = {}
        self._looking: Iterator[graph.Node | None] | None = None
        self._found: list[Listener] = []

    def printed(self, now: float) -> None:
        """Note that the session printed something: what listens may have changed."""
        self._printed_at = now
        if self._timer.due > now + SOON:
            self._timer.set(now + SOON)

    def tick(self, now: float) -> None:
        """Look, if it is time to; go on looking for a moment."""
        if self._looking is None:
            if self._printed_at is not None:
                self._watch.printed(self._printed_at)
                self._printed_at = None
            at = self._watch.look_at
            if at is None or now < at:
                self._timer.set(at)
                return
            self._looking = graph.survey(self._belonging, descriptors=False)
        self._go_on(self._looking, time.monotonic() + SLICE, now)

    def conclude(self, now: float) -> bool:
        """Look to the end if a look is due; tell whether nothing listens."""
        if self._timer.due < math.inf:
            self._printed_at = None
            looking = self._looking or graph.survey(self._belonging, descriptors=False)
            self._go_on(looking, math.inf, now)
            self._watch.rest()
            self._timer.set(self._watch.look_at)
        return not self._watch.pids and self._timer.due == math.inf

    def _go_on(
        self, looking: Iterator[graph.Node | None], until: float, now: float
    ) -> None:
        for node in looking:
            if node is not None:
                self._found += _listeners(node)
            if time.monotonic() >= until:
                self._timer.set(now)
                return
        found, self._found, self._looking = self._found, [], None
        for gone in self._watch.saw(found, now):
            self._tell(gone)
        self._follow(self._watch.pids)
        self._timer.set(self._watch.look_at)
        if self._printed_at is not None:
            self.printed(self._printed_at)

    def close(self) -> None:
        """Look no more."""
        self._follow(frozenset())
        self._watch, self._looking, self._printed_at = ListenerWatch(), None, None
        self._timer.set(None)

    def _tell(self, gone: Listener) -> None:
        """Record, and report to all clients, that a process no longer listens."""
        fields: dict[str, str | int] = {
            "protocol": gone.protocol,
            "address": wire.fitting(gone.address, wire.MAX_TEXT),
            "port": gone.port,
            "pid": gone.pid,
            "command": wire.fitting(gone.command, wire.MAX_TEXT),
        }
        self._driver.record(EntryKind.UNBOUND, fields)
        session = self._context.descriptors.session
        event = wire.Event(EventName.LISTENER_GONE, session, fields)
        self._context.clients.announce(event)

    def _follow(self, pids: frozenset[int]) -> None:
        """Hear of the end of these processes, and of no others."""
        for pid in self._watched.keys() - pids:
            self._forget(pid)
        for pid in pids - self._watched.keys():
            with contextlib.suppress(OSError):  # It has ended: the next look shows it.
                pidfd = os.pidfd_open(pid)
                self._watched[pid] = pidfd
                self._poll.watch(pidfd, partial(self._ended, pid))

    def _ended(self, pid: int) -> None:
        self._forget(pid)
        self._watch.ended()
        self._timer.set(self._watch.look_at)

    def _forget(self, pid: int) -> None:
        pidfd = self._watched.pop(pid)
        self._poll.unwatch(pidfd)
        os.close(pidfd)


def _listeners(node: graph.Node) -> list[Listener]:
    return [
        Listener(
            one.socket.protocol,
            one.socket.local,
            one.socket.local_port,
            node.stat.pid,
            node.command,
        )
        for one in node.opened
        if one.socket is not None and one.socket.standing == LISTENING
    ]
