"""Encodes and decodes messages.

Theory of operation
-------------------
A control message is a msgpack map of its fields in the order in which they
are declared, maps inside it sorted by name. What is read is written again and
compared: if a single byte differs, it was not written the one way there is,
and is refused. So code that signs, hashes or compares messages may take the
bytes for the message (threat T65).

OUTPUT is the hot path, and is 8 bytes of offset followed by what was printed.

I1  decode(encode(m)) is m, and encode(decode(b)) is b.
I2  Whatever the bytes, decode returns a message or raises a PeerError.
I3  What encode writes, decode takes; what decode would not, encode refuses.
"""

import re
import struct
from collections.abc import Callable
from typing import get_args

import msgspec

from holdfast.model import errors
from holdfast.model.ids import ClientId
from holdfast.model.inputs import InputId
from holdfast.model.text import printable
from holdfast.wire import (
    blame,
    checkpoints,
    commands,
    evidence,
    graphs,
    intents,
    messages,
    preflights,
    presence,
    reaps,
    screens,
    signatures,
)
from holdfast.wire.frames import HEADER_SIZE, Frame, FrameKind, frame_bytes
from holdfast.wire.messages import (
    MAX_NUMBER,
    MAX_OUTPUT,
    MAX_TEXT,
    Output,
    Refuse,
    fitting,
    sent_facts,
)
from holdfast.wire.trials import Tried, Try

Message = (
    messages.Hello
    | messages.Welcome
    | messages.Ping
    | messages.Pong
    | messages.Goodbye
    | messages.Challenge
    | messages.Identify
    | messages.Attach
    | messages.Attached
    | messages.Detach
    | messages.Output
    | messages.Gap
    | messages.Keyframe
    | messages.Resized
    | screens.ScreenRequest
    | screens.Screen
    | messages.Submit
    | messages.Acknowledge
    | messages.Refuse
    | messages.Report
    | messages.Inquire
    | intents.Intend
    | signatures.Sign
    | signatures.Signed
    | intents.Notify
    | messages.Take
    | messages.Ask
    | messages.Answer
    | messages.Give
    | messages.Drop
    | messages.Seize
    | messages.TurnPassed
    | messages.TurnAsked
    | presence.Inherited
    | messages.Pending
    | messages.Approve
    | messages.Deny
    | messages.Settled
    | Try
    | Tried
    | graphs.GraphRequest
    | graphs.Graph
    | blame.BlameRequest
    | blame.BlameReport
    | preflights.PreflightRequest
    | preflights.Preflight
    | checkpoints.CheckpointRequest
    | checkpoints.Checkpointed
    | messages.Freeze
    | messages.Thaw
    | messages.End
    | messages.State
    | messages.Exited
    | reaps.Reap
    | evidence.StateRequest
    | evidence.Evidence
    | presence.Who
    | presence.Presence
    | presence.Grant
    | presence.Revoke
    | presence.DetachClient
    | commands.CommandStarted
    | commands.CommandEnded
    | commands.CommandRequest
    | commands.CommandReport
    | messages.Event
)
"""Everything that can be said; closed, so that a `match` over it can be."""

KINDS: dict[FrameKind, type[Message]] = {
    FrameKind[re.sub("(?<!^)(?=[A-Z])", "_", shape.__name__).upper()]: shape
    for shape in get_args(Message)
}
"""Which message each kind of frame carries: the one of its name."""

NO_INPUT = InputId(ClientId(""), 0)
"""What a refusal is about that is not about an input."""

_OUTPUT = struct.Struct(">BIQ")
OUTPUT_HEAD = _OUTPUT.size
"""Bytes of a frame of output before what was printed."""

_OFFSET = struct.Struct(">Q")
_ONE_BYTE = b"\xa7payload\xc4\x01"
"""What comes before the one byte of an input."""


# Maps are sorted, because a map can be written in any order and a message in
# only one; the fields of messages keep the order of their declaration.
_write = msgspec.msgpack.Encoder(order="deterministic").encode
_READERS: dict[FrameKind, Callable[[bytes], Message]] = {
    kind: msgspec.msgpack.Decoder(shape).decode for kind, shape in KINDS.items()
}
_KIND_AND_READER = {shape: (kind, _READERS[kind]) for kind, shape in KINDS.items()}

# What msgspec raises: its own error; ValueError for text that is not UTF-8;
# TypeError and OverflowError for values that no message has.
_MISFITS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError)


def encode(message: Message) -> bytes:
    """Write a message down as a whole frame.

    Raises:
        UsageError: A field is out of its bounds; nothing was written.

    """
    if isinstance(message, Output):
        return output_frame(message.offset, message.data)
    kind, read = _KIND_AND_READER[type(message)]
    try:
        payload = _write(message)
        read(payload)
    except _MISFITS as error:
        raise errors.UnwritableMessage(kind.name, printable(str(error))) from None
    return frame_bytes(kind, payload)


def decode(frame: Frame) -> Message:
    """Read the message that a frame carries.

    Raises:
        PeerError: The payload is not that message, written the one way.

    """
    kind = frame.kind
    payload = frame.payload
    if kind is FrameKind.OUTPUT:
        return _read_output(payload)
    read = _READERS.get(kind)
    if read is None:
        raise errors.UnknownFrameKind(kind)
    try:
        message = read(payload)
    except _MISFITS as error:
        raise errors.MalformedMessage(kind.name, printable(str(error))) from None
    if _write(message) != payload:
        raise errors.MalformedMessage(kind.name, "not written the one way it can be")
    return message


def around_key(message: messages.Submit) -> tuple[bytes, bytes]:
    """Return the frame of an input of one byte, cut at that byte.

    Whichever byte is put in between, it is what `encode` writes for it: a frame that
    can be written before the key is known.

    Raises:
        UsageError: A field is out of its bounds.

    """
    frame = encode(msgspec.structs.replace(message, payload=b"\x00"))
    # No member before it holds free text.
    at = frame.index(_ONE_BYTE) + len(_ONE_BYTE)
    return frame[:at], frame[at + 1 :]


def lone_output(raw: bytes) -> Output | None:
    """Return the one frame of output that `raw` is; None if it is anything else."""
    if len(raw) <= OUTPUT_HEAD:
        return None
    kind, size, offset = _OUTPUT.unpack_from(raw)
    is_one = kind == FrameKind.OUTPUT and size == len(raw) - HEADER_SIZE
    if not is_one or _misfit(offset, len(raw) - OUTPUT_HEAD):
        return None
    return Output(offset, raw[OUTPUT_HEAD:])


def output_frame(offset: int, data: bytes | bytearray | memoryview) -> bytes:
    """Write down what the terminal printed, copying it once.

    Raises:
        UsageError: There is nothing, or more than MAX_OUTPUT bytes of it, or it
            ends beyond MAX_NUMBER.

    """
    return output_head(offset, len(data)) + data


def output_head(offset: int, size: int) -> bytes:
    """Write down what comes before so many bytes that the terminal printed.

    Raises:
        UsageError: These are none, or more than MAX_OUTPUT, or end beyond MAX_NUMBER.

    """
    if why := _misfit(offset, size):
        raise errors.UnwritableMessage(FrameKind.OUTPUT.name, why)
    return _OUTPUT.pack(FrameKind.OUTPUT, _OFFSET.size + size, offset)


def refusal(
    error: errors.HoldfastError, refused: FrameKind, about: InputId = NO_INPUT
) -> Refuse:
    """Return the message that tells a peer of an error.

    Whatever the error holds can be sent: what is too long is cut.
    """
    return Refuse(
        refused=refused,
        client=about.client,
        sequence=about.sequence,
        code=error.code,
        text=fitting(str(error), MAX_TEXT),
        facts=sent_facts(error),
        retryable=error.retryable,
        next_step=fitting(error.next_step, MAX_TEXT),
    )


def error_from(refuse: Refuse) -> errors.HoldfastError:
    """Return the error that a peer told us of."""
    return errors.from_facts(refuse.code, refuse.facts, refuse.text)


def _read_output(payload: bytes) -> Output:
    size = len(payload) - _OFFSET.size
    if size < 0:
        raise errors.MalformedMessage(FrameKind.OUTPUT.name, "no room for the offset")
    (offset,) = _OFFSET.unpack_from(payload)
    if why := _misfit(offset, size):
        raise errors.MalformedMessage(FrameKind.OUTPUT.name, why)
    return Output(offset, payload[_OFFSET.size :])


def _misfit(offset: int, size: int) -> str:
    """Say why there can be no OUTPUT of `size` bytes at `offset`; '' if there can."""
    if not 1 <= size <= MAX_OUTPUT:
        return f"{size} bytes are not 1 to {MAX_OUTPUT}"
    if not 0 <= offset <= MAX_NUMBER - size:
        return "the offset is out of range"
    return ""
