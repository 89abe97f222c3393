"""Holders that were asked for and have not deposited their descriptors yet.

Between the request to a nursery and the deposit of the holder it forks, only the
nursery knows the new process; it tells us with a pidfd, so that a death in
between is noticed at once, and a holder that hangs can be ended.
"""

import contextlib
import os
import selectors
import signal
from collections.abc import Callable
from dataclasses import dataclass

PATIENCE = 30.0
"""Seconds from the request to the deposit, on the slowest disk we believe in."""


EARLY = "died before it had deposited"


@dataclass(slots=True)
class Birth:
    """One holder on its way."""

    since: float
    pid: int = 0
    pidfd: int | None = None


class Births:
    """The holders on their way, by session id or by the token of a creation."""

    def __init__(
        self, selector: selectors.BaseSelector, died: Callable[[str, str], None]
    ) -> None:
        self._selector = selector
        self._died = died
        self._births: dict[str, Birth] = {}

    def __contains__(self, key: object) -> bool:
        """Tell whether a holder is on its way."""
        return key in self._births

    def begin(self, key: str, now: float) -> None:
        """Note that a nursery was asked."""
        self.drop(key)
        self._births[key] = Birth(now)

    def forked(self, key: str, pid: int, pidfd: int) -> None:
        """Take what the nursery says; one that has deposited already is dropped."""
        birth = self._births.get(key)
        if birth is None or birth.pidfd is not None:
            os.close(pidfd)
            return
        birth.pid, birth.pidfd = pid, pidfd
        self._selector.register(
            pidfd, selectors.EVENT_READ, lambda *_: self.died(key, EARLY)
        )

    def deposited(self, key: str, pid: object) -> None:
        """Note that a holder has deposited, unless another one is expected."""
        birth = self._births.get(key)
        if birth is not None and birth.pid in (0, pid):
            self.drop(key)

    def is_of(self, key: str, pid: int) -> bool:
        """Tell whether a process is a holder on its way, as far as that is known."""
        birth = self._births.get(key)
        return birth is not None and birth.pid in (0, pid)

    def kill(self, key: str) -> bool:
        """Kill a holder on its way, and forget it; False if there is none."""
        birth = self._births.get(key)
        if birth is None:
            return False
        if birth.pidfd is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(birth.pidfd, signal.SIGKILL)
        self.drop(key)
        return True

    def drop(self, key: str) -> None:
        """Forget a birth, whatever becomes of it."""
        birth = self._births.pop(key, None)
        if birth is not None and birth.pidfd is not None:
            self._selector.unregister(birth.pidfd)
            os.close(birth.pidfd)

    def died(self, key: str, why: str) -> None:
        """Note that a holder on its way is dead, and why; nothing if none is."""
        if key in self._births:
            self.drop(key)
            self._died(key, why)

    def unborn(self) -> list[str]:
        """Return what was asked for and not forked yet."""
        return [key for key, birth in self._births.items() if birth.pidfd is None]

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return min(
            (one.since + PATIENCE for one in self._births.values()), default=None
        )

    def tick(self, now: float) -> None:
        """End holders that take too long."""
        for key, birth in list(self._births.items()):
            if now >= birth.since + PATIENCE:
                self.kill(key)
                self._died(key, f"had not deposited after {PATIENCE:.0f} s: killed")
