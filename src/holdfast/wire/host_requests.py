"""Requests to a host through a channel, and their encoding.

Theory of operation
-------------------
A channel that was opened to the host itself (wire.opening) carries packets: each
a JSON object, its length in four bytes before it. The operator asks, the host
answers, one after the other, with `ok` and what was asked for, or with the code,
text and facts of an error. An answer too long for one packet comes in several,
`more` true in all but the last. After {"ok": true} to {"do": "open", "session": …}
the stream is that session's own protocol (docs/spec/wire.md), and there are no
packets any more: a client that lists sessions opens one next, on the same channel.

I1  However a stream is cut, the same packets come out of it.
I2  A packet over the limit is refused on its length alone, before it is waited for.
I3  Whatever the bytes, a reader returns objects or raises a PeerError.
I4  What follows a packet is left as it came, for the next reader.

Specified in docs/spec/operators.md, section 5.
"""

import json
from typing import Any

from holdfast.model import errors
from holdfast.model.text import printable

MAX_PACKET = 64 * 1024
"""Bytes of a packet, as between processes of one machine: a command with its
environment, or a page of a list."""

LENGTH = 4
"""Bytes before each packet."""

Packet = dict[str, Any]
"""What a packet holds. It is a stranger's, and read field by field."""


def packet_bytes(packet: Packet) -> bytes:
    """Write a packet down.

    Raises:
        UsageError: It is too large.

    """
    raw = json.dumps(packet).encode()
    if len(raw) > MAX_PACKET:
        raise errors.RequestTooLarge(len(raw))
    return len(raw).to_bytes(LENGTH) + raw


class PacketReader:
    """Turn a stream of bytes, however it was cut, into packets, one at a time."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes from the stream."""
        self._held += data

    def take(self) -> Packet | None:
        """Return the first packet, or None while it is not whole.

        Raises:
            PeerError: It is too large, or no JSON object.

        """
        held = self._held
        if len(held) < LENGTH:
            return None
        size = int.from_bytes(held[:LENGTH])
        if size > MAX_PACKET:
            raise errors.FrameTooLarge(size, MAX_PACKET)
        if len(held) < LENGTH + size:
            return None
        packet = _parsed(bytes(held[LENGTH : LENGTH + size]))
        del held[: LENGTH + size]
        return packet

    def rest(self) -> bytes:
        """Return what has come beyond the last packet, and keep none of it."""
        rest = bytes(self._held)
        self._held.clear()
        return rest


def refusal(error: errors.HoldfastError) -> Packet:
    """Return the answer that tells of an error."""
    facts: dict[str, errors.Fact] = dict(error.facts)
    return {"ok": False, "code": error.code, "text": str(error), "facts": facts}


def error_from(answer: Packet) -> errors.HoldfastError:
    """Return the error that an answer tells of."""
    facts = answer.get("facts")
    return errors.from_facts(
        str(answer.get("code")),
        facts if isinstance(facts, dict) else {},
        printable(str(answer.get("text"))),
    )


def _parsed(raw: bytes) -> Packet:
    try:
        packet = json.loads(raw)
    except (ValueError, RecursionError):
        packet = None
    if not isinstance(packet, dict):
        raise errors.MalformedMessage("packet", "it is no JSON object")
    return packet
