"""The deadline of an exchange, over as many links as it takes."""

import math
from collections.abc import Callable

from holdfast.model.errors import HoldfastError, WaitedInVain


class TimeLimit:
    """The moment at which an exchange is given up, and what is raised then."""

    def __init__(self, until: float, late: Callable[[], HoldfastError]) -> None:
        self.until = until
        self._late = late

    def demand(self, now: float) -> None:
        """Demand that there is time left.

        Raises:
            HoldfastError: The time is up.

        """
        if now >= self.until:
            raise self._late()

    def cut(self, error: HoldfastError, now: float) -> None:
        """Note that the link broke: another is tried while there is time.

        Raises:
            HoldfastError: The time is up, so `error` is final.

        """
        if now >= self.until:
            raise error


def limit_of(seconds: float, what: str, now: float) -> TimeLimit:
    """Return a limit after so many seconds, for an exchange that waits for `what`."""
    return TimeLimit(now + seconds, lambda: WaitedInVain(what, round(seconds * 1000)))


ENDLESS = limit_of(math.inf, "ever", 0)
"""The limit of an exchange that has none."""
