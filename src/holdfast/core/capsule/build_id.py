"""The build id of a program or library file.

An ELF file may have a note in which its linker left a number that no other build has.
It is found by way of the program headers, as the kernel and CRIU find it. The file is
anybody's: whatever does not look like an ELF file with such a note has no build id.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

ENOUGH = 64 * 1024
"""Bytes of a file that are looked at: linkers put notes into its first page."""

MAX_ID = 64
"""Bytes of a build id: more than any hash that linkers use."""

_MAGIC = b"\x7fELF"
_HEADER = 64
_GNU, _BUILD_ID = b"GNU\0", 3
_NOTES = 4
"""The type of a program header that leads to notes."""

_MAX_HEADERS = 64


class _Layout(NamedTuple):
    """Where an ELF file of one class has what is needed."""

    address: str
    table: int
    """Where its header says where program headers begin."""
    sizes: int
    """Where it says how large one is, and how many there are."""
    segment: str
    """A program header, up to the size of what it leads to."""


_LAYOUTS = {
    1: _Layout("I", 28, 42, "IIIII"),
    2: _Layout("Q", 32, 54, "I4xQQQQ"),
}
_ORDERS = {1: "<", 2: ">"}


def build_id(start: bytes) -> str:
    """Return the build id, in hexadecimal digits, of a file that begins so; or ''."""
    if len(start) < _HEADER or not start.startswith(_MAGIC):
        return ""
    layout, order = _LAYOUTS.get(start[4]), _ORDERS.get(start[5])
    if layout is None or order is None:
        return ""
    for notes in _segments(start, layout, order):
        for name, kind, value in _read_notes(notes, order):
            if (name, kind) == (_GNU, _BUILD_ID) and len(value) <= MAX_ID:
                return value.hex()
    return ""


def _segments(start: bytes, layout: _Layout, order: str) -> Iterator[bytes]:
    (table,) = struct.unpack_from(order + layout.address, start, layout.table)
    size, count = struct.unpack_from(f"{order}2H", start, layout.sizes)
    segment = struct.Struct(order + layout.segment)
    for number in range(min(count, _MAX_HEADERS)):
        place = table + number * size
        if place + segment.size > len(start):
            return
        kind, offset, _, _, length = segment.unpack_from(start, place)
        if kind == _NOTES:
            yield start[offset : offset + length]


def _read_notes(notes: bytes, order: str) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield the notes of a segment: name, type and value."""
    header = struct.Struct(f"{order}3I")
    place = 0
    while place + header.size <= len(notes):
        name_size, size, kind = header.unpack_from(notes, place)
        name = place + header.size
        value = name + _padded(name_size)
        if value + size > len(notes):
            return
        yield notes[name : name + name_size], kind, notes[value : value + size]
        place = value + _padded(size)


def _padded(size: int) -> int:
    return -(-size // 4) * 4
