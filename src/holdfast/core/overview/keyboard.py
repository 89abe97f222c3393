"""Which keys were pressed and what the mouse did, from the bytes of a terminal.

Theory of operation
-------------------
Bytes come cut anywhere. A letter is its own name; other keys have names: "up",
"enter", "esc". ESC is a key, and the beginning of most others: what stands alone when
nothing follows it is the key (`flush`). What was pasted is one event, so that no letter
of it is taken for a command.

I1  However the bytes are cut, the same keys come out, if `flush` is not called between.
I2  What is no key is dropped, up to where the next one can begin.
I3  No more than MAX_SEQUENCE bytes of an unfinished sequence are kept, and of what is
    pasted no more than MAX_PASTE.
"""

from typing import NamedTuple

MAX_SEQUENCE = 64
MAX_PASTE = 4096

_ESC = 0x1B
_DEL = 0x7F
_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"
_CONTROLS = {
    0x09: "tab",
    0x0A: "enter",
    0x0D: "enter",
    0x08: "backspace",
    _DEL: "backspace",
    0x20: " ",
}
_FINALS = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "Z": "back-tab",
}
_NUMBERED = {
    "1": "home",
    "3": "delete",
    "4": "end",
    "5": "page-up",
    "6": "page-down",
    "7": "home",
    "8": "end",
}
_SIZES = ((0xF8, 1), (0xF0, 4), (0xE0, 3), (0xC0, 2))
"""Bytes of a letter, by the first of them."""

_CONTINUED = range(0x80, 0xC0)
_PARAMETERS = range(0x30, 0x40)
_BETWEEN = range(0x20, 0x30)
_LAST = range(0x40, 0x7F)
_MODIFIERS = 4 | 8 | 16
_MOUSE_PARTS = 3


class Key(NamedTuple):
    """A key was pressed."""

    name: str


class Paste(NamedTuple):
    """Text was pasted."""

    text: str


class Click(NamedTuple):
    """The left button was pressed over a cell; rows and columns count from 0."""

    column: int
    row: int


class Wheel(NamedTuple):
    """The wheel was turned over a cell: by -1 is up."""

    column: int
    row: int
    by: int


Pressed = Key | Paste | Click | Wheel


class Keyboard:
    """What one terminal sends."""

    def __init__(self) -> None:
        self._left = b""

    @property
    def is_unfinished(self) -> bool:
        """Whether something was begun that may be a key already."""
        return bool(self._left)

    def feed(self, data: bytes) -> list[Pressed]:
        """Take bytes, and return what they say."""
        return self._take(self._left + data, is_all=False)

    def flush(self) -> list[Pressed]:
        """Take what was begun as it is: nothing followed it."""
        return self._take(self._left, is_all=True)

    def _take(self, data: bytes, *, is_all: bool) -> list[Pressed]:
        found: list[Pressed] = []
        at = 0
        while at < len(data):
            size, pressed = _first(data[at:], is_all=is_all)
            if size == 0:
                break
            at += size
            found += pressed
        self._left = data[at:]
        return found


Found = tuple[int, list[Pressed]]
"""How many bytes were taken, 0 if more have to come, and what they say."""


def _first(data: bytes, *, is_all: bool) -> Found:
    code = data[0]
    if code == _ESC:
        return _escaped(data, is_all=is_all)
    if code in _CONTROLS:
        return 1, [Key(_CONTROLS[code])]
    if code < 0x20:  # noqa: PLR2004  # the first that is no control character
        return 1, [Key(f"ctrl-{chr(code + 0x40).lower()}")]
    return _letter(data, is_all=is_all)


def _letter(data: bytes, *, is_all: bool) -> Found:
    """Take one letter of UTF-8."""
    size = next((size for first, size in _SIZES if data[0] >= first), 1)
    follows = data[1:size]
    is_begun = len(follows) < size - 1 and not is_all
    if is_begun and all(one in _CONTINUED for one in follows):
        return 0, []
    try:
        return size, [Key(data[:size].decode())]
    except UnicodeDecodeError:
        return 1, []


def _escaped(data: bytes, *, is_all: bool) -> Found:
    if len(data) == 1:
        return (1, [Key("esc")]) if is_all else (0, [])
    if data.startswith(_PASTE):
        return _pasted(data, is_all=is_all)
    match data[1:2]:
        case b"\x1b":
            return 1, [Key("esc")]
        case b"[":
            return _sequence(data, is_all=is_all)
        case b"O":
            return _application_key(data, is_all=is_all)
        case _:
            size, _ = _first(data[1:], is_all=is_all)
            return (1 + size if size else 0), []  # Alt and a key: none has a meaning.


def _application_key(data: bytes, *, is_all: bool) -> Found:
    if len(data) == 2:  # noqa: PLR2004  # ESC and O
        return (2, []) if is_all else (0, [])
    name = _FINALS.get(chr(data[2]))
    return 3, [Key(name)] if name else []


def _pasted(data: bytes, *, is_all: bool) -> Found:
    end = data.find(_PASTED)
    if end < 0:
        if not is_all and len(data) <= MAX_PASTE:
            return 0, []
        return len(data), [Paste(data[len(_PASTE) :].decode(errors="replace"))]
    text = data[len(_PASTE) : end].decode(errors="replace")
    return end + len(_PASTED), [Paste(text[:MAX_PASTE])]


def _sequence(data: bytes, *, is_all: bool) -> Found:
    """Take a control sequence: parameters, what comes between, and a last byte."""
    at = 2
    while at < len(data) and data[at] in _PARAMETERS:
        at += 1
    told = data[2:at].decode()
    while at < len(data) and data[at] in _BETWEEN:
        at += 1
    if at == len(data):
        return (at, []) if is_all or at > MAX_SEQUENCE else (0, [])
    if data[at] not in _LAST:
        return at, []
    return at + 1, _meaning(told, chr(data[at]))


def _meaning(told: str, last: str) -> list[Pressed]:
    if told.startswith("<"):
        return _mouse(told[1:], last)
    name = (
        _NUMBERED.get(told.split(";", maxsplit=1)[0])
        if last == "~"
        else _FINALS.get(last)
    )
    return [Key(name)] if name else []


def _mouse(told: str, last: str) -> list[Pressed]:
    parts = told.split(";")
    if len(parts) != _MOUSE_PARTS or not all(one.isdecimal() for one in parts):
        return []
    button, column, row = (int(one[:6]) for one in parts)
    if last != "M" or not column or not row:
        return []
    match button & ~_MODIFIERS:
        case 0:
            return [Click(column - 1, row - 1)]
        case 64 | 65:
            by = 1 if button & 1 else -1
            return [Wheel(column - 1, row - 1, by)]
        case _:
            return []
