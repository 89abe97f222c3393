"""The trustee's part in leases: it fences if neither holder nor keeper has.

It hears from the keeper until when each movable session may speak, and waits for that
on the clock that runs through suspend, a moment longer than the keeper does. So a
session is fenced also while its holder and the keeper both stand still
(docs/spec/leases.md, 4.5). Beyond the three there is nobody: the kernel has no timer
that stops a cgroup.
"""

import heapq
import select
import socket
import time
from collections.abc import Callable

from holdfast.keeper.lease_fence import hold
from holdfast.keeper.vault import Facts
from holdfast.linux.boot_timer import BootTimer

GRACE = 0.4
"""Seconds after the expiry: later than the keeper, and within what a fence may take."""


class LastFence:
    """The expiries that the trustee knows of, and their end."""

    def __init__(self, facts_of: Callable[[str], Facts | None]) -> None:
        """Fence by what `facts_of` returns of a session that has not ended."""
        self._facts_of = facts_of
        self._timer: BootTimer | None = None
        self._due: list[tuple[float, str]] = []

    @property
    def is_idle(self) -> bool:
        """Whether no expiry is waited for."""
        return not self._due

    def told(self, session: str, expires: object) -> None:
        """Take until when a session may speak."""
        if not isinstance(expires, float | int) or expires <= 0:
            return
        if self._timer is None:
            self._timer = BootTimer()
        heapq.heappush(self._due, (expires + GRACE, session))
        self._timer.set(self._due[0][0])

    def wait(self, link: socket.socket, seconds: float) -> bool:
        """Wait for a packet; tell whether there is one. Expiries end it, too."""
        watched: list[socket.socket | BootTimer] = [link]
        if self._timer is not None:
            watched.append(self._timer)
        return link in select.select(watched, [], [], max(seconds, 0.0))[0]

    def tick(self) -> None:
        """Fence what has run out; after everything was heard that the keeper said."""
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        if self._timer is None or not self._due or self._due[0][0] > now:
            return
        self._timer.clear()
        while self._due and self._due[0][0] <= now:
            _, session = heapq.heappop(self._due)
            facts = self._facts_of(session)
            expires = 0.0 if facts is None else facts.get("expires")
            is_over = isinstance(expires, float | int) and expires + GRACE <= now
            # A lease that was renewed since has another place in the queue.
            if facts is not None and facts.get("authority") and is_over:
                hold(session, str(facts.get("cgroup") or ""), "nobody had done it")
        self._timer.set(self._due[0][0] if self._due else None)
