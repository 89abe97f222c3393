"""Processes that were replaced, and which sessions were told.

A holder is its session's business; what serves all sessions is told to each that
was there at the time. Holders tell the attached operators.
"""

import time

from holdfast.linux.replacements import Replacement
from holdfast.model import holder_orders as orders
from holdfast.model.process_status import ReplacedProcesses

MAX_KEPT = 16
"""Replacements that are remembered for sessions which have no holder just now."""


class Replaced:
    """What was replaced so far."""

    def __init__(self) -> None:
        self._count = 0
        self._last: tuple[Replacement, float] | None = None
        self._kept: list[tuple[int, Replacement]] = []
        self._told: dict[str, int] = {}
        """How many of them each session has been told of, or was before."""

    def note(self, one: Replacement) -> None:
        """Note that a process was replaced."""
        self._count += 1
        self._last = one, time.monotonic()
        self._kept = [*self._kept, (self._count, one)][-MAX_KEPT:]

    def news(self, session: str, created_ms: object) -> list[orders.Replaced]:
        """Return what a session has not been told yet; it counts as told then."""
        told, self._told[session] = self._told.get(session, 0), self._count
        since = created_ms if isinstance(created_ms, int) else 0
        return [
            orders.Replaced(one.what, one.pid, one.why)
            for number, one in self._kept
            if number > told and one.at_ms >= since and one.session in ("", session)
        ]

    def drop(self, session: str) -> None:
        """Forget a session."""
        self._told.pop(session, None)

    def status(self) -> ReplacedProcesses:
        """Return how many there were, and the last."""
        if self._last is None:
            return ReplacedProcesses()
        last, at = self._last
        return ReplacedProcesses(self._count, str(last), time.monotonic() - at)
