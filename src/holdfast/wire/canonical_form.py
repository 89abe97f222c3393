"""Canonical encoding: one way to write a message, and no other is read.

What two sides compare, sign or hash must be the same bytes on both. Whatever is
read is written again, and refused if that gives anything else.
"""

from typing import Generic, TypeVar

import msgspec

from holdfast.model.errors import MalformedMessage, UnwritableMessage
from holdfast.model.text import printable

Message = TypeVar("Message")

_MISFITS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
_write = msgspec.msgpack.Encoder(order="deterministic").encode


class CanonicalForm(Generic[Message]):
    """The one way to write the messages of one conversation, called `name`."""

    def __init__(
        self, name: str, kinds: msgspec.msgpack.Decoder[Message], limit: int
    ) -> None:
        self._name = name
        self._read = kinds.decode
        self._limit = limit

    def encode(self, message: Message) -> bytes:
        """Write a message down.

        Raises:
            UsageError: A field is out of its bounds.

        """
        try:
            written = _write(message)
            self._read(written)
        except _MISFITS as error:
            name = type(message).__name__
            raise UnwritableMessage(name, printable(str(error))) from None
        return written

    def decode(self, written: bytes, limit: int | None = None) -> Message:
        """Read a message, of at most `limit` bytes where that is less than usual.

        Raises:
            PeerError: It is none, it is too long, or it is not written the one way
                it can be.

        """
        if len(written) > (self._limit if limit is None else limit):
            raise MalformedMessage(self._name, f"of {len(written)} bytes")
        try:
            message = self._read(written)
        except _MISFITS as error:
            raise MalformedMessage(self._name, printable(str(error))) from None
        if _write(message) != written:
            raise MalformedMessage(self._name, "not written the one way it can be")
        return message
