r"""The colours and letters of a screen.

A run is text in one row that looks the same; the texts of a row's runs, one
after the other, are the row. Runs are read from what an emulator writes for
other terminals: text, line breaks and SGR, which is little enough to read here.

I1  No text of a run holds a control character or a line break.
I2  `from_object` takes what `to_object` gave, and refuses what no run is.
I3  No more than MAX_RUNS come out, each at most MAX_RUN characters long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.model.errors import MalformedMessage
from holdfast.term.looks import EXACT, MAX_COLOUR, MAX_LOOK, SGR_LOOKS, Look

MAX_RUNS = 16_384
"""Runs of one screen: eight for each row of the tallest, and more than any that
is meant to be read. What comes after is left out."""

MAX_RUN = 256
"""Characters of one run; a longer one is continued by another."""

_UNFIT = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, line breaks, turns of the reading order, and what hides itself."""

_STAND_IN = "\ufffd"

_PLAIN = {
    22: Look.BOLD | Look.FAINT,
    23: Look.ITALIC,
    24: Look.UNDERLINE,
    25: Look.BLINK,
    27: Look.INVERSE,
    28: Look.INVISIBLE,
    29: Look.STRUCK,
    55: Look.OVERLINE,
}
_LETTERS = {
    39: 0,
    **{30 + n: n + 1 for n in range(8)},
    **{90 + n: n + 9 for n in range(8)},
}
_GROUNDS = {
    49: 0,
    **{40 + n: n + 1 for n in range(8)},
    **{100 + n: n + 9 for n in range(8)},
}
"""Colours that have numbers of their own; an emulator writes them the long way."""

_TOKEN = re.compile(r"\x1b\[([0-9;:]*)m|([^\x1b]+)|\x1b")
_FOREGROUND, _BACKGROUND, _UNDERLINED = 38, 48, 58
_BY_NUMBER, _BY_VALUE = 5, 2
_MAX_BYTE = 255


@dataclass(frozen=True, slots=True)
class Run:
    """Text in row `row`, counted from 0, that looks the same."""

    row: int
    text: str
    foreground: int = 0
    background: int = 0
    look: int = 0

    def __post_init__(self) -> None:
        """Make the text clean and the numbers fit."""
        fitted = {
            "row": max(0, self.row),
            "text": clean(self.text)[:MAX_RUN],
            "foreground": max(0, min(self.foreground, MAX_COLOUR)),
            "background": max(0, min(self.background, MAX_COLOUR)),
            "look": self.look & MAX_LOOK,
        }
        for name, value in fitted.items():
            object.__setattr__(self, name, value)

    def to_object(self) -> list[object]:
        """Return what JSON can write down."""
        return [self.row, self.text, self.foreground, self.background, self.look]

    @classmethod
    def from_object(cls, read: object) -> "Run":
        """Make a run from what JSON had written down.

        Raises:
            PeerError: It is no run.

        """
        match read:
            case [
                int(row),
                str(text),
                int(foreground),
                int(background),
                int(look),
            ]:
                return cls(row, text, foreground, background, look)
            case _:
                raise MalformedMessage("screen", "a run is none")


def clean(text: str) -> str:
    """Return `text` with a stand-in for each character a line may not have."""
    return _UNFIT.sub(_STAND_IN, text)


def runs_from(written: bytes) -> tuple[Run, ...]:
    """Read runs from rows of text with SGR, as an emulator writes them."""
    runs: list[Run] = []
    pen = Pen()
    for row, line in enumerate(written.decode(errors="replace").split("\r\n")):
        for text in pen.texts(line):
            for start in range(0, len(text), MAX_RUN):
                piece = text[start : start + MAX_RUN]
                runs.append(pen.draw(piece, row))
        if len(runs) >= MAX_RUNS:
            break
    return tuple(runs[:MAX_RUNS])


class Pen:
    """What the next character will look like."""

    def __init__(self) -> None:
        self.foreground = self.background = self.look = 0

    def draw(self, text: str, row: int = 0) -> Run:
        """Return text as it looks now."""
        return Run(row, text, self.foreground, self.background, self.look)

    def texts(self, line: str) -> Iterator[str]:
        """Return the texts of a line one by one, the pen being as each needs it."""
        for found in _TOKEN.finditer(line):
            if found[1] is not None:
                self.change(found[1])
            elif found[2]:
                yield found[2]

    def change(self, parameters: str) -> None:
        """Take the parameters of an SGR."""
        # A colon joins what belongs together, as the curl of an underline.
        words = iter(word.split(":")[0] for word in parameters.split(";"))
        numbers = (int(word[:4] or 0) for word in words)
        for number in numbers:
            if number == 0:
                self.foreground = self.background = self.look = 0
            elif number == _FOREGROUND:
                self.foreground = _colour(numbers)
            elif number == _BACKGROUND:
                self.background = _colour(numbers)
            elif number == _UNDERLINED:
                _colour(numbers)
            else:
                self._set(number)

    def _set(self, number: int) -> None:
        self.foreground = _LETTERS.get(number, self.foreground)
        self.background = _GROUNDS.get(number, self.background)
        self.look = (self.look | SGR_LOOKS.get(number, 0)) & ~_PLAIN.get(number, 0)


def _colour(numbers: Iterator[int]) -> int:
    """Read the rest of an SGR colour; 0 if it is none."""
    how = next(numbers, 0)
    if how == _BY_NUMBER:
        return min(next(numbers, 0), _MAX_BYTE) + 1
    if how != _BY_VALUE:
        return 0
    red, green, blue = (min(next(numbers, 0), _MAX_BYTE) for _ in range(3))
    return EXACT + (red << 16 | green << 8 | blue)
