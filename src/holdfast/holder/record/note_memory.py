"""The note, in memory that outlives us: a kill while writing leaves the old one.

Two slots are used in turn. Each has a number, a length and a checksum; a reader takes
the slot with the higher number whose checksum is right. A process killed while it
writes one slot leaves the other whole.
"""

import struct
from zlib import crc32

import msgspec

from holdfast.core.book.inheritance import Note

AREA = 4096
"""Bytes of shared memory for both places."""

_PLACE = AREA // 2
_HEADER = struct.Struct("<QII")
_NOTHING = bytes(_HEADER.size)
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Note)


Prepared = tuple[int, bytes, bytes]
"""A note as it is written: its number, its text and its header."""


class NoteMemory:
    """Where a note is kept."""

    def __init__(self, memory: memoryview) -> None:
        self._memory = memory
        self._number = max((number for number, _ in self._whole()), default=0)

    def keep(self, note: Note) -> None:
        """Write a note over the older of the two."""
        # Twice for every key: these are `prepare` and `put`, in two calls less.
        self._number += 1
        text = _ENCODER.encode(note)
        start = self._number % 2 * _PLACE
        body = start + _HEADER.size
        # The checksum comes last: until it is there, this place does not count.
        self._memory[start:body] = _NOTHING
        self._memory[body : body + len(text)] = text
        checksum = _checksum(self._number, text)
        _HEADER.pack_into(self._memory, start, self._number, len(text), checksum)

    def prepare(self, note: Note) -> Prepared:
        """Return how a note is written, if it is the next."""
        number, text = self._number + 1, _ENCODER.encode(note)
        return number, text, _HEADER.pack(number, len(text), _checksum(number, text))

    def put(self, prepared: Prepared) -> None:
        """Write a note that was prepared."""
        self._number, text, header = prepared
        start = self._number % 2 * _PLACE
        body = start + _HEADER.size
        # The checksum comes last: until it is there, this place does not count.
        self._memory[start:body] = _NOTHING
        self._memory[body : body + len(text)] = text
        self._memory[start:body] = header

    def read(self) -> Note | None:
        """Return the newest whole note, or None if there is none."""
        newest = max(self._whole(), default=None)
        return None if newest is None else _DECODER.decode(newest[1])

    def _whole(self) -> list[tuple[int, bytes]]:
        found = []
        for start in (0, _PLACE):
            number, size, checksum = _HEADER.unpack_from(self._memory, start)
            body = start + _HEADER.size
            text = bytes(self._memory[body : body + min(size, _PLACE - _HEADER.size)])
            if text and _checksum(number, text) == checksum:
                found.append((number, text))
        return found


def _checksum(number: int, text: bytes) -> int:
    # The number too: half a header beside no text must not look whole.
    return crc32(text, crc32(number.to_bytes(8, "little")))
