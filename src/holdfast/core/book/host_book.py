"""The logbook of a host: what changed, who changed it, and the policy in force.

Theory of operation
-------------------
A host has a logbook of its own, beside those of its sessions: the same lines, the
same chain, the same signed head (core.book.logbook, core.book.signed_head). In the
place of the session stands the host's id. Every line ends with two members that session
books have not:

    policy   the digest of the policy that holds after this entry, "" for none
    seal     a code over the line without it, under a key only the host has

So its last line alone says which policy is in force, and a holdfast process detects
a forged line without reading the whole book. The chain and the signed head are for
other readers.

Invariants, checked by tests/core/book/test_host_book.py:

I1  A line whose bytes were changed, or made under another key, is refused.
I2  Every line carries the policy of the line before it on, unless it changes it.
"""

import hmac
from collections.abc import Mapping

from holdfast.core.book.logbook import (
    Entry,
    EntryKind,
    Head,
    Logbook,
    genesis,
    read_entries,
)
from holdfast.model.errors import LogTampered
from holdfast.model.ids import FIRST_INCARNATION, Epoch, HostId, Index, SessionId
from holdfast.wire.lines import Value, decode_line, encode_line

_SEAL_KEY = b"holdfast host seal 1\n"
_EPOCH = Epoch(1)
"""No turn is taken here; every line of a book has an epoch."""

KINDS = tuple(EntryKind)[tuple(EntryKind).index(EntryKind.APPLIED) :]
"""Kinds of entries that only a host's book has; `opened` and `declined` are shared."""

NO_POLICY = ""
"""The digest that stands in a book before any policy was applied."""


def seal_key(seed: bytes) -> bytes:
    """Return the key of seals, which only those have who have the host's key."""
    return hmac.digest(seed, _SEAL_KEY, "sha256")


def book_of(host: HostId) -> SessionId:
    """Return what stands in the place of a session in the book of a host."""
    return SessionId(host)


def draft(
    last: Entry | None,
    book: SessionId,
    kind: EntryKind,
    fields: Mapping[str, Value],
    at_wall_ms: int,
    key: bytes,
) -> Entry:
    """Return the entry that follows `last`, sealed.

    A `policy` among the fields is in force from here on.
    """
    head = genesis(book) if last is None else Head(book, last.index, last.hash)
    held = NO_POLICY if last is None else policy_after(last)
    whole = {**fields, "policy": fields.get("policy", held)}
    bare = Logbook(head).draft(kind, whole, FIRST_INCARNATION, _EPOCH, at_wall_ms)
    seal = _seal(bare.line, key)
    sealed = {**whole, "seal": seal}
    return Logbook(head).draft(kind, sealed, FIRST_INCARNATION, _EPOCH, at_wall_ms)


def read_last(line: bytes, key: bytes) -> Entry:
    """Return the last entry of a book, whose seal stands for all before it.

    Raises:
        PeerError: It is none of this host's.

    """
    if not is_sealed(line, key):
        raise LogTampered(0, "the last line is not this host's")
    # Whatever is sealed was an entry, and chained, when it was written.
    record = decode_line(line)
    index, book = int(record["index"] or 0), SessionId(str(record["session"]))
    before = Head(book, index - 1, bytes.fromhex(str(record["prev"])))
    return next(iter(read_entries([line], book, _standing_for(before))))


def is_sealed(line: bytes, key: bytes) -> bool:
    """Tell whether a line, which can be read, is as this host has written it."""
    record = decode_line(line)
    seal = record.popitem()[1] if next(reversed(record), "") == "seal" else None
    if not isinstance(seal, str) or not seal.isascii():
        return False
    return hmac.compare_digest(_seal(encode_line(record), key), seal)


def policy_after(entry: Entry) -> str:
    """Return the digest of the policy that holds after an entry."""
    return str(entry.fields.get("policy", NO_POLICY))


def _seal(line: bytes, key: bytes) -> str:
    return hmac.digest(key, line, "sha256").hex()


def _standing_for(head: Head) -> Entry | None:
    """Return an entry to read on from, of which only the head is known."""
    if head.index < 0:
        return None
    return Entry(
        Index(head.index),
        b"",
        head.hash,
        EntryKind.OPENED,
        FIRST_INCARNATION,
        _EPOCH,
        0,
    )
