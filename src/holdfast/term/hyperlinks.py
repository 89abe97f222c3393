r"""The bytes that would make a hyperlink in an emulator.

Theory of operation
-------------------
Links (OSC 8) mixed with other traffic bring the emulator we use to a crash or
to an endless loop. A screen needs no links, and viewers get the raw stream, so
the emulator's copy loses them, by one digit: `OSC 8 ;` becomes `OSC 80 ;`,
which is a string that no terminal knows and every terminal reads to its end.
Where that end is remains for the emulator to say; the filter need not know.

An OSC begins with ESC ], control characters in between or not. It also begins
with the single byte 9D, but only inside an unfinished sequence: elsewhere that
byte is a part of some other character. So the filter follows sequences:

    short    ESC, intermediates                       up to any letter
    csi      ESC [ or 9B in a sequence, parameters    up to any letter
    string   ESC P X ^ _ or 90 98 9E 9F in one        up to ESC, CAN, SUB

Invariants:

I1  Any cut of a stream gives the same bytes.
I2  What comes out, less the digits put in, is what came in; nothing is held.
I3  What comes out makes no link, in the emulator that is in use.
I4  Outside sequences nothing is changed.
"""

import re

_CONTROL = rb"[\x00-\x17\x19\x1c-\x1f\x7f]"
_IGNORED = rb"[\x00-\x06\x08-\x17\x19\x1c-\x1f\x7f]"
_SHORT = rb"[^\x18\x1a\x1b\x30-\x7e\x80-\x9f]"
_PARAMETER = rb"[^\x18\x1a\x1b\x40-\x7e\x80-\x9f]"
_STRING = rb"[^\x18\x1a\x1b]"

_ZEROS = _IGNORED.replace(rb"[", rb"[0") + rb"*+"
_EIGHT = rb"8" + _IGNORED + rb"*+"
_NUMBER = _ZEROS + _EIGHT + rb"(?=;)"
_BEGUN = _ZEROS + rb"(?>" + _EIGHT + rb")?+\Z"

_SEQUENCE = (
    rb"(?:" + _CONTROL + rb"*+\[" + _PARAMETER + rb"*+|" + _SHORT + rb"*+)"
    rb"(?>\x9b" + _PARAMETER + rb"*+)*+"
)
_STRING_BEGUN = rb"(?:" + _CONTROL + rb"*+[PX^_]|" + _SEQUENCE + rb"[\x90\x98\x9e\x9f])"
_DIRECT = rb"(?:" + _CONTROL + rb"*+\]|" + _SEQUENCE + rb"\x9d)"

_TOKEN = re.compile(
    rb"\x1b(?:"
    rb"(?P<link>" + _DIRECT + _NUMBER + rb")"
    rb"|(?P<linked>" + _STRING_BEGUN + _STRING + rb"*?\x9d" + _NUMBER + rb")"
    rb"|(?P<direct>" + _DIRECT + _BEGUN + rb")"
    rb"|(?P<in_string>" + _STRING_BEGUN + _STRING + rb"*?\x9d" + _BEGUN + rb")"
    rb"|(?P<string>" + _STRING_BEGUN + _STRING + rb"*+\Z)"
    rb"|(?P<csi>(?:" + _CONTROL + rb"*+\[|" + _SHORT + rb"*+\x9b)" + _PARAMETER + rb"*+"
    rb"(?>\x9b" + _PARAMETER + rb"*+)*+\Z)"
    rb"|(?P<escape>" + _CONTROL + rb"*+\Z)"
    rb"|(?P<short>" + _SHORT + rb"*+\Z))"
)

_INTRODUCED = re.compile(rb"\x1b" + _CONTROL + rb"*+\]" + _NUMBER)
_MAY_INTRODUCE = re.compile(rb"\x9d" + _ZEROS + rb"8")
"""Nearly no stream has the single byte where it could count: then sequences
need not be followed, and the search is some ten times faster."""

_OPENED = {
    "direct": b"\x1b]",
    "in_string": b"\x1b_\x9d",
    "string": b"\x1b_",
    "csi": b"\x1b[",
    "escape": b"\x1b",
    "short": b"\x1b ",
}
"""The shortest bytes that open the same; they stand for what went before."""

_HAS_NUMBER = re.compile(rb"8" + _IGNORED + rb"*+\Z")


class LinkFilter:
    """Makes links unknown in one stream, however it is cut."""

    def __init__(self) -> None:
        self._open = b""

    def feed(self, chunk: bytes) -> bytes:
        """Take a piece of the stream and return it without links."""
        if not chunk or (not self._open and b"\x1b" not in chunk):
            return chunk
        before = len(self._open)
        buffer = self._open + chunk
        self._open = b""
        search = _TOKEN if _MAY_INTRODUCE.search(buffer) else _INTRODUCED
        parts: list[bytes] = []
        copied = before
        for token in search.finditer(buffer):
            if token.lastgroup in _OPENED:
                break
            parts += (buffer[copied : token.end()], b"0")
            copied = token.end()
        # What reaches the end has no ESC inside, so it begins with the last one.
        last = _TOKEN.match(buffer, buffer.rfind(b"\x1b"))
        if last is not None and last.lastgroup in _OPENED:
            self._open = _opened(last.lastgroup, last[0])
        return b"".join((*parts, buffer[copied:]))


def _opened(kind: str, text: bytes) -> bytes:
    opened = _OPENED[kind]
    if kind in {"direct", "in_string"} and _HAS_NUMBER.search(text):
        return opened + b"8"
    return opened
