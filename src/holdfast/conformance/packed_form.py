"""Values as msgpack, in the one form that the specification allows (wire.md, 3).

`packed` writes the shortest form of everything. `unpacked` reads any form, except
floating point numbers and extensions; whoever wants to know whether the bytes were
written as they must be packs the value again and compares.
"""

import struct

Value = None | bool | int | str | bytes | list["Value"] | dict[str, "Value"]

UNSIGNED = ((0xCC, "B"), (0xCD, ">H"), (0xCE, ">I"), (0xCF, ">Q"))
SIGNED = ((0xD0, "b"), (0xD1, ">h"), (0xD2, ">i"), (0xD3, ">q"))
LENGTHS = {
    0xC4: (bytes, "B"),
    0xC5: (bytes, ">H"),
    0xC6: (bytes, ">I"),
    0xD9: (str, "B"),
    0xDA: (str, ">H"),
    0xDB: (str, ">I"),
    0xDC: (list, ">H"),
    0xDD: (list, ">I"),
    0xDE: (dict, ">H"),
    0xDF: (dict, ">I"),
}
MAX_DEPTH = 16


class Malformed(Exception):
    """Bytes that are no value of the wire."""


def packed(value: Value) -> bytes:  # noqa: PLR0911  # one for each form
    """Return a value in its one form."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _number(value)
        case str():
            raw = value.encode()
            return _head(len(raw), 0xA0, 32, 0xD9, 0xDA, 0xDB) + raw
        case bytes():
            return _head(len(value), 0, 0, 0xC4, 0xC5, 0xC6) + value
        case list():
            head = _head(len(value), 0x90, 16, 0, 0xDC, 0xDD)
            return head + b"".join(map(packed, value))
        case dict():
            head = _head(len(value), 0x80, 16, 0, 0xDE, 0xDF)
            return head + b"".join(packed(k) + packed(v) for k, v in value.items())


def _number(value: int) -> bytes:
    if -32 <= value < 128:  # noqa: PLR2004  # the bounds of one byte
        return struct.pack("b", value) if value < 0 else bytes([value])
    for head, form in UNSIGNED if value >= 0 else SIGNED:
        try:
            return bytes([head]) + struct.pack(form, value)
        except struct.error:
            continue
    raise Malformed(f"{value} is too large")


def _head(size: int, short: int, below: int, *heads: int) -> bytes:
    if size < below:
        return bytes([short | size])
    for head, form in zip(heads, ("B", ">H", ">I"), strict=True):
        if head and size < 256 ** struct.calcsize(form):
            return bytes([head]) + struct.pack(form, size)
    raise Malformed("it is too long")


def unpacked(raw: bytes) -> Value:
    """Return what some bytes say.

    Raises:
        Malformed: They are no value, or more than one.

    """
    value, end = _read(raw, 0, 0)
    if end != len(raw):
        raise Malformed(f"{len(raw) - end} bytes follow the end")
    return value


def _read(raw: bytes, at: int, depth: int) -> tuple[Value, int]:
    if at >= len(raw) or depth > MAX_DEPTH:
        raise Malformed("it ends too early, or is too deep")
    head, at = raw[at], at + 1
    if head < 0x80 or head >= 0xE0:  # noqa: PLR2004  # the forms of msgpack
        return (head if head < 0x80 else head - 256), at  # noqa: PLR2004
    if head in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[head], at
    for known, form in (*UNSIGNED, *SIGNED):
        if head == known:
            return _numeral(raw, at, form)
    if head < 0xC0:  # noqa: PLR2004
        shape: type = dict if head < 0x90 else list if head < 0xA0 else str  # noqa: PLR2004
        size = head & (0x1F if shape is str else 0x0F)
    elif head in LENGTHS:
        shape, form = LENGTHS[head]
        size, at = _numeral(raw, at, form)
    else:
        raise Malformed(f"0x{head:02x} begins nothing that is allowed")
    return _sized(shape, size, raw, at, depth)


def _numeral(raw: bytes, at: int, form: str) -> tuple[int, int]:
    end = at + struct.calcsize(form)
    if end > len(raw):
        raise Malformed("it ends too early")
    return struct.unpack(form, raw[at:end])[0], end


def _sized(
    shape: type, size: int, raw: bytes, at: int, depth: int
) -> tuple[Value, int]:
    if shape in (str, bytes):
        piece, end = raw[at : at + size], at + size
        if end > len(raw):
            raise Malformed("it ends too early")
        try:
            return (piece.decode() if shape is str else piece), end
        except UnicodeDecodeError as error:
            raise Malformed("a text is not UTF-8") from error
    items: list[Value] = []
    for _ in range(size * (2 if shape is dict else 1)):
        item, at = _read(raw, at, depth + 1)
        items.append(item)
    if shape is list:
        return items, at
    names = items[::2]
    if not all(isinstance(name, str) for name in names):
        raise Malformed("a name is no text")
    return dict(zip(map(str, names), items[1::2], strict=True)), at
