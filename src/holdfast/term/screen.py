"""What a terminal shows at one moment.

A screen is made by an emulator that was fed hostile bytes, and may come from a
process that those bytes have broken. So a Screen is clean, whatever made it:

I1  No text in it holds a control character, a line break, or a character that
    turns the reading order: each has become U+FFFD.
I2  It has exactly as many lines as its size has rows, and its cursor is on it.
I3  `from_object` takes what `to_object` gave, and refuses what no screen is.
I4  What is said to be hidden is on the screen.

Joiners and variation selectors stay: an emoji is made with them, and without
them it would be drawn as several.
"""

from dataclasses import dataclass, replace
from typing import Any, TypedDict

from holdfast.model.errors import MalformedMessage, SizeOutOfRange
from holdfast.model.geometry import Size
from holdfast.model.text import printable
from holdfast.term.cells import MAX_RUNS, Run, clean
from holdfast.term.unseen import MAX_IN_ROW, Hidden

MAX_TITLE = 256
"""Longest title kept: more than any title bar shows."""

MAX_CELL = 16
"""Characters that one cell of a line may have: an emoji family has 11. What
combines beyond that is cut off, so that a line has a bound."""

MAX_ABOVE = 1_000_000
"""Rows counted above the screen: more than an emulator keeps."""


class _Told(TypedDict):
    """A screen as it is written down."""

    size: tuple[int, int]
    lines: tuple[str, ...]
    cursor: tuple[int, int]
    visible: bool
    title: str
    alternate: bool
    runs: list[Any]
    hidden: list[Any]
    above: int


@dataclass(frozen=True, slots=True)
class Screen:
    """What is to be seen, as text. Rows and columns count from 0.

    `runs` are there only if colours were requested. `hidden` is what a person
    would not see of the lines, and `above` how many rows have scrolled out at the
    top and are not here.
    """

    size: Size
    lines: tuple[str, ...]
    cursor_row: int = 0
    cursor_column: int = 0
    cursor_visible: bool = True
    title: str = ""
    alternate: bool = False
    runs: tuple[Run, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    above: int = 0

    def __post_init__(self) -> None:
        """Make the texts clean and the measures fit."""
        rows, columns = self.size.rows, self.size.columns
        longest = columns * MAX_CELL
        lines = [clean(line[:longest]) for line in self.lines[:rows]]
        lines += [""] * (rows - len(lines))
        fitted = {
            "lines": tuple(lines),
            "cursor_row": max(0, min(self.cursor_row, rows - 1)),
            "cursor_column": max(0, min(self.cursor_column, columns - 1)),
            "title": printable(self.title, MAX_TITLE)[:MAX_TITLE],
            "runs": tuple(run for run in self.runs[:MAX_RUNS] if run.row < rows),
            "hidden": tuple(
                replace(one, end=min(one.end, len(lines[one.row])))
                for one in self.hidden[: rows * MAX_IN_ROW]
                if one.row < rows and one.start < len(lines[one.row])
            ),
            "above": max(0, min(self.above, MAX_ABOVE)),
        }
        for name, value in fitted.items():
            object.__setattr__(self, name, value)

    def text(self) -> str:
        """Return the lines as one text, without the empty ones at the end."""
        return "\n".join(self.lines).rstrip("\n")

    def to_object(self) -> dict[str, object]:
        """Return what JSON can write down."""
        return {
            "size": [self.size.columns, self.size.rows],
            "lines": list(self.lines),
            "cursor": [self.cursor_row, self.cursor_column],
            "visible": self.cursor_visible,
            "title": self.title,
            "alternate": self.alternate,
            "runs": [run.to_object() for run in self.runs],
            "hidden": [one.to_object() for one in self.hidden],
            "above": self.above,
        }

    @classmethod
    def from_object(cls, read: object) -> "Screen":
        """Make a screen from what JSON had written down.

        Raises:
            PeerError: It is no screen.

        """
        import msgspec  # noqa: PLC0415  # the painter does without it

        try:
            told = msgspec.convert(read, _Told)
            size = Size(*told["size"])
        except (msgspec.ValidationError, SizeOutOfRange) as error:
            raise MalformedMessage("screen", str(error)) from None
        return cls(
            size,
            told["lines"],
            *told["cursor"],
            told["visible"],
            told["title"],
            told["alternate"],
            tuple(map(Run.from_object, told["runs"])),
            tuple(map(Hidden.from_object, told["hidden"])),
            told["above"],
        )
