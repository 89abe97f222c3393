"""The bytes that a key sends, by its name.

The names are those of tmux, because fingers know them. Keys that have two forms
are sent in the form every program knows, that of a terminal in normal mode.
"""

import os

from holdfast.model.errors import MalformedArgument
from holdfast.model.text import printable

NAMED: dict[str, bytes] = {
    "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Right": b"\x1b[C",
    "Left": b"\x1b[D",
    "Home": b"\x1b[H",
    "End": b"\x1b[F",
    "Insert": b"\x1b[2~",
    "Delete": b"\x1b[3~",
    "PageUp": b"\x1b[5~",
    "PageDown": b"\x1b[6~",
    "F1": b"\x1bOP",
    "F2": b"\x1bOQ",
    "F3": b"\x1bOR",
    "F4": b"\x1bOS",
    "F5": b"\x1b[15~",
    "F6": b"\x1b[17~",
    "F7": b"\x1b[18~",
    "F8": b"\x1b[19~",
    "F9": b"\x1b[20~",
    "F10": b"\x1b[21~",
    "F11": b"\x1b[23~",
    "F12": b"\x1b[24~",
    "Enter": b"\r",
    "Tab": b"\t",
    "Escape": b"\x1b",
    "Space": b" ",
    "BSpace": b"\x7f",
}
_EXACT = {name.lower(): sent for name, sent in NAMED.items()}
_CONTROLLED = {"?": b"\x7f", "space": b"\0"}
_FIRST_CONTROLLED, _LAST_CONTROLLED = "@", "_"


def bytes_of(name: str) -> bytes:
    """Return what the key of this name sends.

    A single character is itself; C- holds Control and M- holds Meta down.

    Raises:
        UsageError: There is no such key.

    """
    if len(name) == 1:
        return os.fsencode(name)
    held, rest = name[:2], name[2:]
    if held in ("M-", "m-") and rest:
        return b"\x1b" + bytes_of(rest)
    if held in ("C-", "c-") and rest:
        return _controlled(rest, name)
    found = _EXACT.get(name.lower())
    if found is None:
        raise _unknown(name)
    return found


def _controlled(rest: str, name: str) -> bytes:
    if found := _CONTROLLED.get(rest.lower()):
        return found
    letter = rest.upper()
    if len(letter) == 1 and _FIRST_CONTROLLED <= letter <= _LAST_CONTROLLED:
        return bytes([ord(letter) & 0x1F])
    raise _unknown(name)


def _unknown(name: str) -> MalformedArgument:
    return MalformedArgument(
        printable(name, 64), "a key such as a, C-c, M-x, Enter, Up or F5"
    )
