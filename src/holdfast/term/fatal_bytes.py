"""The bytes of a session that crash a painter.

Theory of operation
-------------------
A painter that dies is replaced, and the screen is painted again from the
window. If the same bytes killed it, they would kill the next one too, and the
one after. So every death is noted with the bytes that were being painted:

    clean ──died──▶ suspect ──died over the same bytes──▶ fatal
      ▲                │
      └──painted past──┘

One death proves nothing: the process may have been killed. After two over
the same bytes they are left out of every later painting, and the screen is
marked degraded for as long as the window still holds them.

Invariants:

I1  No byte is painted three times to death: after two deaths over it, `clear`
    never returns it again.
I2  What `clear` returns is in order, without overlap, inside what was asked,
    and leaves out fatal bytes only.
I3  No more than MAX_FATAL are kept: further ones are joined to the nearest.
"""

from dataclasses import dataclass

MAX_FATAL = 16
"""More than a session has that is not out to have them; then precision is lost,
and nothing else."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The bytes from `start` up to but without `end`."""

    start: int
    end: int

    def overlaps(self, other: "Stretch") -> bool:
        """Tell whether the two have a byte in common."""
        return self.start < other.end and other.start < self.end

    def joined(self, other: "Stretch") -> "Stretch":
        """Return the shortest stretch that holds both."""
        return Stretch(min(self.start, other.start), max(self.end, other.end))


class FatalBytes:
    """The bytes of one session that are no longer painted."""

    def __init__(self) -> None:
        self._suspect: Stretch | None = None
        self._fatal: list[Stretch] = []

    def died(self, start: int, end: int) -> None:
        """Take note of a death while the bytes from `start` to `end` were painted.

        Where none were, as when a keyframe was asked for, the last byte painted
        before is the suspect: pass the same offset twice.
        """
        over = Stretch(min(start, end - 1), end)
        if self._suspect is None or not self._suspect.overlaps(over):
            self._suspect = over
            return
        # The whole of both: the cause may have begun in one and ended in the other.
        self._add(self._suspect.joined(over))
        self._suspect = None

    def painted(self, end: int) -> None:
        """Take note that a painter lives that has painted all up to `end`."""
        if self._suspect is not None and end > self._suspect.end:
            self._suspect = None

    def rolled(self, start: int) -> None:
        """Take note that the window now starts at `start`: older ones are gone."""
        self._fatal = [fatal for fatal in self._fatal if fatal.end > start]

    def clear(self, start: int, end: int) -> list[Stretch]:
        """Return what to paint of the bytes from `start` to `end`, in order."""
        parts: list[Stretch] = []
        for fatal in self._fatal:
            if start < min(fatal.start, end):
                parts.append(Stretch(start, min(fatal.start, end)))
            start = max(start, fatal.end)
        if start < end:
            parts.append(Stretch(start, end))
        return parts

    def _add(self, fatal: Stretch) -> None:
        apart = []
        for other in self._fatal:
            if other.overlaps(fatal):
                fatal = fatal.joined(other)
            else:
                apart.append(other)
        self._fatal = sorted([*apart, fatal], key=lambda each: each.start)
        if len(self._fatal) > MAX_FATAL:
            self._join_nearest()

    def _join_nearest(self) -> None:
        gaps = [
            (later.start - earlier.end, index)
            for index, (earlier, later) in enumerate(
                zip(self._fatal, self._fatal[1:], strict=False)
            )
        ]
        _, index = min(gaps)
        pair = self._fatal[index : index + 2]
        self._fatal[index : index + 2] = [pair[0].joined(pair[1])]
