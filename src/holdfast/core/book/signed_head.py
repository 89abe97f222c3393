"""A host's signature over the end of a logbook.

Theory of operation
-------------------
The chain of a logbook shows edits, not a missing tail. So the host signs heads:
session, incarnation, index and hash of the last entry (docs/spec/logbook.md,
section 7). One signature serves three readers. An operator keeps it as a
receipt, a file beside the book keeps the newest one, and an export ends with it.

Signing is separate from writing: the session's holder has no keys, and a
signature costs more than an echo may. A host signs what is durable already, at
its own pace; so a signed head may lie before the end of its book, and speaks
for everything up to itself.

Invariants, checked by tests/core/book/test_signed_head.py:

I1  What `sign_head` made, that host's key verifies.
I2  No other session, incarnation, index, hash or key is accepted with it.
I3  There is one way to write a signed head down; any other line is refused.
"""

from dataclasses import dataclass

from holdfast.core.book.logbook import Head, Receipt
from holdfast.crypto.keys import PUBLIC, SIGNATURE, SigningKey, verify
from holdfast.model.errors import MalformedMessage
from holdfast.model.ids import Incarnation, SessionId
from holdfast.wire.lines import Record, decode_line, encode_line

_WHAT = "signed head"
_HASH = 32
_MEMBERS = {
    "head": int,
    "session": str,
    "incarnation": int,
    "hash": str,
    "host": str,
    "signature": str,
}


@dataclass(frozen=True, slots=True)
class SignedHead:
    """A receipt, and the public key that it is to be checked with."""

    receipt: Receipt
    host: bytes

    def is_genuine(self) -> bool:
        """Tell whether that key signed it. Whose key it is, is another question."""
        receipt = self.receipt
        statement = receipt.head.signed_bytes(receipt.incarnation)
        return verify(self.host, statement, receipt.signature)

    def to_line(self) -> bytes:
        """Write it down, without a newline."""
        head = self.receipt.head
        return encode_line(
            {
                "head": head.index,
                "session": head.session,
                "incarnation": self.receipt.incarnation,
                "hash": head.hash.hex(),
                "host": self.host.hex(),
                "signature": self.receipt.signature.hex(),
            }
        )

    @classmethod
    def from_line(cls, line: bytes) -> "SignedHead":
        """Read what `to_line` wrote. It may still be forged: `is_genuine` tells.

        Raises:
            PeerError: The line is something else.

        """
        record = decode_line(line)
        if list(record) != list(_MEMBERS) or any(
            type(record[name]) is not kind for name, kind in _MEMBERS.items()
        ):
            raise MalformedMessage(_WHAT, "it has not the members of one")
        head = Head(
            SessionId(str(record["session"])),
            int(record["head"] or 0),
            _digits(record, "hash", _HASH),
        )
        life = Incarnation(int(record["incarnation"] or 0))
        receipt = Receipt(head, life, _digits(record, "signature", SIGNATURE))
        return cls(receipt, _digits(record, "host", PUBLIC))


def sign_head(head: Head, incarnation: Incarnation, key: SigningKey) -> SignedHead:
    """Vouch for a book up to its head. The entries must be durable before."""
    signature = key.sign(head.signed_bytes(incarnation))
    return SignedHead(Receipt(head, incarnation, signature), key.public)


def _digits(record: Record, name: str, size: int) -> bytes:
    text = str(record[name])
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != size or raw.hex() != text:
        raise MalformedMessage(_WHAT, f"{name} is not {size} bytes in hexadecimal")
    return raw
