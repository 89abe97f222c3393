"""Frames: the envelope every message travels in.

    offset  size  field
    0       1     kind, see FrameKind
    1       4     length of the payload, big endian
    5       n     payload

The layout is normative in docs/spec/wire.md, section 2; tests/wire/vectors/
holds the bytes that every implementation must agree on.

I1  However a stream is cut, the same frames come out of it.
I2  A frame over the limit is refused on its header alone, before its payload
    is waited for; what is held between two calls is less than one frame.
I3  The work done is proportional to the bytes fed, not to the square of them.
I4  A reader that has refused a stream goes on refusing it.
"""

import enum
import struct
from typing import NamedTuple

from holdfast.model import errors

MAX_PAYLOAD = 256 * 1024
"""Bytes in one frame: the largest message fits, and a peer can make us hold no
more than this while we wait for the rest of it."""

MAX_UNPROVEN_PAYLOAD = 4 * 1024
"""Bytes in one frame of a peer that has not identified itself: anyone who can
reach the socket can make us hold this much, as often as they can connect."""

HEADER_SIZE = 5
"""Bytes before the payload; all that is looked at before a frame is refused."""

_HEADER = struct.Struct(">BI")


class FrameKind(enum.IntEnum):
    """The first byte of a frame. A number once given is never given again.

    The high half of the byte is the family, so that each has room to grow.
    0x80 to 0x8f are set aside for the keeper, whose protocol has its own page.
    """

    # the link itself
    HELLO = 0x01
    WELCOME = 0x02
    PING = 0x03
    PONG = 0x04
    GOODBYE = 0x05
    CHALLENGE = 0x06
    IDENTIFY = 0x07

    # watching
    ATTACH = 0x10
    ATTACHED = 0x11
    DETACH = 0x12
    OUTPUT = 0x14
    GAP = 0x15
    KEYFRAME = 0x16
    RESIZED = 0x17
    SCREEN_REQUEST = 0x18
    SCREEN = 0x19

    # acting
    SUBMIT = 0x20
    ACKNOWLEDGE = 0x21
    REFUSE = 0x22
    REPORT = 0x23
    INQUIRE = 0x24
    INTEND = 0x25
    SIGN = 0x26
    SIGNED = 0x27
    NOTIFY = 0x28

    # the turn
    TAKE = 0x30
    ASK = 0x31
    ANSWER = 0x32
    GIVE = 0x33
    DROP = 0x34
    SEIZE = 0x35
    TURN_PASSED = 0x36
    TURN_ASKED = 0x37
    INHERITED = 0x38

    # the gate
    PENDING = 0x40
    APPROVE = 0x41
    DENY = 0x42
    SETTLED = 0x43
    TRY = 0x44
    TRIED = 0x45

    # the graph
    GRAPH_REQUEST = 0x50
    GRAPH = 0x51
    BLAME_REQUEST = 0x52
    BLAME_REPORT = 0x53
    PREFLIGHT_REQUEST = 0x54
    PREFLIGHT = 0x55
    CHECKPOINT_REQUEST = 0x56
    CHECKPOINTED = 0x57

    # life and death
    FREEZE = 0x60
    THAW = 0x61
    END = 0x62
    STATE = 0x63
    EXITED = 0x64
    REAP = 0x66
    STATE_REQUEST = 0x68
    EVIDENCE = 0x69

    # operators
    WHO = 0x90
    PRESENCE = 0x91
    GRANT = 0x92
    REVOKE = 0x93
    DETACH_CLIENT = 0x94

    # the shell's commands
    COMMAND_STARTED = 0xA0
    COMMAND_ENDED = 0xA1
    COMMAND_REQUEST = 0xA2
    COMMAND_REPORT = 0xA3

    # what happened, for subscribers
    EVENT = 0x70


_KINDS = {int(kind): kind for kind in FrameKind}


class Frame(NamedTuple):
    """One envelope, kind and payload."""

    kind: FrameKind
    payload: bytes

    def to_bytes(self) -> bytes:
        """Write the frame down.

        Raises:
            UsageError: The payload is over MAX_PAYLOAD.

        """
        return frame_bytes(self.kind, self.payload)


def frame_bytes(kind: FrameKind, payload: bytes) -> bytes:
    """Write a frame down without making one first.

    Raises:
        UsageError: The payload is over MAX_PAYLOAD.

    """
    size = len(payload)
    if size > MAX_PAYLOAD:
        raise errors.UnwritableMessage(
            kind.name, f"{size} bytes are over {MAX_PAYLOAD}"
        )
    return _HEADER.pack(kind, size) + payload


class FrameReader:
    """Turn a stream of bytes, however it was cut, into frames."""

    def __init__(self, *, limit: int = MAX_PAYLOAD) -> None:
        self._limit = limit
        self._held = bytearray()

    @property
    def held(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._held)

    @property
    def is_limited(self) -> bool:
        """Whether it takes only the frames of an unproven peer."""
        return self._limit < MAX_PAYLOAD

    def raise_limit(self, limit: int = MAX_PAYLOAD) -> None:
        """Take frames up to `limit` from now on: the peer has shown who it is."""
        self._limit = max(self._limit, limit)

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes from the stream and return every frame they complete.

        A frame that is too large only for an unproven peer is looked at again by
        the next call: one of the frames before it may be the proof.

        Raises:
            PeerError: The stream is not made of frames, or of frames too large.
                The reader is of no further use, and frames that came in with
                the bad one are lost; close the stream.

        """
        held = self._held
        if not held and (only := self._only(data)) is not None:
            return [only]
        held += data
        frames: list[Frame] = []
        start = 0
        try:
            # The view spares a copy of each payload. The buffer is shortened
            # once, at the end: shortening it per frame would be quadratic.
            with memoryview(held) as view:
                while (frame := self._frame_at(view, start)) is not None:
                    frames.append(frame)
                    start += HEADER_SIZE + len(frame.payload)
        except errors.PeerError as error:
            is_large = isinstance(error, errors.FrameTooLarge)
            if frames and is_large and self.is_limited:
                del held[:start]
                return frames
            # The bad header stays, so that every later call refuses it again,
            # and nothing else does, so that none of them makes us hold more.
            del held[:start], held[HEADER_SIZE:]
            raise
        del held[:start]
        return frames

    def _only(self, data: bytes) -> Frame | None:
        """Return the one frame that `data` is; None if it is anything else.

        A key comes alone, and so does its echo.
        """
        if len(data) < HEADER_SIZE:
            return None
        number, size = _HEADER.unpack_from(data)
        kind = _KINDS.get(number)
        if kind is None or size > self._limit or len(data) != HEADER_SIZE + size:
            return None
        return Frame(kind, data[HEADER_SIZE:])

    def _frame_at(self, view: memoryview, start: int) -> Frame | None:
        if len(view) - start < HEADER_SIZE:
            return None
        number, size = _HEADER.unpack_from(view, start)
        kind = _KINDS.get(number)
        if kind is None:
            raise errors.UnknownFrameKind(number)
        # Refuse on the header alone: waiting for the payload would let a peer
        # make us buffer whatever it likes.
        if size > self._limit:
            raise errors.FrameTooLarge(size, self._limit)
        end = start + HEADER_SIZE + size
        if len(view) < end:
            return None
        return Frame(kind, bytes(view[start + HEADER_SIZE : end]))
