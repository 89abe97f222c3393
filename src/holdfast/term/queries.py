r"""The bytes of a program's output that ask the terminal to answer.

Theory of operation
-------------------
A query that reached the viewers would be answered by each of them, and the
answers would come back as input. So queries are taken out of the output before
viewers see it, and answered once by the host. The filter knows just enough of
a terminal's grammar to find them:

    CSI  ESC [  or U+009B    parameters, intermediates, one final letter
    OSC  ESC ]  or U+009D    a string up to BEL, ST, or any ESC
    DCS  ESC P  or U+0090    a string up to ST, or any ESC
    ST   ESC \  or U+009C

CAN and SUB cancel whatever is open. Other control characters inside a sequence
do not end it, so they do not hide a query either. A C1 control counts only in
its two UTF-8 bytes, C2 80 to C2 9F; a single byte 80 to 9F is text, because in
UTF-8 it is a part of some other character.

Invariants:

I1  Any cut of a stream gives the same visible bytes and the same queries.
I2  Each query's `raw` put back in the place of its `left` gives the input.
I3  What is visible holds no query, whatever was printed around those taken out.
I4  No more than about two times `limit` bytes are held back, and the work for
    one chunk is linear in the chunk and what was held.

The marks of a shell are no queries, but are taken out with them: what holds for
the one holds for the other, and the stream is looked through once.

I3 is why a query may leave something behind: its ESC also ended whatever was
open before it, and without it `ESC ESC [ c [ c` would close up to `ESC [ c`.
Where something was open, ST is left in the query's place, or CAN if the query
began with a C1 control, which do the same and show nothing.

I3 and I4 together are why a sequence that does not end within `limit` loses its
introducer and the rest is let through as plain text: if it were let through
whole, a query only had to be long enough to be answered by every viewer.

Not covered: the acknowledgements of the kitty graphics protocol (APC G), and
sequences that some terminal answers and nobody here knows of.
"""

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import msgspec

MAX_SEQUENCE = 8192
"""Longest sequence waited for: one that sets all 256 colours is about 6 KiB."""

MAX_NUMBER = 65535
"""Numbers in a query are cut down to this; no mode or colour is larger."""

ST = b"\x1b\\"
_CAN = b"\x18"
_ENQ = b"\x05"

_CONTROLS = bytes({*range(0x20)} - {0x18, 0x1A, 0x1B}) + b"\x7f"
"""What a terminal carries out or ignores inside a sequence, without ending it."""

_CTL = rb"[\x00-\x17\x19\x1c-\x1f\x7f]"
_SHORT = rb"[\x00-\x17\x19\x1c-\x2f\x7f]"  # and intermediates
_BODY = rb"[\x00-\x17\x19\x1c-\x3f\x7f]"  # and parameters
_REPORT = (
    rb"(?:" + _BODY + rb"*+[cnpqtuvwxyR|]|" + _CTL + rb"*+\?" + _BODY + rb"*+[Smg])"
)
_CSI = rb"(?:\x1b" + _CTL + rb"*+\[|\xc2\x9b)"

_HARMLESS = (
    rb"\[(?:[0-9;]{0,UNDER}+[@-QS-Zabd-mors]|\?[0-9;]{0,UNDER}+[hl])"
    rb"|\](?:[0-27-9]|133|633);"
)
"""After ESC: what nearly all sequences are, so that one look is enough."""

_AFTER_ESC = (
    rb"(?!" + _HARMLESS + rb")(?:"
    rb"(?P<endless>(?="
    + _SHORT
    + rb"{LIMIT}|"
    + _CTL
    + rb"*+\["
    + _BODY
    + rb"{LIMIT}))"
    rb"|" + _CTL + rb"*+(?:(?P<identify>Z)|(?P<osc>\])|(?P<dcs>P)"
    rb"|(?P<csi>\[" + _REPORT + rb"))"
    rb"|(?P<partial>(?:" + _SHORT + rb"*+|" + _CTL + rb"*+\[" + _BODY + rb"*+)\Z))"
)
_AFTER_C2 = (
    rb"(?P<endless_c1>\x9b(?=" + _BODY + rb"{LIMIT}))"
    rb"|(?P<osc_c1>\x9d)|(?P<dcs_c1>\x90)|(?P<csi_c1>\x9b" + _REPORT + rb")"
    rb"|(?P<partial_c1>(?:\x9b" + _BODY + rb"*+)?\Z)"
)
# Both begin with a fixed byte or set, which is what makes the search quick.
_ESC_ONLY = rb"\x1b" + _AFTER_ESC
_CANDIDATE = (
    rb"[\x05\x1b\xc2](?:(?P<enquiry>(?<=\x05))"
    rb"|(?<=\x1b)" + _AFTER_ESC + rb"|(?<=\xc2)(?:" + _AFTER_C2 + rb"))"
)
"""Everything worth a look, and nothing that only colours or moves the cursor."""

_CSI_PARTS = re.compile(rb"(?:\x1b\[|\xc2\x9b)([<-?]?)([0-9:;]*)([ -/]*)(.)")

_OSC_END = re.compile(rb"[\x07\x18\x1a]|\x1b\\?|\xc2[\x80-\x9f]")
_DCS_END = re.compile(rb"[\x18\x1a]|\x1b\\?|\xc2[\x80-\x9f]")
_ENDED = frozenset({b"\x07", b"\x1b", ST, b"\xc2\x9c"})
"""Ends after which a string is carried out; after any other it is forgotten."""

_ASKED_BY_MARK = (
    *(b"4", b"5", *(b"%d" % code for code in range(10, 20)), b"20", b"21", b"22"),
    *(b"39", b"49", b"50", b"176", *(b"%d" % code for code in range(700, 730))),
    *(b"7704", b"7770", b"7771"),
)
"""Codes of OSC that are a query if a `?` stands behind them: colours, fonts and what
rxvt, mintty and others have for theirs."""


def _begun(code: bytes, then: bytes) -> bytes:
    """Return a pattern for what may yet become this code, and `then` behind it."""
    pattern = then
    for place in reversed(range(len(code))):
        pattern = rb"%c(?:\Z|%b)" % (code[place], pattern)
    return pattern


_OSC_OPEN = re.compile(
    rb"0*+(?:\Z|"
    + b"|".join(
        [
            *(_begun(code, b";") for code in (*_ASKED_BY_MARK, b"60", b"61", b"7077")),
            *(_begun(code, b";") for code in (b"99", b"5522")),
            _begun(b"52", rb";[^;]*+(?:\Z|;(?:\Z|\?))"),
            _begun(b"1337", rb";(?:\Z|[RC])"),
        ]
    )
    + rb")"
)
_OSC_QUERY = re.compile(
    rb"0*+(?:(?:"
    + b"|".join(_ASKED_BY_MARK)
    + rb");[^?]*+\?|52;[^;]*+;\?|6[01](?:;|\Z)|7077;"
    rb"|99;[^;]*\bp=(?:\?|alive)|5522;[^;]*type=read"
    rb"|1337;(?:Re(?:port|quest)|Capabilities))"
)
_DCS_OPEN = re.compile(rb"[0-?]*+(?:\Z|[$+](?:\Z|q)|@)")
_DCS_QUERY = re.compile(rb"[0-?]*+(?:([$+])q|@kitty-cmd)")

_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_C1_BEGUN = re.compile(rb"\xc2(?:[\x80-\x9f]|\Z)")
_OPENED = re.compile(
    rb"(?:(?P<OSC>\x1b" + _CTL + rb"*+\]|\xc2\x9d)"
    rb"|(?P<STRING>\x1b" + _CTL + rb"*+[PX^_]|\xc2[\x90\x98\x9e\x9f])"
    rb"|(?P<SHORT>(?:\x1b" + _SHORT + rb"*+|" + _CSI + _BODY + rb"*+)\Z))"
)


class QueryKind(enum.Enum):
    """What is asked for."""

    PRIMARY_ATTRIBUTES = enum.auto()  # DA1
    SECONDARY_ATTRIBUTES = enum.auto()  # DA2
    TERTIARY_ATTRIBUTES = enum.auto()  # DA3
    STATUS = enum.auto()  # DSR 5
    CURSOR = enum.auto()  # CPR, DSR 6
    PRIVATE_CURSOR = enum.auto()  # DECXCPR, DSR ?6
    PRIVATE_STATUS = enum.auto()  # any other DSR ?
    MODE = enum.auto()  # DECRQM
    PRIVATE_MODE = enum.auto()  # DECRQM ?
    SETTING = enum.auto()  # DECRQSS
    CAPABILITY = enum.auto()  # XTGETTCAP
    VERSION = enum.auto()  # XTVERSION
    KEYBOARD = enum.auto()  # kitty keyboard flags
    PALETTE = enum.auto()  # OSC 4: numbers are the colours asked for
    COLOUR = enum.auto()  # OSC 10 to 19: numbers are the codes asked for
    CLIPBOARD = enum.auto()  # OSC 52
    WINDOW = enum.auto()  # XTWINOPS reports
    ENQUIRY = enum.auto()  # ENQ
    MARK = enum.auto()  # OSC 7077 of a shell (term.marks): not answered
    OTHER = enum.auto()  # a report that nobody needs: taken out, not answered
    UNFINISHED = enum.auto()  # not a query yet, and never ended: not answered


@dataclass(frozen=True, slots=True)
class Query:
    """One query, taken out after `at` visible bytes.

    `numbers` are its parameters, each at most MAX_NUMBER. `left` is what stands
    in its place in the visible bytes, mostly nothing.
    """

    kind: QueryKind
    at: int
    raw: bytes
    numbers: tuple[int, ...] = ()
    left: bytes = b""


class Filtered(msgspec.Struct, frozen=True):
    """What viewers may see of a chunk, and what was taken out of it."""

    visible: bytes
    queries: tuple[Query, ...]


_DIGITS = len(str(MAX_NUMBER)) + 1
_CURSOR_REPORT = 6
_STATUS_KINDS = {5: QueryKind.STATUS, _CURSOR_REPORT: QueryKind.CURSOR}
_PALETTE, _COLOURS, _CLIPBOARD, _MARK = 4, range(10, 20), 52, 7077
_WITHOUT_NUMBERS = {_CLIPBOARD: QueryKind.CLIPBOARD, _MARK: QueryKind.MARK}
_WINDOW_REPORTS = frozenset({11, 13, 14, 15, 16, 18, 19, 20, 21})

_CSI_KINDS = {
    b"c": QueryKind.PRIMARY_ATTRIBUTES,
    b">c": QueryKind.SECONDARY_ATTRIBUTES,
    b"=c": QueryKind.TERTIARY_ATTRIBUTES,
    b"n": QueryKind.STATUS,
    b"?n": QueryKind.PRIVATE_STATUS,
    b"$p": QueryKind.MODE,
    b"?$p": QueryKind.PRIVATE_MODE,
    b">q": QueryKind.VERSION,
    b"?u": QueryKind.KEYBOARD,
    b"t": QueryKind.WINDOW,
    b"x": QueryKind.OTHER,  # DECREQTPARM
    b"*y": QueryKind.OTHER,  # DECRQCRA
    b"$w": QueryKind.OTHER,  # DECRQPSR
    b"$u": QueryKind.OTHER,  # DECRQTSR
    b"&u": QueryKind.OTHER,  # DECRQUPSS
    b'"v': QueryKind.OTHER,  # DECRQDE
    b"'|": QueryKind.OTHER,  # DECRQLP
    b"#R": QueryKind.OTHER,  # XTREPORTCOLORS
    b"#|": QueryKind.OTHER,  # XTREPORTSGR
    b"?S": QueryKind.OTHER,  # XTSMGRAPHICS
    b"?m": QueryKind.OTHER,  # XTQMODKEYS
    b"?g": QueryKind.OTHER,  # XTQFMTKEYS
}
"""By prefix, intermediates and final letter."""


_DCS_KINDS = {b"$": QueryKind.SETTING, b"+": QueryKind.CAPABILITY}


class _State(enum.Enum):
    """What the visible bytes have left open."""

    GROUND = enum.auto()
    OSC = enum.auto()
    STRING = enum.auto()
    SHORT = enum.auto()


_CANCELLED_BY = {
    _State.OSC: re.compile(rb"[\x07\x18\x1a]"),
    _State.STRING: re.compile(rb"[\x18\x1a]"),
}


class _Found(NamedTuple):
    """A query up to `end`."""

    end: int
    kind: QueryKind
    numbers: tuple[int, ...] = ()


_Asked = tuple[QueryKind, tuple[int, ...]]

_WAIT = None
"""The sequence is not complete; the rest of the buffer waits with it."""


def _osc_query(body: bytes) -> _Asked | None:
    asked = _OSC_QUERY.match(body)
    if asked is None:
        return None
    fields = body.split(b";")
    code = _number(fields[0])
    if code in _WITHOUT_NUMBERS:
        return _WITHOUT_NUMBERS[code], ()
    if code == _PALETTE:
        pairs = zip(fields[1::2], fields[2::2], strict=False)
        colours = (_number(colour) for colour, value in pairs if value == b"?")
        return QueryKind.PALETTE, tuple(colours)
    if code in _COLOURS:
        # Further values belong to the codes that follow.
        codes = (code + n for n, value in enumerate(fields[1:]) if value == b"?")
        return QueryKind.COLOUR, tuple(codes)
    return QueryKind.OTHER, ()


def _dcs_query(body: bytes) -> _Asked | None:
    asked = _DCS_QUERY.match(body)
    if asked is None:
        return None
    return _DCS_KINDS.get(asked[1], QueryKind.OTHER), ()


def _number(digits: bytes) -> int:
    significant = digits.lstrip(b"0")
    if not significant.isdigit():
        return 0 if not significant else MAX_NUMBER
    return min(int(significant[:_DIGITS]), MAX_NUMBER)


@dataclass(frozen=True, slots=True)
class _StringKind:
    """How one kind of string ends, may yet become a query, and is one."""

    end: re.Pattern[bytes]
    open: re.Pattern[bytes]
    query: Callable[[bytes], _Asked | None]


_OSC = _StringKind(_OSC_END, _OSC_OPEN, _osc_query)
_DCS = _StringKind(_DCS_END, _DCS_OPEN, _dcs_query)


_WHOLE = {
    "enquiry": QueryKind.ENQUIRY,
    "identify": QueryKind.PRIMARY_ATTRIBUTES,  # DECID, an older name of DA1
    "endless": QueryKind.UNFINISHED,
    "endless_c1": QueryKind.UNFINISHED,
}
_STRINGS = {"osc": _OSC, "osc_c1": _OSC, "dcs": _DCS, "dcs_c1": _DCS}
_CSI_GROUPS = frozenset({"csi", "csi_c1"})


class QueryFilter:
    """Takes the queries out of one session's output, however it is cut."""

    def __init__(self, limit: int = MAX_SEQUENCE) -> None:
        """Wait for at most `limit` bytes, 2 or more, for the end of a sequence."""
        self._limit = limit
        self._esc_only = _within(limit, _ESC_ONLY)
        self._candidate = _within(limit, _CANDIDATE)
        self._held = b""
        self.passed = 0
        """How many bytes were let through."""

        self._state = _State.GROUND

    @property
    def held(self) -> int:
        """Return how many bytes wait for the rest of their sequence."""
        return len(self._held)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing has begun: the next letter is shown as it is."""
        return not self._held and self._state is _State.GROUND

    def feed(self, chunk: bytes) -> Filtered:
        """Take what the program printed; return what may be shown and the queries."""
        if not self._held and not (
            b"\x1b" in chunk or _ENQ in chunk or b"\xc2" in chunk
        ):
            if self._state is not _State.GROUND:
                self._state = _after(self._state, chunk)
            self.passed += len(chunk)
            return Filtered(chunk, ())
        return self._filter(self._held + chunk)

    def finish(self) -> Filtered:
        """Take note that nothing follows: what is held never becomes a query.

        It is taken out, because to a terminal it would stay open and swallow
        whatever another program prints next.
        """
        raw, self._held = self._held, b""
        if not raw:
            return Filtered(b"", ())
        left = _left(self._state, raw)
        self._state = _State.GROUND
        query = Query(QueryKind.UNFINISHED, self.passed, raw, left=left)
        self.passed += len(left)
        return Filtered(left, (query,))

    def _filter(self, buffer: bytes) -> Filtered:
        run = _Run(buffer, self.passed, self._state)
        is_plain = not (_ENQ in buffer or _C1_BEGUN.search(buffer))
        search = (self._esc_only if is_plain else self._candidate).search
        position = 0
        stop = len(buffer)
        while (match := search(buffer, position)) is not None:
            found = self._judge(match)
            if found is _WAIT:
                stop = match.start()
                break
            if isinstance(found, _Found):
                run.take_out(match.start(), found)
                position = found.end
            else:
                position = found
        self._held = buffer[stop:]
        filtered, self._state = run.finished(stop)
        self.passed += len(filtered.visible)
        return filtered

    def _judge(self, match: re.Match[bytes]) -> _Found | int | None:
        """Return a query, or where to look on, or None to wait for more."""
        group = str(match.lastgroup)
        if group in _WHOLE:
            return _Found(match.end(), _WHOLE[group])
        if group in _STRINGS:
            return self._judge_string(match, _STRINGS[group])
        return _judge_csi(match) if group in _CSI_GROUPS else _WAIT

    def _judge_string(
        self, match: re.Match[bytes], kind: _StringKind
    ) -> _Found | int | None:
        buffer = match.string
        start, last = match.end(), match.end() + self._limit
        ending = kind.end.search(buffer, start, last + 2)
        if ending is not None and ending.start() <= last:
            body = buffer[start : ending.start()].translate(None, _CONTROLS)
            asked = kind.query(body)
            if asked is None or ending[0] not in _ENDED:
                return match.start() + 1
            return _judge_end(ending, asked)
        body = buffer[start:last].translate(None, _CONTROLS)
        if not kind.open.match(body):
            return match.start() + 1
        if len(buffer) < last + 2:
            return _WAIT
        introducer = 1 if match[0].startswith(b"\x1b") else 2
        return _Found(match.start() + introducer, QueryKind.UNFINISHED)


class _Run:
    """One pass over a buffer: what has become visible of it so far."""

    def __init__(self, buffer: bytes, passed: int, state: _State) -> None:
        self._buffer = buffer
        self._copied = 0
        self._passed = passed
        self._visible = bytearray()
        self._settled = 0
        self._state = state
        self._queries: list[Query] = []

    def take_out(self, start: int, found: _Found) -> None:
        visible = self._visible
        visible += self._buffer[self._copied : start]
        self._copied = found.end
        at = self._passed + len(visible)
        raw = self._buffer[start : found.end]
        if found.kind is QueryKind.ENQUIRY:
            # It ends nothing, but half a C1 control must not join what follows.
            left = b"\0" if visible.endswith(b"\xc2") else b""
            visible += left
        else:
            state = _after(self._state, bytes(visible[self._settled :]))
            left = _left(state, raw)
            visible += left
            self._state = _State.GROUND
            self._settled = len(visible)
        self._queries.append(Query(found.kind, at, raw, found.numbers, left))

    def finished(self, stop: int) -> tuple[Filtered, _State]:
        if not self._queries:
            visible = self._buffer[:stop]
        else:
            visible = bytes(self._visible) + self._buffer[self._copied : stop]
        state = _after(self._state, visible[self._settled :])
        return Filtered(visible, tuple(self._queries)), state


def preload() -> None:
    """Compile what the filter of every session needs; a fork has it then."""
    QueryFilter()


@cache
def _within(limit: int, pattern: bytes) -> re.Pattern[bytes]:
    # What is harmless stays under the limit: whether a sequence is too long must
    # not depend on whether its end has come already.
    bounds = {b"LIMIT": b"%d" % limit, b"UNDER": b"%d" % (limit - 2)}
    for word, bound in bounds.items():
        pattern = pattern.replace(word, bound)
    return re.compile(pattern)


def _left(state: _State, raw: bytes) -> bytes:
    """Return what ends `state` in the way the query `raw` did."""
    if state is _State.GROUND:
        return b""
    return ST if raw.startswith(b"\x1b") else _CAN


def _after(state: _State, text: bytes) -> _State:
    """Return what is open after `text`, if `state` was open before it."""
    last = text.rfind(b"\x1b")
    if b"\xc2" in text:
        for control in _C1.finditer(text, last + 1):
            last = control.start()
    rest = 0
    if last >= 0:
        opened = _OPENED.match(text, last)
        state = _State[str(opened.lastgroup)] if opened else _State.GROUND
        rest = opened.end() if opened else last
    elif text and state is _State.SHORT:
        # Had it gone on, it would have been held back together with this.
        state = _State.GROUND
    if state in _CANCELLED_BY and _CANCELLED_BY[state].search(text, rest):
        state = _State.GROUND
    if state is _State.GROUND and text.endswith(b"\xc2"):
        return _State.SHORT
    return state


def _judge_csi(match: re.Match[bytes]) -> _Found | int:
    parts = _CSI_PARTS.fullmatch(match[0].translate(None, _CONTROLS))
    if parts is None:
        return match.start() + 1
    prefix, parameters, intermediates, final = parts.groups()
    numbers = tuple(map(_number, parameters.replace(b":", b";").split(b";")))
    kind = _CSI_KINDS.get(prefix + intermediates + final)
    if kind is QueryKind.STATUS:
        kind = _STATUS_KINDS.get(numbers[0], QueryKind.OTHER)
    elif kind is QueryKind.PRIVATE_STATUS and numbers[0] == _CURSOR_REPORT:
        kind = QueryKind.PRIVATE_CURSOR
    elif kind is QueryKind.WINDOW and numbers[0] not in _WINDOW_REPORTS:
        kind = None
    if kind is None:
        return match.start() + 1
    return _Found(match.end(), kind, numbers)


def _judge_end(ending: re.Match[bytes], asked: _Asked) -> _Found | None:
    if ending[0] != b"\x1b":
        return _Found(ending.end(), *asked)
    # Without its backslash it is not ST, but begins the next sequence.
    is_last = ending.end() == len(ending.string)
    return _WAIT if is_last else _Found(ending.start(), *asked)
