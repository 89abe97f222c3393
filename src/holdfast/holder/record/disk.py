"""When the logbook is synced, and what is durable then.

Typed input is echoed first, because a sync takes as long as several echoes; entries
that wait for a sync are acknowledged together.
"""

import math
import time

from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect
from holdfast.holder.moment import now
from holdfast.holder.record.log_file import LogFile
from holdfast.model.ids import Index

SYNC_PATIENCE = 0.002
"""Seconds the disk may be put off: what was typed is to be echoed first, and a
sync takes as long as several echoes. Nobody waits longer for an answer."""


class Disk:
    """What of a logbook has still to be made durable."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._to: Index | None = None
        self.is_wanted = False
        """Whether anything waits."""

        self.due_at = math.inf
        """When it has waited long enough."""

        self.has_failed = False
        """Whether the last sync did."""

    def want(self, index: Index) -> None:
        """Have everything up to an entry made durable soon."""
        if self._to is None:
            self.due_at, self.is_wanted = time.monotonic() + SYNC_PATIENCE, True
        self._to = max(self._to or index, index)

    def sync(self, intake: Intake) -> list[Effect]:
        """Make durable what waits for it; return what may be acknowledged."""
        if self._to is None:
            return []
        index, self._to = self._to, None
        self.due_at, self.is_wanted, self.has_failed = math.inf, False, False
        try:
            self._log.sync()
        except OSError as error:
            self.has_failed = True
            return intake.sync_failed(str(error), now())
        return intake.synced(index, now())
