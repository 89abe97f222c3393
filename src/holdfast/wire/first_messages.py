"""The first messages of a command, without slow imports.

`codec` is the one that says what can be written, and how. This is the small part of
it that a command needs before it shows something: the same bytes, made from the same
fields in the same order, with the standard library's own types for values. Nothing is
checked here but that the fields are those, in that order; whatever else may be wrong
with a message, `codec` is given the same bytes and says so.
tests/wire/test_first_messages.py holds the two against each other, by every message
here and by the vectors of the specification.
"""

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

HELLO, WELCOME, CHALLENGE, IDENTIFY = 0x01, 0x02, 0x06, 0x07
ATTACH, ATTACHED, OUTPUT, GAP, KEYFRAME = 0x10, 0x11, 0x14, 0x15, 0x16
SUBMIT, ACKNOWLEDGE, SIGN, SIGNED = 0x20, 0x21, 0x26, 0x27
STATE_REQUEST, EVIDENCE = 0x68, 0x69
SCREEN_REQUEST, SCREEN = 0x18, 0x19
DROP, TURN_PASSED, END, WHO = 0x34, 0x36, 0x62, 0x90
COMMAND_STARTED, COMMAND_ENDED = 0xA0, 0xA1
COMMAND_REQUEST, COMMAND_REPORT = 0xA2, 0xA3

FIELDS: dict[int, tuple[str, ...]] = {
    HELLO: ("versions", "product", "client"),
    WELCOME: ("version", "product"),
    CHALLENGE: ("nonce",),
    IDENTIFY: ("actor", "proof"),
    ATTACH: (
        *("session", "client", "mode", "size", "incarnation", "after"),
        "keyframe",
    ),
    ATTACHED: (
        *("session", "name", "incarnation", "epoch", "holder", "start", "end"),
        *("state", "size", "operators"),
    ),
    GAP: ("start", "end"),
    KEYFRAME: ("offset", "size", "more", "data"),
    SUBMIT: (
        *("client", "sequence", "kind", "incarnation", "epoch", "payload", "seen"),
        "waits",
    ),
    ACKNOWLEDGE: ("client", "sequence", "index", "receipt"),
    SIGN: ("client", "last", "steps", "key", "rotations", "signature"),
    SIGNED: ("client", "last"),
    SCREEN_REQUEST: ("cells",),
    SCREEN: (
        *("offset", "size", "cursor_row", "cursor_column", "cursor_visible", "title"),
        *("alternate", "exact", "text", "runs", "hidden", "above", "more"),
    ),
    STATE_REQUEST: (),
    EVIDENCE: (
        *("state", "program", "incarnation", "sure", "why", "foreground", "echo"),
        *("canonical", "unread", "sleepers"),
    ),
    DROP: (),
    TURN_PASSED: (
        *("former", "holder", "epoch", "reason", "dropped_inputs", "dropped_bytes"),
    ),
    END: ("signal", "leave"),
    WHO: (),
    COMMAND_STARTED: ("command",),
    COMMAND_ENDED: ("command",),
    COMMAND_REQUEST: ("client",),
    COMMAND_REPORT: ("phase", "command"),
}
"""The fields of each, in the order in which they are written."""

MAX_PAYLOAD = 256 * 1024
"""Bytes in one frame, as in `frames`."""

PATIENCE = 1.0
"""Seconds for an answer on this machine; then the rest is loaded, and waits on."""

HEADER = 5
_OFFSET = 8
Value = object
"""What a field holds: None, bool, int, str, bytes, list, or dict by name."""

Fields = dict[str, Value]


class NotOneOfThese(Exception):
    """These bytes are none of the messages here; what they are, `codec` says."""


def received(receive: "Callable[[int], bytes]", most: int) -> bytes:
    """Return what comes next on a link, as `receive` has it; nothing if it has ended.

    Raises:
        NotOneOfThese: Nothing has come in time.

    """
    try:
        return receive(most)
    except TimeoutError:
        raise NotOneOfThese from None
    except OSError:
        return b""


def frame(kind: int, fields: Fields | None = None) -> bytes:
    """Write a message down as a whole frame; its fields may stand in any order."""
    found = fields or {}
    assert found.keys() == set(FIELDS[kind]), "all fields, and no other"  # noqa: S101
    payload = packed({name: found[name] for name in FIELDS[kind]})
    return bytes((kind,)) + len(payload).to_bytes(4, "big") + payload


def frames_in(held: bytearray) -> list[tuple[int, bytes]]:
    """Take every whole frame from the front of `held`: its kind and its payload.

    Raises:
        NotOneOfThese: One is too large to be waited for.

    """
    found: list[tuple[int, bytes]] = []
    start = 0
    while len(held) - start >= HEADER:
        size = int.from_bytes(held[start + 1 : start + HEADER], "big")
        if size > MAX_PAYLOAD:
            raise NotOneOfThese
        end = start + HEADER + size
        if len(held) < end:
            break
        found.append((held[start], bytes(held[start + HEADER : end])))
        start = end
    del held[:start]
    return found


def read(kind: int, payload: bytes) -> Fields:
    """Return the fields of a message; of OUTPUT, `offset` and `data`.

    Raises:
        NotOneOfThese: It has other fields, or is none.

    """
    if kind == OUTPUT:
        offset = int.from_bytes(payload[:_OFFSET], "big")
        return {"offset": offset, "data": payload[_OFFSET:]}
    fields = unpacked(payload)
    if not isinstance(fields, dict) or tuple(fields) != FIELDS.get(kind):
        raise NotOneOfThese
    return fields


# ── msgpack, as far as these need it ──────────────────────────────────────────


def packed(value: Value) -> bytes:  # noqa: PLR0911  # one for each type
    """Write a value down in as few bytes as it can be."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return bytes((value,)) if value < _OWN_BYTE else _led(_NUMBERS, value)
        case str():
            raw = value.encode()
            size = len(raw)
            is_short = size < _SHORT_TEXT
            return (bytes((0xA0 | size,)) if is_short else _led(_TEXTS, size)) + raw
        case bytes():
            return _led(_RAWS, len(value)) + value
        case dict():
            parts = [packed(name) + packed(one) for name, one in value.items()]
            return bytes((0x80 | len(parts),)) + b"".join(parts)
        case list() | tuple():
            return bytes((0x90 | len(value),)) + b"".join(map(packed, value))
        case _:
            raise TypeError(type(value))


def unpacked(raw: bytes) -> Value:
    """Read one value, which is all there is.

    Raises:
        NotOneOfThese: It is no value that a message here has.

    """
    reader = _Reader(raw)
    try:
        value = reader.value()
    except (UnicodeDecodeError, RecursionError):
        raise NotOneOfThese from None
    if reader.at != len(raw):
        raise NotOneOfThese
    return value


_OWN_BYTE = 0x80
"""Numbers below this are their own byte."""

_SHORT_TEXT = 32
"""Bytes of a text below which its length fits the first byte."""

_NUMBERS = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_RAWS = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_LISTS = {0xDC: 2, 0xDD: 4}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def _led(widths: dict[int, int], number: int) -> bytes:
    """Write a number behind the first byte that says how wide it is."""
    for lead, width in widths.items():
        if number < 1 << 8 * width:
            return bytes((lead,)) + number.to_bytes(width, "big")
    raise OverflowError(number)


class _Reader:
    """Values from the front of some bytes."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.at = 0

    def value(self) -> Value:
        first = self._number(1)
        if first < _OWN_BYTE:
            return first
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _NUMBERS:
            return self._number(_NUMBERS[first])
        if first in _RAWS:
            return self._take(self._number(_RAWS[first]))
        if first in _TEXTS or first & 0xE0 == 0xA0:  # noqa: PLR2004  # 0xa0 to 0xbf
            width = _TEXTS.get(first)
            return self._take(self._number(width) if width else first & 0x1F).decode()
        return self._many(first)

    def _many(self, first: int) -> Value:
        if first & 0xF0 == 0x80:  # noqa: PLR2004  # 0x80 to 0x8f
            return {str(self.value()): self.value() for _ in range(first & 0x0F)}
        if first in _LISTS or first & 0xF0 == 0x90:  # noqa: PLR2004  # 0x90 to 0x9f
            width = _LISTS.get(first)
            count = self._number(width) if width else first & 0x0F
            return [self.value() for _ in range(count)]
        raise NotOneOfThese

    def _number(self, width: int) -> int:
        return int.from_bytes(self._take(width), "big")

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._raw):
            raise NotOneOfThese
        taken, self.at = self._raw[self.at : end], end
        return taken
