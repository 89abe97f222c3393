"""The bytes of a session that crash a painter.

Theory of operation
-------------------
A painter that dies is replaced, and the screen is painted again from the
window. If the same bytes killed it, they would kill the next one too, and the
one after. So every death is noted with the bytes that were being painted:

    clean ──died──▶ suspect ──died over the same bytes──▶ stained
      ▲                │
      └──painted past──┘

One death proves nothing: somebody may have killed the process. After two over
the same bytes they are left out of every later painting, and the screen is
marked degraded for as long as the window still holds them.

Invariants:

I1  No byte is painted three times to death: after two deaths over it, `clear`
    never returns it again.
I2  What `clear` returns is in order, without overlap, inside what was asked,
    and leaves out stains only.
I3  No more than MAX_STAINS are kept: further ones are joined to the nearest.
"""

from dataclasses import dataclass

MAX_STAINS = 16
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


class Stains:
    """The bytes of one session that are no longer painted."""

    def __init__(self) -> None:
        self._suspect: Stretch | None = None
        self._stains: list[Stretch] = []

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
        """Take note that the window now starts at `start`: older stains are gone."""
        self._stains = [stain for stain in self._stains if stain.end > start]

    def clear(self, start: int, end: int) -> list[Stretch]:
        """Return what to paint of the bytes from `start` to `end`, in order."""
        parts: list[Stretch] = []
        for stain in self._stains:
            if start < min(stain.start, end):
                parts.append(Stretch(start, min(stain.start, end)))
            start = max(start, stain.end)
        if start < end:
            parts.append(Stretch(start, end))
        return parts

    def _add(self, stain: Stretch) -> None:
        apart = []
        for other in self._stains:
            if other.overlaps(stain):
                stain = stain.joined(other)
            else:
                apart.append(other)
        self._stains = sorted([*apart, stain], key=lambda each: each.start)
        if len(self._stains) > MAX_STAINS:
            self._join_nearest()

    def _join_nearest(self) -> None:
        gaps = [
            (later.start - earlier.end, index)
            for index, (earlier, later) in enumerate(
                zip(self._stains, self._stains[1:], strict=False)
            )
        ]
        _, index = min(gaps)
        pair = self._stains[index : index + 2]
        self._stains[index : index + 2] = [pair[0].joined(pair[1])]
