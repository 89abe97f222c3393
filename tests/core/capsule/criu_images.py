"""Images as CRIU writes them, put together by hand."""

import struct

GATE = b"the gate's program"
CORE, SECCOMP = 0x55053847, 0x64413049


def number(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(at: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return number(at << 3) + number(value)
    return number(at << 3 | 2) + number(len(value)) + value


def image(kind: int, body: bytes) -> bytes:
    return struct.pack("<III", 0x54564319, kind, len(body)) + body


def core(mode: int | None, chosen: int | None = None, more: bytes = b"") -> bytes:
    """Return a process as CRIU writes it."""
    thread = field(1, 2**40) + number(3 << 3 | 5) + b"nice"
    thread += b"" if mode is None else field(11, mode)
    thread += b"" if chosen is None else field(12, chosen)
    task = field(6, b"bash") + (field(11, 2) + field(12, 0) if mode else b"")
    whole = field(1, 1) + number(2 << 3 | 1) + b"8 octets"
    return image(
        CORE, whole + field(3, task) + field(5, thread + field(13, b"x" * 200)) + more
    )


FILTERS = image(
    SECCOMP,
    field(1, field(1, GATE) + field(3, 1))
    + field(1, field(1, GATE) + field(2, 0))
    + field(1, field(1, b"another"))
    + field(1, field(3, 1)),
)
