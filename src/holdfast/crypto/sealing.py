"""Encrypts and authenticates the stream of a channel.

Theory of operation
-------------------
After a handshake each direction has a key of its own. A piece of the stream is
put into a record, and the record is sealed under the count of its direction, so
it opens only as the message it was, where it was. After REKEY messages each side
takes the next key by itself: nobody is asked, because both count.

The end of a stream is a record like any other: cutting the link cannot make
it look as if all was said.

Invariants, checked by tests/crypto/test_sealing.py:

I1  What is opened is what was sealed, in that order, without gaps.
I2  After the first message that does not open, none does.
I3  After END, nothing is sealed and nothing is opened.
I4  Sender and receiver change keys after the same message.
"""

from holdfast.crypto.noise import MAX_MESSAGE, CipherState
from holdfast.model.errors import FrameTooLarge, LinkEnded, UnexpectedMessage
from holdfast.wire.channel import Record, RecordKind, read_record, record_bytes

REKEY = 2**20
"""Messages under one key: at most 64 GiB, far below what AES-GCM can bear."""


class _Direction:
    """One direction of a channel."""

    __slots__ = ("_cipher", "has_ended")

    def __init__(self, cipher: CipherState) -> None:
        self._cipher = cipher
        self.has_ended = False
        """Whether END has gone this way: the sender has said everything."""

    def _counted(self) -> None:
        if self._cipher.count % REKEY == 0:
            self._cipher.rekey()


class Outbound(_Direction):
    """The direction from us."""

    __slots__ = ()

    def seal(self, kind: RecordKind, data: bytes | memoryview = b"") -> bytes:
        """Return the next message.

        Raises:
            Unavailable: END was sealed before, or the counts are used up.

        """
        if self.has_ended:
            raise LinkEnded("we have ended it")
        self.has_ended = kind is RecordKind.END
        message = self._cipher.seal(record_bytes(kind, data))
        self._counted()
        return message


class Inbound(_Direction):
    """The direction to us."""

    __slots__ = ()

    def open(self, message: bytes) -> Record:
        """Return what the next message says.

        Raises:
            PeerError: It is not the next message of the other side, or follows
                its last. The channel is of no further use.
            Unavailable: The counts are used up.

        """
        if len(message) > MAX_MESSAGE:
            raise FrameTooLarge(len(message), MAX_MESSAGE)
        raw = self._cipher.open(message)
        self._counted()
        if self.has_ended:
            raise UnexpectedMessage("a record", "the other side has ended")
        record = read_record(raw)
        self.has_ended = record.kind is RecordKind.END
        return record
