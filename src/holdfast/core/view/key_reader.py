r"""Keys and movements of the mouse, read from what a terminal sends.

A key is named as people name it: `a`, `C-d`, `M-f`, `Up`, `PageDown`, `Enter`. What
nobody knows is no key, and is left out.

I1  However the bytes are split, the keys are the same; but for a lone escape, which is
    the key as soon as nothing follows it.
I2  What is kept of an unfinished sequence is bounded.
"""

import re
from typing import NamedTuple

MAX_HELD = 64
"""Bytes of an unfinished sequence: longer than any that a key sends."""

_CSI = re.compile(rb"\x1b\[([0-9;<?]*)([A-Za-z~])")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;<?]*|O)?$")
_LETTERS = {
    b"A": "Up",
    b"B": "Down",
    b"C": "Right",
    b"D": "Left",
    b"H": "Home",
    b"F": "End",
}
_NUMBERS = {
    b"1": "Home",
    b"4": "End",
    b"5": "PageUp",
    b"6": "PageDown",
    b"7": "Home",
    b"8": "End",
}
_PLAIN = {0x0D: "Enter", 0x0A: "Enter", 0x7F: "Backspace", 0x08: "Backspace"}
_PLAIN |= {0x09: "Tab", 0x00: "C-Space", 0x1B: "Escape"}
_SPACE, _LAST_CONTROL = 0x20, 0x1A
_WHEEL, _MOTION, _LEFT = 64, 32, 0


class Mouse(NamedTuple):
    """What the mouse did, at a column and row from 0."""

    button: int
    column: int
    row: int
    is_release: bool = False

    @property
    def wheel(self) -> int:
        """-1 for a turn of the wheel upwards, 1 downwards, 0 if it is none."""
        if not self.button & _WHEEL:
            return 0
        return 1 if self.button & 1 else -1

    @property
    def is_press(self) -> bool:
        """Whether the left button went down."""
        return self.button == _LEFT and not self.is_release

    @property
    def is_drag(self) -> bool:
        """Whether the mouse moved with the left button down."""
        return self.button == _LEFT | _MOTION and not self.is_release


Key = str | Mouse


class KeyReader:
    """Reads one terminal's keys."""

    def __init__(self) -> None:
        self._held = b""

    def read(self, data: bytes) -> list[Key]:
        """Return the keys that were pressed."""
        data, self._held = self._held + data, b""
        keys: list[Key] = []
        at = 0
        while at < len(data):
            if data[at] == 0x1B and (key := self._sequence(data, at)) is not None:  # noqa: PLR2004  # ESC
                at, found = key
            elif data[at] < 0x80:  # noqa: PLR2004  # one byte
                at, found = at + 1, _named(data[at])
            else:
                at, found = self._letter(data, at)
            if found is not None:
                keys.append(found)
        return keys

    def _sequence(self, data: bytes, at: int) -> tuple[int, Key | None] | None:
        rest = data[at:]
        if rest == b"\x1b":
            return None  # The key itself.
        if len(rest) <= MAX_HELD and _UNFINISHED.match(rest):
            self._held = rest
            return len(data), None
        if found := _CSI.match(data, at):
            return found.end(), _csi(found[1], found[2])
        if rest[1:2] == b"O":
            return at + 3, _LETTERS.get(rest[2:3])
        if rest[1:2] == b"[":
            return at + 2, None
        named = _named(rest[1])
        return at + 2, None if named is None else f"M-{named}"

    def _letter(self, data: bytes, at: int) -> tuple[int, Key | None]:
        length = 2 if data[at] < 0xE0 else 3 if data[at] < 0xF0 else 4  # noqa: PLR2004  # UTF-8
        piece = data[at : at + length]
        if len(piece) < length and 0xC2 <= data[at] <= 0xF4:  # noqa: PLR2004  # a first byte
            self._held = piece
            return len(data), None
        try:
            return at + length, piece.decode()
        except UnicodeDecodeError:
            return at + 1, None


def _csi(parameters: bytes, final: bytes) -> Key | None:
    if parameters.startswith(b"<") and final in b"Mm":
        numbers = parameters[1:].split(b";")
        if len(numbers) == 3 and all(one.isdigit() for one in numbers):  # noqa: PLR2004  # button, column, row
            button, column, row = (int(one[:6]) for one in numbers)
            return Mouse(button, max(0, column - 1), max(0, row - 1), final == b"m")
        return None
    if final == b"~":
        return _NUMBERS.get(parameters.split(b";")[0])
    return _LETTERS.get(final)


def _named(byte: int) -> str | None:
    if byte in _PLAIN:
        return _PLAIN[byte]
    if byte >= _SPACE:
        return chr(byte) if byte < 0x7F else None  # noqa: PLR2004  # ASCII
    return f"C-{chr(byte + 96)}" if byte <= _LAST_CONTROL else None
