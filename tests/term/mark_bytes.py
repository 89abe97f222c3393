"""Marks as a shell writes them."""

import re

from holdfast.term.marks import Began, Buffer, Ended, Mark, Prompted, Standing

_UNSAFE = re.compile(rb"[\x00-\x1f;\\\x7f\xc2]")


def to_bytes(mark: Mark, nonce: bytes) -> bytes:
    """Write a mark as a shell does."""
    return b"\x1b]7077;%s;%s\x1b\\" % (nonce, _said(mark))


def _said(mark: Mark) -> bytes:
    match mark:
        case Prompted(number):
            return b"P;%d" % number if number else b"P"
        case Standing(line, size):
            return b"L;%d;%s" % (size, _escaped(line))
        case Buffer(line, size):
            return b"B;%d;%s" % (size, _escaped(line))
        case Began(line, size):
            return b"C;%d;%s" % (size, _escaped(line))
        case Ended(status, cwd):
            return b"D;%d;%s" % (status, _escaped(cwd))


def _escaped(text: str) -> bytes:
    raw = text.encode()
    return _UNSAFE.sub(lambda found: b"\\x%02x" % ord(found[0]), raw)
