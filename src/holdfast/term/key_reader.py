r"""Keys, pastes and the mouse, read from what a terminal sends.

Theory of operation
-------------------
Bytes come cut anywhere. A letter is its own name; other keys are named as in tmux:
`Up`, `Enter`, `C-d`, `M-f`. Shift, Alt and Control are ignored in keys that have a
sequence: `Up` is all that comes of Ctrl-Up.

Escape is a key, and the beginning of most others. It counts as pressed when another
byte shows that it begins nothing, or when nothing has come for ESCAPE_WAIT (`waits`,
`waited`). What is pasted is told apart from keys until the terminal says that the paste
is over, however long that takes.

Invariants, each checked by tests/term/test_key_reader.py:

I1  However the bytes are cut, the same comes out; but a paste may come in pieces.
I2  No part of a sequence or of a paste is ever a key.
I3  No more than MAX_SEQUENCE bytes are kept. A longer sequence is no key.
"""

import codecs
import re
from typing import NamedTuple

ESCAPE_WAIT = 0.05
"""Seconds after which Escape was pressed by itself: a sequence comes at once."""

MAX_SEQUENCE = 64
"""Bytes of a sequence: more than any that a terminal sends for a key or the mouse."""

REPORT = rb"<(\d{1,4});(\d{1,4});(\d{1,4})([Mm])"
"""A pattern for what the mouse did, in SGR form and without what introduces it."""

_UTF8 = (
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
    rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}",
)
"""A letter beyond ASCII, and the beginning of one."""

_WHOLE = re.compile(
    rb"\x1b\[M..."  # the mouse in its oldest form, which nobody asks for
    rb"|\x1b\[(?!M)(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    rb"|\x1bO(?P<single>[ -~])"
    rb"|(?P<meta>\x1b(?![\[O]))?(?P<letter>[\x00-\x1a\x1c-\x7f]|" + _UTF8[0] + rb")",
    re.DOTALL,
)
_BEGUN = re.compile(
    rb"\x1b\[M.{0,2}\Z|\x1b\[[0-?]*[ -/]*\Z|\x1bO\Z|\x1b?(?:" + _UTF8[1] + rb")?\Z",
    re.DOTALL,
)
_BROKEN_OFF = re.compile(rb"\x1b\[[0-?]*[ -/]*|\x1bO")
_REPORT = re.compile(REPORT)
_PASTE, _PASTED = b"200", b"\x1b[201~"

_FINALS = {
    b"A": "Up",
    b"B": "Down",
    b"C": "Right",
    b"D": "Left",
    b"H": "Home",
    b"F": "End",
    b"Z": "BTab",
}
_SINGLES = _FINALS | {b"M": "Enter"}
_NUMBERED = {
    b"1": "Home",
    b"3": "Delete",
    b"4": "End",
    b"5": "PageUp",
    b"6": "PageDown",
    b"7": "Home",
    b"8": "End",
}
_CONTROLS = {
    "\0": "C-Space",
    "\b": "BSpace",
    "\t": "Tab",
    "\n": "Enter",
    "\r": "Enter",
    "\x7f": "BSpace",
}
_WHEEL, _MOTION, _MODIFIERS = 64, 32, 4 | 8 | 16


class Paste(NamedTuple):
    """Text was pasted: all of it, or the next piece."""

    text: str


class Mouse(NamedTuple):
    """What the mouse did, at a column and row from 0."""

    button: int
    column: int
    row: int
    is_release: bool = False

    @classmethod
    def reported(cls, found: re.Match[bytes]) -> "Mouse":
        """Return what a report says in which REPORT was found."""
        button, column, row = (int(found[number]) for number in (1, 2, 3))
        return cls(button, max(0, column - 1), max(0, row - 1), found[4] == b"m")

    @property
    def wheel(self) -> int:
        """-1 for a turn of the wheel upwards, 1 downwards, 0 if it is none."""
        return {_WHEEL: -1, _WHEEL + 1: 1}.get(self._plain, 0)

    @property
    def is_press(self) -> bool:
        """Whether the left button went down."""
        return self._plain == 0 and not self.is_release

    @property
    def is_drag(self) -> bool:
        """Whether the mouse moved with the left button down."""
        return self._plain == _MOTION and not self.is_release

    @property
    def _plain(self) -> int:
        return self.button & ~_MODIFIERS


Pressed = str | Paste | Mouse
"""A key by its name, or something else that a terminal sends."""


class KeyReader:
    """Reads what one terminal sends."""

    def __init__(self) -> None:
        self._held = b""
        self._is_overlong = False
        self._paste: codecs.IncrementalDecoder | None = None

    @property
    def waits(self) -> bool:
        """Whether Escape may have been pressed by itself."""
        return self._held == b"\x1b" and self._paste is None

    def waited(self) -> list[Pressed]:
        """Note that nothing came for ESCAPE_WAIT."""
        if not self.waits:
            return []
        self._held = b""
        return ["Escape"]

    def read(self, data: bytes) -> list[Pressed]:
        """Return what was pressed, pasted, and done with the mouse."""
        data, self._held = self._held + data, b""
        pressed: list[Pressed] = []
        at = 0
        while at < len(data):
            if self._paste is not None:
                at = self._read_paste(self._paste, data, at, pressed)
            elif found := _WHOLE.match(data, at):
                at = found.end()
                pressed += self._meaning(found)
            elif _BEGUN.match(data, at):
                self._hold(data[at:])
                break
            else:
                at = self._drop(data, at, pressed)
        return pressed

    def _hold(self, begun: bytes) -> None:
        if len(begun) > MAX_SEQUENCE:
            # Enough to know where it ends.
            begun, self._is_overlong = begun[:2] + begun[-1:], True
        self._held = begun

    def _drop(self, data: bytes, at: int, pressed: list[Pressed]) -> int:
        """Pass over what begins nothing, or breaks off; return where to go on."""
        self._is_overlong = False
        if found := _BROKEN_OFF.match(data, at):
            return found.end()
        if data[at] == 0x1B:  # noqa: PLR2004  # ESC
            pressed.append("Escape")
        return at + 1

    def _read_paste(
        self,
        decoder: codecs.IncrementalDecoder,
        data: bytes,
        at: int,
        pressed: list[Pressed],
    ) -> int:
        """Take what is pasted; return where to go on."""
        end = data.find(_PASTED, at)
        if end >= 0:
            after, self._paste = end + len(_PASTED), None
        else:
            end, after = _held_back(data, at), len(data)
            self._held = data[end:]
        text = decoder.decode(data[at:end], final=self._paste is None)
        if text:
            pressed.append(Paste(text))
        return after

    def _meaning(self, found: re.Match[bytes]) -> list[Pressed]:
        is_overlong = self._is_overlong or len(found[0]) > MAX_SEQUENCE
        self._is_overlong = False
        parameters, final = found["parameters"], found["final"]
        if is_overlong:
            return []
        if (parameters, final) == (_PASTE, b"~"):
            self._paste = codecs.getincrementaldecoder("utf-8")("replace")
            return []
        if final is not None:
            one = _sequence(parameters, final)
        elif found["single"] is not None:
            one = _SINGLES.get(found["single"])
        else:
            one = _letter(found)
        return [one] if one else []


def _sequence(parameters: bytes, final: bytes) -> Pressed | None:
    if parameters.startswith(b"<"):
        report = _REPORT.fullmatch(parameters + final)
        return Mouse.reported(report) if report else None
    if final == b"~":
        return _NUMBERED.get(parameters.partition(b";")[0])
    return _FINALS.get(final)


def _letter(found: re.Match[bytes]) -> str:
    """Return the name of a letter or control character; '' if it has none."""
    letter = (found["letter"] or b"").decode(errors="ignore")
    if letter < " " or letter == "\x7f":
        named = letter and f"C-{chr(ord(letter) + 0x40).lower()}"
        letter = _CONTROLS.get(letter, named)
    elif "\x80" <= letter < "\xa0":
        return ""  # Control characters that no key sends.
    return f"M-{letter}" if letter and found["meta"] else letter


def _held_back(data: bytes, at: int) -> int:
    """Return the offset at which the end of a paste may begin in `data`."""
    sizes = range(min(len(_PASTED) - 1, len(data) - at), 0, -1)
    held = next((size for size in sizes if data.endswith(_PASTED[:size])), 0)
    return len(data) - held
