r"""The bytes of a program's output that call for attention.

Theory of operation
-------------------
A program that needs attention rings the bell, or sends a desktop notification:

    BEL                                      the bell
    OSC 9 ; text                             iTerm2's, understood by most terminals
    OSC 99 ; metadata ; text                 kitty's, perhaps in several sequences
    OSC 777 ; notify ; title ; text          urxvt's

A BEL that ends an OSC is no bell, and neither is one inside a DCS, APC, PM or SOS
string. `OSC 9 ; 4 ; …` draws a progress bar, and the other numbers up to 12 are
ConEmu's too: they call nobody. The grammar is that of term.queries, with two
differences that only a program which fools itself would notice: an introducer is not
looked for among other control characters, and what is long is cut and not refused.

The output of a compiler has no bell and no OSC. Then a few searches for single bytes
tell so, and nothing else is done.

Invariants, checked by tests/term/test_attention.py:

I1  Any cut of a stream gives the same calls, but for those that one piece has more of
    than `feed` returns.
I2  A BEL that ends a string, or is inside one, is no call.
I3  What is held is at most MAX_BODY bytes of an open sequence, and two texts of
    MAX_TEXT characters.
I4  A text has no character that a terminal obeys or hides, and at most MAX_TEXT.
I5  The work is linear in the output.
"""

import base64
import binascii
import re
from typing import NamedTuple

from holdfast.model.session_record import BELL, MESSAGE
from holdfast.model.text import bounded

MAX_BODY = 4096
"""Bytes of a sequence that are read: of a longer one, the beginning."""

MAX_TEXT = 200
"""Characters of a text, as they are shown: two lines on a screen."""

MAX_READ = 64
"""Notifications read of one piece of output: of a flood, no more."""

_END_OF_OSC = re.compile(rb"[\x07\x18\x1a\x1b]|\xc2(?:[\x80-\x9f]|\Z)")
_END_OF_STRING = re.compile(rb"[\x18\x1a\x1b]|\xc2(?:[\x80-\x9f]|\Z)")
_CARRIED_OUT = frozenset({b"\x07", b"\x1b", b"\xc2\x9c"})
"""Ends after which an OSC counts; after any other it is forgotten."""

_OWN_ENDS = frozenset({b"\x07", b"\x18", b"\x1a", b"\xc2\x9c"})
_C1 = re.compile(rb"\xc2(?:[\x80-\x9f]|\Z)")
_PLAIN = (
    rb"(?>[^\x07\x1b\xc2BELS]++"
    rb"|\x1b(?![\]PX^_]|\Z)"
    rb"|\xc2(?![\x90\x98\x9d-\x9f]|\Z)"
    rb"|\x1b\](?!0*+(?:99?|777);)[^\x07\x18\x1a\x1b\xc2]*+"
    rb"(?:[\x07\x18\x1a]|(?=\x1b))"
    rb")*+"
)
_UNTIL_CALL = re.compile(_PLAIN.replace(b"BELS", b""))
_UNTIL_SEQUENCE = re.compile(_PLAIN.replace(rb"\x07\x1b\xc2BELS", rb"\x1b\xc2"))
"""What calls nobody, in one look; the second takes further bells along."""

_OSC_BEGINS = (b"\x1b]", b"\xc2\x9d")
_STRING_BEGINS = (
    *(b"\x1bP", b"\x1bX", b"\x1b^", b"\x1b_"),
    *(b"\xc2\x90", b"\xc2\x98", b"\xc2\x9e", b"\xc2\x9f"),
)
_BEGUN = (b"\x1b", b"\xc2")

_CONTROLS = bytes({*range(0x20), 0x7F})
_NOTICE = re.compile(rb"0*+(9|99|777);(.*)", re.DOTALL)
_CONEMU = re.compile(rb"(?:[1-9]|1[0-2])(?:;|\Z)")
"""What follows `9;` in ConEmu's own sequences; 4 is progress, 9 the folder."""

_TITLE, _BODY, _WHOLE = "title", "body", "1"


class Call(NamedTuple):
    """A call for attention: the bell, or a message with a text."""

    what: str
    text: str = ""


class CallScanner:
    """Finds the calls in one session's output, however it is cut."""

    def __init__(self) -> None:
        self._end: re.Pattern[bytes] | None = None
        """How the string ends that is open; None if none is."""

        self._body = bytearray()
        self._begun = b""
        self._kitty = _Kitty()

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing has begun: the next letter calls nobody."""
        return self._end is None and not self._begun

    def feed(self, chunk: bytes) -> Call | None:
        """Take what the program printed; return the last call in it, if any.

        A message counts for more than a bell.
        """
        if self.is_at_rest and is_plain(chunk):
            return None
        return self._scan(self._begun + chunk)

    def _scan(self, buffer: bytes) -> Call | None:
        self._begun = b""
        said: Call | None = None
        has_rung, left, at = False, MAX_READ, 0
        while at < len(buffer):
            if self._end is not None:
                at, found = self._inside(buffer, at)
                if found is not None:
                    said, left = found, left - 1
                continue
            skip = _UNTIL_SEQUENCE if has_rung else _UNTIL_CALL
            found_at = skip.match(buffer, at)
            at = at if found_at is None else found_at.end()
            has_rung = has_rung or buffer[at : at + 1] == b"\x07"
            at = self._open(buffer, at)
            if not left:
                self._recover(buffer)
                break
        return said or (Call(BELL) if has_rung else None)

    def _open(self, buffer: bytes, at: int) -> int:
        """Take what begins here, if anything does; return where it goes on."""
        first = buffer[at : at + 2]
        if first in _BEGUN:
            self._begun = first
            return len(buffer)
        if first in _OSC_BEGINS:
            self._end = _END_OF_OSC
            return at + 2
        if first in _STRING_BEGINS:
            self._end = _END_OF_STRING
            return at + 2
        return at + 1  # A bell, or the end.

    def _inside(self, buffer: bytes, at: int) -> tuple[int, Call | None]:
        """Go on with an open string; return where it ends, and what it calls for."""
        is_osc = self._end is _END_OF_OSC
        assert self._end is not None  # noqa: S101  # asked by the caller
        found = self._end.search(buffer, at)
        stop = len(buffer) if found is None else found.start()
        if is_osc and len(self._body) < MAX_BODY:
            self._body += buffer[at : min(stop, at + MAX_BODY - len(self._body))]
        if found is None:
            return stop, None
        if found[0] == b"\xc2":
            self._begun = b"\xc2"
            return len(buffer), None
        body, self._body, self._end = bytes(self._body), bytearray(), None
        # Any other end begins the next sequence.
        where = found.end() if found[0] in _OWN_ENDS else found.start()
        is_read = is_osc and found[0] in _CARRIED_OUT
        return where, self._read(body) if is_read else None

    def _read(self, body: bytes) -> Call | None:
        """Return what an OSC calls for; None if for nobody."""
        found = _NOTICE.match(body.translate(None, _CONTROLS))
        if found is None:
            return None
        code, rest = found.groups()
        if code == b"9":
            return None if _CONEMU.match(rest) else _message(rest)
        if code == b"99":
            return self._kitty.read(rest)
        word, _, said = rest.partition(b";")
        title, _, text = said.partition(b";")
        return _message(title, text) if word == b"notify" else None

    def _recover(self, buffer: bytes) -> None:
        """Leave the rest of a flood unread, but know what it has left open."""
        self._begun, self._end = b"", None
        self._open(buffer, last := max(buffer.rfind(b"\x1b"), _last_c1(buffer)))
        if self._end is not None:
            rest = buffer[last + 2 :]
            if self._end.search(rest) is not None:
                self._end = None
            else:
                self._body += rest[:MAX_BODY]


class _Kitty:
    """A notification of kitty's, which may come in several sequences."""

    def __init__(self) -> None:
        self._id = b""
        self._said = {_TITLE: "", _BODY: ""}

    def read(self, rest: bytes) -> Call | None:
        """Take one sequence; return the call if that is the last."""
        raw, _, payload = rest.partition(b";")
        pairs = (one.partition(b"=") for one in raw.split(b":"))
        given = {name: value for name, _, value in pairs}
        part = given.get(b"p", b"title").decode("ascii", "replace")
        if part not in self._said:
            return None  # A question, a button, an icon, or the end of one.
        if given.get(b"i", b"") != self._id:
            self._id, self._said = given.get(b"i", b"")[:MAX_TEXT], _nothing()
        text = _decoded(payload) if given.get(b"e") == b"1" else payload
        said = self._said[part] + text.decode("utf-8", "replace")
        self._said[part] = said[:MAX_TEXT]
        if given.get(b"d", b"1") == b"0":
            return None
        title, body = self._said[_TITLE], self._said[_BODY]
        self._id, self._said = b"", _nothing()
        return Call(MESSAGE, _joined(title, body))


def is_plain(chunk: bytes) -> bool:
    """Tell whether a piece contains no call, nor the beginning of one."""
    if b"\x07" in chunk or (b"\xc2" in chunk and _C1.search(chunk)):
        return False
    # One byte is found ten times sooner than two.
    if b"\x1b" not in chunk:
        return True
    if b"]" in chunk and b"\x1b]" in chunk:
        return False
    last = chunk.rfind(b"\x1b")
    # Strings begun before it were ended by it.
    return chunk[last + 1 : last + 2] not in (b"", b"P", b"X", b"^", b"_")


def _last_c1(buffer: bytes) -> int:
    return max((one.start() for one in _C1.finditer(buffer)), default=-1)


def _nothing() -> dict[str, str]:
    return {_TITLE: "", _BODY: ""}


def _decoded(payload: bytes) -> bytes:
    try:
        return base64.b64decode(payload + b"=" * (-len(payload) % 4))
    except binascii.Error:
        return b""


def _message(title: bytes, text: bytes = b"") -> Call:
    parts = (one.decode("utf-8", "replace") for one in (title, text))
    return Call(MESSAGE, _joined(*parts))


def _joined(title: str, text: str) -> str:
    said = ": ".join(one for one in (title.strip(), text.strip()) if one)
    return bounded(said, MAX_TEXT)
