"""Removes the exec gate's filter from CRIU's image files.

Theory of operation
-------------------
A session with an exec gate runs under a filter of system calls whose *listener* we
have. CRIU writes the filter into an image, and puts it on again without a listener:
then every exec fails. So the filter is taken out of the image before that is sealed,
its manifest says that there was one, and a restore puts all of the tree under a new
filter with a new listener, before CRIU itself begins.

A process may have put further filters on itself. Without the one below they cannot be
put on again as they were, and without them the process would have more rights than it
had. So a process whose only filter is not the gate's is refused.

What CRIU writes is protobuf, behind a head of two words and a size:

    core-N.img     3 {11 12: mode and filter, of old}  5 {11: mode  12: filter}
    seccomp.img    1 {1: program  2: the filter before  3: flags}, once per filter

A core image holds what the session's programs chose, names for instance, so it is read
as hostile.

Invariants, checked by tests/core/capsule/test_gate_in_image.py:

G1  What is written has all that was read, byte by byte, but for those fields.
G2  No process loses a filter that is not the gate's.
G3  Anything else than what CRIU writes is refused, and nothing is read beyond its end.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.model.errors import CriuFailed, NotCheckpointable

MAX_IMAGE = 4 * 1024 * 1024
"""Bytes of a core image, or of all filters; a real one has some thousand."""

_HEAD = struct.Struct("<III")
_COMMON, _CORE, _SECCOMP = 0x54564319, 0x55053847, 0x64413049
"""The first word of every image, and the second of these."""

_TASK, _THREAD = 3, 5
_MODE, _FILTER = 11, 12
_STRICT, _FILTERED = 1, 2
_VARINT, _BYTES = 0, 2
_SIZES = {1: 8, 5: 4}
"""Bytes of the kinds of fields that always have as many."""

_NO_NUMBER, _BEFORE = 0, 2
_MORE, _LOW = 0x80, 0x7F
_MAX_SHIFT = 63


class _Field(NamedTuple):
    number: int
    kind: int
    whole: bytes
    """As it is written, with its key."""

    value: int
    body: bytes


def gate_filters(raw: bytes, program: bytes) -> list[bool]:
    """Return of each filter of a session whether it is the gate's, and nothing more.

    Raises:
        Unavailable: CRIU does not write such images.

    """
    found = []
    for one in _fields(_content(raw, _SECCOMP)):
        if (one.number, one.kind) != (1, _BYTES):
            raise _misshapen("a list of filters")
        inner = {part.number: part for part in _fields(one.body)}
        has_more = _BEFORE in inner
        code = inner.get(1)
        found.append(code is not None and code.body == program and not has_more)
    return found


def without_gate(raw: bytes, gates: list[bool]) -> bytes:
    """Return the image of a process without the gate's filter.

    `gates` says of each filter of the session whether it is the gate's.

    Raises:
        UsageError: The process has a filter of its own.
        Unavailable: CRIU does not write such images.

    """
    out = b""
    for one in _fields(_content(raw, _CORE)):
        if one.kind == _BYTES and one.number in (_TASK, _THREAD):
            kept = _without(one.body, gates, is_thread=one.number == _THREAD)
            out += _key(one.number, _BYTES) + _varint(len(kept)) + kept
        else:
            out += one.whole
    return _HEAD.pack(_COMMON, _CORE, len(out)) + out


def _without(body: bytes, gates: list[bool], *, is_thread: bool) -> bytes:
    mode, chosen, kept = 0, -1, b""
    for one in _fields(body):
        if one.number not in (_MODE, _FILTER):
            kept += one.whole
        elif one.kind != _VARINT:
            raise _misshapen("a process")
        elif one.number == _MODE:
            mode = one.value
        else:
            chosen = one.value
    is_gate = mode == _FILTERED and 0 <= chosen < len(gates) and gates[chosen]
    if is_thread and mode and not is_gate:
        what = "a strict" if mode == _STRICT else "a"
        why = f"a program has put {what} filter of system calls on itself"
        raise NotCheckpointable("a session with an exec gate", why)
    return kept


def _content(raw: bytes, kind: int) -> bytes:
    """Return the one message in an image of this kind."""
    if not _HEAD.size <= len(raw) <= MAX_IMAGE:
        raise _misshapen("an image")
    common, found, size = _HEAD.unpack_from(raw)
    if (common, found) != (_COMMON, kind) or size != len(raw) - _HEAD.size:
        raise _misshapen("an image")
    return raw[_HEAD.size :]


def _fields(body: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(body):
        begin = at
        key, at = _read_varint(body, at)
        number, kind = key >> 3, key & 7
        value, inner = 0, b""
        if kind == _VARINT:
            value, at = _read_varint(body, at)
        elif kind == _BYTES:
            size, at = _read_varint(body, at)
            inner = body[at : at + size]
            at += size
        elif kind in _SIZES:
            at += _SIZES[kind]
        else:
            raise _misshapen("a field")
        if at > len(body) or number == _NO_NUMBER:
            raise _misshapen("a field")
        yield _Field(number, kind, body[begin:at], value, inner)


def _read_varint(body: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(body) and shift <= _MAX_SHIFT:
        byte = body[at]
        at += 1
        value |= (byte & _LOW) << shift
        if not byte & _MORE:
            return value, at
        shift += 7
    raise _misshapen("a number")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > _LOW:
        out.append(value & _LOW | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _misshapen(what: str) -> CriuFailed:
    return CriuFailed(f"it has written {what} that holdfast cannot read")
