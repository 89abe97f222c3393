"""Notifies clients when something in the session stops listening.

core.session.listener_watch decides when to look, and what is gone. The look itself
takes a few milliseconds at a time, in between the holder's other work.
"""

import contextlib
import os
import selectors
import time
from collections.abc import Callable, Iterator

from holdfast.core.session.listener_watch import Listener, ListenerWatch
from holdfast.linux import graph
from holdfast.linux.process_table import Tree
from holdfast.linux.sockets import LISTENING
from holdfast.model.ids import SessionId

SLICE = 0.004
"""Seconds of looking at once: less than a key's echo may take."""

Tell = Callable[[Listener], None]


class Listeners:
    """What listens in one session."""

    def __init__(
        self,
        session: SessionId,
        leader: int,
        selector: selectors.BaseSelector,
        tell: Tell,
    ) -> None:
        self._tree = Tree.of(leader, session)
        self._selector = selector
        self._tell = tell
        self._watch = ListenerWatch()
        self._watched: dict[int, int] = {}
        self._looking: Iterator[graph.Node] | None = None
        self._found: list[Listener] = []

    def printed(self, now: float) -> float:
        """Take that the session printed something; return when to call `tick`."""
        self._watch.printed(now)
        return self._watch.look_at or 0.0

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return 0.0 if self._looking is not None else self._watch.look_at

    def tick(self, now: float) -> None:
        """Look, if it is time to; go on looking for a moment."""
        if self._looking is None:
            at = self._watch.look_at
            if at is None or now < at:
                return
            self._looking = graph.survey(self._tree, descriptors=False)
        until = time.monotonic() + SLICE
        for node in self._looking:
            self._found += _listeners(node)
            if time.monotonic() >= until:
                return
        found, self._found, self._looking = self._found, [], None
        for gone in self._watch.saw(found, now):
            self._tell(gone)
        self._follow(self._watch.pids)

    def close(self) -> None:
        """Look no more."""
        self._follow(frozenset())
        self._watch, self._looking = ListenerWatch(), None

    def _follow(self, pids: frozenset[int]) -> None:
        """Hear of the end of these processes, and of no others."""
        for pid in self._watched.keys() - pids:
            self._forget(pid)
        for pid in pids - self._watched.keys():
            with contextlib.suppress(OSError):  # It has ended: the next look shows it.
                pidfd = os.pidfd_open(pid)
                self._watched[pid] = pidfd
                self._selector.register(
                    pidfd, selectors.EVENT_READ, lambda pid=pid: self._ended(pid)
                )

    def _ended(self, pid: int) -> None:
        self._forget(pid)
        self._watch.ended()

    def _forget(self, pid: int) -> None:
        pidfd = self._watched.pop(pid)
        self._selector.unregister(pidfd)
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
