"""The records of a sealed channel, before and inside the seal.

Before it, the first message of an operator says in clear which handshake it
begins, because the host must know:

    offset  size  field
    0       1     purpose: 1 attach, 2 join
    1       16    the invitation's id, if the purpose is join
    …       n     the first Noise message

Nothing of that can be changed unnoticed: both sides mix the same *prologue* into
the handshake. Inside the seal there are records:

    offset  size  field
    0       1     kind, see RecordKind
    1       2     length of the data, big endian
    3       n     data
    3 + n   p     zeros

The zeros make every record a multiple of PAD bytes, so that the length of a
message on the way does not tell one key from another.

Normative in docs/spec/channel.md; tests/crypto/vectors/channel.json holds the
bytes that every implementation must agree on.
"""

import enum
import struct

from holdfast.model.errors import HandshakeFailed, MalformedMessage
from holdfast.model.ids import HostId
from holdfast.model.plain_value import PlainValue

VERSION = 1
"""Of everything on this page of the specification; never negotiated."""

INVITE_ID = 16
"""Bytes of the id of an invitation: nobody comes upon one by chance."""

PAD = 64
"""Every record is a multiple of this, which hides what a key is made of."""

MAX_RECORD = 65_472
"""Bytes of a record: the last multiple of PAD that a Noise message can hold."""

_HEADER = struct.Struct(">BH")

MAX_DATA = MAX_RECORD - _HEADER.size
"""Bytes of data in one record."""


class Purpose(enum.IntEnum):
    """What a channel is opened for. Numbers are never reused."""

    ATTACH = 1
    JOIN = 2


class RecordKind(enum.IntEnum):
    """What a sealed message is. Numbers are never reused."""

    CONFIRM = 0  # the operator's first, after the handshake of an attach; no data
    DATA = 1  # bytes of the stream, at least one
    END = 2  # the last record of its sender; no data


_KINDS = {int(kind): kind for kind in RecordKind}


class First(PlainValue):
    """The first message of an operator, taken apart."""

    __slots__ = ("invite_id", "noise", "purpose")

    def __init__(self, purpose: Purpose, invite_id: bytes, noise: bytes) -> None:
        self.purpose = purpose
        self.invite_id = invite_id
        """Empty but for a join."""

        self.noise = noise

    def to_bytes(self) -> bytes:
        """Write it down."""
        return bytes((self.purpose,)) + self.invite_id + self.noise

    @classmethod
    def from_bytes(cls, message: bytes) -> "First":
        """Read it.

        Raises:
            PeerError: It has no purpose that we know, or ends too early.

        """
        if not message or message[0] not in set(Purpose):
            raise HandshakeFailed("its first message has no known purpose")
        purpose = Purpose(message[0])
        size = INVITE_ID if purpose is Purpose.JOIN else 0
        if len(message) < 1 + size:
            raise HandshakeFailed("its first message is too short")
        return cls(purpose, message[1 : 1 + size], message[1 + size :])


def prologue(host: HostId, purpose: Purpose, invite_id: bytes = b"") -> bytes:
    """Return what both sides mix into the handshake before its first message."""
    lines = [f"holdfast channel {VERSION}", host, purpose.name.lower()]
    if purpose is Purpose.JOIN:
        lines.append(invite_id.hex())
    return "".join(f"{line}\n" for line in lines).encode()


class Record(PlainValue):
    """What one sealed message says."""

    __slots__ = ("data", "kind")

    def __init__(self, kind: RecordKind, data: bytes = b"") -> None:
        self.kind = kind
        self.data = data


def record_bytes(kind: RecordKind, data: bytes | memoryview = b"") -> bytes:
    """Write a record down, padded."""
    size = _HEADER.size + len(data)
    return b"".join((_HEADER.pack(kind, len(data)), data, bytes(-size % PAD)))


def read_record(raw: bytes) -> Record:
    """Read a record; more zeros than there must be are no fault.

    Raises:
        PeerError: It is none.

    """
    if len(raw) < _HEADER.size:
        raise MalformedMessage("record", "it is too short")
    number, size = _HEADER.unpack_from(raw)
    end = _HEADER.size + size
    kind = _KINDS.get(number)
    if kind is None:
        raise MalformedMessage("record", f"there is no kind {number}")
    if (size > 0) is not (kind is RecordKind.DATA):
        raise MalformedMessage("record", f"{kind.name} has {size} bytes of data")
    if len(raw) < end or raw.count(0, end) != len(raw) - end:
        raise MalformedMessage("record", "its data is not followed by zeros")
    return Record(kind, raw[_HEADER.size : end])
