"""The interface that a terminal emulator has to provide.

As small as possible, so that one can replace another. An emulator may crash the
process or never return; all that is expected of its host process is that the rest of
holdfast survives that.
"""

from typing import Protocol

from holdfast.model.geometry import Size
from holdfast.term.cells import Run
from holdfast.term.screen import Screen
from holdfast.term.unseen import Hidden


class Emulator(Protocol):
    """One terminal that is drawn nowhere."""

    def feed(self, data: bytes) -> None:
        """Carry out what a program printed. It contains no links (OSC 8)."""
        ...

    def resize(self, size: Size) -> None:
        """Become another size, as a window does."""
        ...

    def screen(self) -> Screen:
        """Return what is to be seen."""
        ...

    def cells(self) -> tuple[Run, ...]:
        """Return what is to be seen in its colours."""
        ...

    def hidden(self) -> tuple[Hidden, ...]:
        """Return what of it a person would not see."""
        ...

    def above(self) -> int:
        """Return how many rows have scrolled out at the top and are still kept."""
        ...

    def cursor(self) -> tuple[int, int]:
        """Return row and column as a program is told them.

        They count from 1, and from the scroll region's corner if the program
        asked for that.
        """
        ...

    def keyframe(self) -> bytes:
        """Return bytes that make a new terminal of the same size the same.

        It then looks the same, goes on the same, and is in the middle of the same
        sequence.
        """
        ...

    def close(self) -> None:
        """Free what it holds. It is of no further use."""
        ...
