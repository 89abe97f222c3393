"""The deadlines of one holder, and what is done when one of them comes.

Each part that waits has a timer of its own, and sets it when it learns of a deadline.
Nobody is asked on each turn of the loop: that would cost more than a key does.

A deadline that moves away leaves `first` as it was, and makes it stale: the loop finds
out what is next before it waits.
"""

import math
from collections.abc import Callable

Do = Callable[[float], None]
"""Called with the time, at the deadline or later."""


class Timer:
    """The deadline of one part."""

    __slots__ = ("_timers", "do", "due", "is_minor")

    def __init__(self, timers: "Timers", do: Do, *, is_minor: bool = False) -> None:
        self._timers = timers
        self.do = do
        self.is_minor = is_minor
        """Whether nobody minds if there is no holder when it comes."""

        self.due = math.inf
        """When to call it; infinity if it waits for nothing."""

    def set(self, at: float | None) -> None:
        """Call the part at this time, and at no other; None if it waits for nothing."""
        timers, before = self._timers, self.due
        self.due = due = math.inf if at is None else at
        if due <= timers.first:
            timers.first = due
        elif before <= timers.first:
            timers.is_stale = True


class Timers:
    """The parts of one holder that wait."""

    def __init__(self) -> None:
        self._timers: list[Timer] = []
        self.first = math.inf
        """When to call `tick`, or earlier if it is stale."""

        self.is_stale = False
        """Whether to call `refresh` before waiting."""

        self.when_idle: Callable[[], None] | None = None
        """What is done once, as soon as nothing else is to be done."""

    def add(self, do: Do, *, is_minor: bool = False) -> Timer:
        """Return a timer for another part; those added first are called first."""
        made = Timer(self, do, is_minor=is_minor)
        self._timers.append(made)
        return made

    def tick(self, now: float) -> None:
        """Call every part whose deadline has come."""
        for timer in self._timers:
            if now >= timer.due:
                timer.due = math.inf
                timer.do(now)
        self.refresh()

    def refresh(self) -> None:
        """Find out when the next part is due."""
        first = math.inf
        for timer in self._timers:
            if timer.due < first:  # noqa: PLR1730  # once for every key
                first = timer.due
        self.first, self.is_stale = first, False

    @property
    def waits(self) -> bool:
        """Whether a part waits that is not minor, or something was put off."""
        return self.when_idle is not None or any(
            timer.due < math.inf and not timer.is_minor for timer in self._timers
        )

    def idle(self) -> None:
        """Do what was put off until nothing else is to be done."""
        do, self.when_idle = self.when_idle, None
        if do is not None:
            do()
