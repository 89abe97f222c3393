"""The client's side of WebSocket (RFC 6455), as far as a link to a relay needs it.

A request over HTTP, its answer, and then frames:

    offset  size     field
    0       1        0x80 if it is the last of its message, and the opcode
    1       1        0x80 if it is masked, and the size: 126 and 127 say that it follows
    2       0, 2, 8  the size, big endian
    …       0, 4     the mask: ours have one, a server's have none
    …       n        the payload

Nothing is negotiated: no extension, no subprotocol. A relay's messages are binary, and
none is longer than MAX_MESSAGE. The library that a host uses says the same, and takes
six times as long to load as Python itself.

I1  What is refused is refused on its head alone, before the rest is waited for.
I2  However a stream is cut, the same messages come out of it.
I3  Whatever the bytes, a reader returns messages or raises NotWebSocket.
"""

import binascii

from holdfast.wire.first_messages import NotOneOfThese

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA

KEY = 16
"""Random bytes by which an answer is known to be to this request."""

MASK = 4
"""Random bytes that a client's payload is masked with."""

MAX_MESSAGE = 65_535
"""Bytes of a message, as in `relay_messages`."""

MAX_HEAD = 16 * 1024
"""Bytes of an answer's head: more than any proxy adds."""

NORMAL = 1000
"""The close code of a normal end."""

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_LAST = 0x80
_MASKED = 0x80
_CONTROL = 0x08
_OPCODE = 0x0F
_MAX_CONTROL = 125
_WIDTHS = {126: 2, 127: 8}
_CODE = 2


class NotWebSocket(NotOneOfThese):
    """What came is not what a relay says."""


def request(name: str, path: str, key: bytes) -> bytes:
    """Return what asks for a WebSocket; `key` is KEY random bytes."""
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {name}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {_base64(key).decode()}",
        "Sec-WebSocket-Version: 13",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def is_accepted(held: bytearray, key: bytes) -> bool:
    """Take the answer to a request from the front of `held`; False if more is needed.

    Raises:
        NotWebSocket: It is a no, or nothing of the kind.

    """
    if not b"HTTP/1.1 101 ".startswith(held[:13]):
        raise NotWebSocket("it refuses a WebSocket")
    end = held.find(b"\r\n\r\n")
    if end < 0:
        if len(held) > MAX_HEAD:
            raise NotWebSocket("its answer does not end")
        return False
    headers: dict[bytes, bytes] = {}
    for line in bytes(held[:end]).split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        headers[name.lower()] = value.strip()
    del held[: end + 4]
    import hashlib  # noqa: PLC0415  # slow to load, and there was something to wait for

    proof = hashlib.sha1(_base64(key) + _GUID, usedforsecurity=False).digest()
    if (
        headers.get(b"upgrade", b"").lower() != b"websocket"
        or b"upgrade" not in headers.get(b"connection", b"").lower()
        or headers.get(b"sec-websocket-accept") != _base64(proof)
        or b"sec-websocket-extensions" in headers
        or b"sec-websocket-protocol" in headers
    ):
        raise NotWebSocket("it answers another request")
    return True


def frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """Return a client's frame, a whole message; `mask` is MASK random bytes."""
    size = len(payload)
    lead = bytes((_LAST | opcode,))
    if size <= _MAX_CONTROL:
        head = lead + bytes((_MASKED | size,))
    else:
        assert size <= MAX_MESSAGE, "messages are not longer"  # noqa: S101
        head = lead + bytes((_MASKED | 126,)) + size.to_bytes(2, "big")
    pad = (mask * (size // MASK + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")
    return head + mask + masked.to_bytes(size, "big")


def close_frame(mask: bytes, reason: str = "") -> bytes:
    """Return what takes leave, with the code of an error if that is why."""
    payload = NORMAL.to_bytes(_CODE, "big") + reason.encode()
    return frame(CLOSE, payload[:_MAX_CONTROL], mask)


def reason_in(payload: bytes) -> str:
    """Return what the other side says in a CLOSE about its end."""
    return payload[_CODE:].decode("utf-8", "replace")


class MessageReader:
    """Turn a stream of bytes, however it was cut, into messages."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._parts: list[bytes] | None = None
        self._size = 0

    def feed(self, raw: bytes) -> "Iterator[tuple[int, bytes]]":
        """Take bytes; yield each message that is whole: BINARY, PING, PONG or CLOSE.

        Raises:
            NotWebSocket: What comes is none of these. Close the link.

        """
        self._held += raw
        while (found := self._frame()) is not None:
            is_last, opcode, payload = found
            if opcode & _CONTROL:
                yield opcode, payload
                continue
            if self._parts is None:
                self._parts = []
            self._parts.append(payload)
            if is_last:
                message = b"".join(self._parts)
                self._parts, self._size = None, 0
                yield BINARY, message

    def _frame(self) -> tuple[bool, int, bytes] | None:
        held = self._held
        if len(held) < 2:  # noqa: PLR2004  # the fixed part of a head
            return None
        first, size = held[0], held[1]
        opcode, is_last = first & _OPCODE, bool(first & _LAST)
        self._check(first, size, opcode, is_last=is_last)
        start = 2 + (width := _WIDTHS.get(size, 0))
        if len(held) < start:
            return None
        if width:
            size = int.from_bytes(held[2:start], "big")
        if opcode & _CONTROL == 0 and self._size + size > MAX_MESSAGE:
            raise NotWebSocket(f"a message of {self._size + size} bytes is too long")
        if len(held) < start + size:
            return None
        payload = bytes(memoryview(held)[start : start + size])
        del held[: start + size]
        if opcode & _CONTROL == 0:
            # Empty parts could come without end.
            self._size += max(size, 1)
        return is_last, opcode, payload

    def _check(self, first: int, size: int, opcode: int, *, is_last: bool) -> None:
        if first & ~(_LAST | _OPCODE) or size & _MASKED:
            raise NotWebSocket("a frame that no server sends")
        if opcode & _CONTROL:
            if opcode > PONG or not is_last or size > _MAX_CONTROL:
                raise NotWebSocket("a control frame that is none")
        elif opcode != (BINARY if self._parts is None else CONTINUATION):
            raise NotWebSocket("a frame out of its place, or a text")


def _base64(raw: bytes) -> bytes:
    return binascii.b2a_base64(raw, newline=False)
