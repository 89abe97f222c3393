"""The packets between the painter and its clients.

One socket, SOCK_SEQPACKET, so a packet is never split or merged.

    offset  size  field
    0       4     length of the header, big endian
    4       n     header, a JSON object
    4+n     …     data, as many bytes as are left

The client sends one request and waits for its answer; nothing else is ever sent. An
answer is one or more packets, all but the last with "more": true; their data belong
together.

    request                                    data       answer's data
    {"do": "reset", "session", "size", "at"}   keyframe   -
    {"do": "draw", "session"}                  keyframe   -
    {"do": "feed", "session", "at"}            output     -
    {"do": "skip", "session", "at"}            -          -
    {"do": "resize", "session", "size"}        -          -
    {"do": "keyframe", "session"}              -          ANSI
    {"do": "screen", "session"}                -          a Screen, as JSON
    {"do": "cells", "session"}                 -          the same, with its runs
    {"do": "rows", "session", "above", "count"} -         see below
    {"do": "answer", "session", "query"}       -          what the program reads
    {"do": "drop", "session"}                  -          -

    answer   {"ok": true, "at": offset painted up to, "size": [columns, rows]}
             {"ok": false, "code", "text", "facts"}

`rows` asks for `count` rows, the first of them `above` rows above the screen. Its data
are one line of JSON, {"above", "first", "cursor", "visible", "alternate", "title",
"modes", "shape"}, then the rows as text and SGR, with CR LF in between: `above` are the
rows kept above the screen, and `first` says how many of them come first.

`at` is the offset of the first byte; bytes already painted are skipped.
`skip` continues at a later offset, as if nothing had been printed in between.
`draw` continues a keyframe that did not fit into `reset`.

A request is read from its socket only when it is about to be processed. So a painter
that dies shows whose fault it was: a client whose request was still unread finds the
link reset, and the client whose request was being processed finds it closed.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.model.errors import MalformedMessage

MAX_DATA = 64 * 1024
"""Most data in one packet: well under what a socket buffer takes at once."""

MAX_PACKET = MAX_DATA + 8 * 1024
"""Longest packet, header included."""

_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Packet:
    """One header with its data."""

    header: Mapping[str, object]
    data: bytes = b""

    def to_bytes(self) -> bytes:
        """Write the packet down."""
        header = json.dumps(self.header, separators=(",", ":")).encode()
        return _LENGTH.pack(len(header)) + header + self.data

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Packet":
        """Read a packet.

        Raises:
            PeerError: It is none.

        """
        if len(raw) < _LENGTH.size:
            raise MalformedMessage("packet", "it is too short")
        (length,) = _LENGTH.unpack_from(raw)
        end = _LENGTH.size + length
        if end > len(raw):
            raise MalformedMessage("packet", "its header is cut off")
        try:
            header = json.loads(raw[_LENGTH.size : end])
        except (ValueError, RecursionError):
            raise MalformedMessage("packet", "its header is not JSON") from None
        if not isinstance(header, dict):
            raise MalformedMessage("packet", "its header is not an object")
        return cls(header, raw[end:])

    def number(self, name: str) -> int:
        """Return a number of the header that is not negative.

        Raises:
            PeerError: There is none.

        """
        value = self.header.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise MalformedMessage("packet", f"{name} is not a number")
        return value

    def text(self, name: str) -> str:
        """Return a text of the header.

        Raises:
            PeerError: There is none.

        """
        value = self.header.get(name)
        if not isinstance(value, str):
            raise MalformedMessage("packet", f"{name} is not a string")
        return value

    def pair(self, name: str) -> tuple[int, int]:
        """Return a pair of numbers of the header.

        Raises:
            PeerError: There is none.

        """
        match self.header.get(name):
            case [int(one), int(other)]:
                return one, other
            case _:
                raise MalformedMessage("packet", f"{name} is not a pair of numbers")
