"""Holders that were started and never took over, and why.

Each is a line in the keeper's log, and the last of each session is in the status
of the keeper: a session that nobody can reach must not stay so in silence.
"""

import contextlib
import sys
import time
from typing import Final

from holdfast.model.process_status import GivenUpHolder

MAX_KEPT: Final = 64
"""Sessions of which the last is remembered."""

MAX_WHY: Final = 300
"""Characters kept of a reason."""


class GivenUp:
    """The holders that were given up on."""

    def __init__(self) -> None:
        self._kept: dict[str, GivenUpHolder] = {}

    def note(self, key: str, why: str) -> None:
        """Note that a holder was given up on; `key` is its session or its creation."""
        at_ms = time.time_ns() // 1_000_000
        count = self._kept.pop(key, GivenUpHolder()).count_ + 1
        shown = "".join(one if one.isprintable() else "?" for one in why)[:MAX_WHY]
        self._kept[key] = GivenUpHolder(key, count, shown, at_ms)
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(at_ms / 1000))
        line = f"{when} holder.given-up id={key} count={count} why={shown!r}"
        with contextlib.suppress(OSError, ValueError):  # A full disk ends nothing.
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def status(self) -> tuple[GivenUpHolder, ...]:
        """Return the last of each session."""
        return (*self._kept.values(),)
