"""One line of facts that a host has signed, as text that can be passed on.

    TITLE.PAYLOAD.SIGNATURE

The title says what the line is, and is signed with it. The others are base64 for URLs,
without padding. The payload is one line (wire.lines).

Invariants, checked by tests/crypto/test_signed_line.py:

I1  What was written is read again; nothing else is, and reading raises only PeerError.
"""

import base64
import binascii

from holdfast.crypto.keys import SIGNATURE, SigningKey, verify
from holdfast.model.errors import HoldfastError, TokenForged
from holdfast.wire.lines import Record, decode_line, encode_line

MAX_TEXT = 1024
"""Characters of one."""


def signed_line(title: str, fields: Record, key: SigningKey) -> str:
    """Return the text of a signed line."""
    body = encode_line(fields)
    return f"{title}.{_text(body)}.{_text(key.sign(_signed(title, body)))}"


def read_signed_line(title: str, text: str, host: bytes) -> Record:
    """Return the fields of a line, if that host has signed it under that title.

    Raises:
        PeerError: It has not.

    """
    match text.split(".") if len(text) <= MAX_TEXT else []:
        case [known, body, signature] if known == title:
            raw, signed = _bytes(body), _bytes(signature)
        case _:
            raise TokenForged(f"it is no {title}")
    if len(signed) != SIGNATURE or not verify(host, _signed(title, raw), signed):
        raise TokenForged("this host has not signed it")
    try:
        return decode_line(raw)
    except HoldfastError as error:
        raise TokenForged(str(error)) from None


def _signed(title: str, body: bytes) -> bytes:
    return title.encode() + b"\n" + body


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        raw = base64.b64decode(padded, b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise TokenForged("it is not written in base64") from None
    if _text(raw) != text:
        raise TokenForged("it is not written the one way it can be")
    return raw
