"""Lines: one JSON object each, of plain values, written in exactly one way.

For what people and foreign programs may want to read with ordinary tools: the
logbook above all. No whitespace, members in the order given, UTF-8, no floating
point, nothing nested. A line in any other spelling (duplicate members, spaces,
needless escapes) is refused, so that no two readers see different things in it.
"""

import msgspec

from holdfast.model.errors import MalformedMessage

Value = str | int | bool | None
Record = dict[str, Value]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)


def encode_line(record: Record) -> bytes:
    """Write a record down, without a newline."""
    return _ENCODER.encode(record)


def decode_line(line: bytes) -> Record:
    """Read a record.

    Raises:
        PeerError: The line is not a record, or not written in the one way.

    """
    try:
        record = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise MalformedMessage("line", str(error)) from None
    if _ENCODER.encode(record) != line:
        raise MalformedMessage("line", "it is not written in the one way")
    return record


def number_from(value: Value) -> int:
    """Return a value that is a number, and 0 for any other."""
    return value if isinstance(value, int) else 0
