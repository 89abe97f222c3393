"""Which keys were pressed, for what we show ourselves: lists, questions, help.

Theory of operation
-------------------
Bytes from a terminal become keys: letters as they are, and names for the rest. The
program's own modes are off meanwhile, so only what every terminal sends is known.

Escape by itself is the beginning of a sequence too. It counts as pressed when another
byte shows that it was none, or when nothing has come for a while (`waits`, `waited`).

Invariants, checked by tests/core/client/test_key_reader.py:

I1  However the bytes are split, the keys are the same.
I2  No part of a sequence is ever a letter.
I3  What is remembered is bounded.
"""

import codecs
import re

ESCAPE_WAIT = 0.05
"""Seconds after which Escape was pressed by itself: a sequence comes at once."""

_MAX_SEQUENCE = 32
"""Bytes of a sequence; of a longer one the rest is thrown away as well."""

_SEQUENCE = re.compile(
    rb"\x1b(?:\[M(?P<mouse>...)"
    rb"|\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-LN-~]|(?<!\[)M)"
    rb"|O(?P<single>[ -~]))",
    re.DOTALL,
)
_BEGUN = re.compile(rb"\x1b(?:\[M.{0,2}|\[[0-?]*[ -/]*|O)?", re.DOTALL)

_FINALS = {
    b"A": "up",
    b"B": "down",
    b"C": "right",
    b"D": "left",
    b"H": "home",
    b"F": "end",
}
_SINGLES = _FINALS | {b"M": "enter"}
_NUMBERED = {b"1": "home", b"4": "end", b"3": "delete", b"5": "page-up"} | {
    b"6": "page-down",
    b"7": "home",
    b"8": "end",
}
_CONTROLS = {
    0x01: "home",
    0x02: "left",
    0x03: "cancel",
    0x04: "delete",
    0x05: "end",
    0x06: "right",
    0x07: "cancel",
    0x08: "backspace",
    0x09: "down",
    0x0A: "enter",
    0x0B: "cut",
    0x0D: "enter",
    0x0E: "down",
    0x10: "up",
    0x15: "clear",
    0x17: "word",
    0x1D: "cancel",
    0x7F: "backspace",
}


class KeyReader:
    """Turns bytes into keys; a letter is itself, any other key has a longer name."""

    def __init__(self) -> None:
        self._held = b""
        self._letters = codecs.getincrementaldecoder("utf-8")("ignore")

    @property
    def waits(self) -> bool:
        """Whether Escape may have been pressed by itself."""
        return self._held == b"\x1b"

    def waited(self) -> list[str]:
        """Take that nothing came for ESCAPE_WAIT."""
        was_pressed, self._held = self.waits, b""
        return ["cancel"] if was_pressed else []

    def read(self, data: bytes) -> list[str]:
        """Return the keys that were pressed."""
        keys: list[str] = []
        rest = self._held + data
        self._held = b""
        while rest:
            if rest[:1] == b"\x1b":
                rest = self._sequence(rest, keys)
            else:
                end = rest.find(b"\x1b")
                end = len(rest) if end < 0 else end
                self._plain(rest[:end], keys)
                rest = rest[end:]
        return keys

    def _sequence(self, rest: bytes, keys: list[str]) -> bytes:
        """Take the sequence that begins here; return what comes after it."""
        found = _SEQUENCE.match(rest)
        if found is not None:
            if key := _named(found):
                keys.append(key)
            return rest[found.end() :]
        begun = _BEGUN.match(rest)
        length = 1 if begun is None else begun.end()
        if length == len(rest):
            self._held = rest if length <= _MAX_SEQUENCE else rest[:2]
            return b""
        # Escape, and then something else; or a sequence that is none.
        if length == 1:
            keys.append("cancel")
        return rest[length:]

    def _plain(self, data: bytes, keys: list[str]) -> None:
        for letter in self._letters.decode(data):
            code = ord(letter)
            if code >= 0x20 and code != 0x7F:  # noqa: PLR2004  # control characters
                keys.append(letter)
            elif code in _CONTROLS:
                keys.append(_CONTROLS[code])


def _named(found: re.Match[bytes]) -> str:
    """Return the key of a sequence; '' for one that is none, such as of the mouse."""
    if found["single"] is not None:
        return _SINGLES.get(found["single"], "")
    if found["final"] == b"~":
        return _NUMBERED.get(found["parameters"].partition(b";")[0], "")
    return _FINALS.get(found["final"] or b"", "")
