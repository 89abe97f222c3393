"""The tamper-evident record of what happened in a session.

Theory of operation
-------------------
A logbook is a text file: one JSON object a line, written in exactly one way.
Every line holds the SHA-256 of the line before it, and the first one a hash of
the session's id, so a line cannot be edited, removed, inserted or moved without
breaking every line after it. What breaks nothing is cutting the tail. Against
that, the host signs *heads* (index and hash of the last line) and hands them to
operators as *receipts*: a log that ends before a receipt, or says something
else at its index, contradicts the host's own signature.

Lines are hashed as they were read, never as they would be written again; but a
line that is not written in the one way is refused too, so that two readers
cannot see different things in it.

An entry is drafted, stored by the process around us, and only then committed:
a draft the disk refused leaves no hole.

Invariants, each checked by tests/core/book/test_logbook_properties.py:

I1  Indices start at 0 and have no gaps; incarnations and epochs never go down.
I2  Any edit, insertion, removal, move or duplication of a line is detected.
I3  Given a receipt, any log that does not contain its head is detected.
I4  A receipt verifies only with the signature of the host over that very head.
"""

import enum
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from holdfast.model.errors import LogbookWithheld, LogTampered, MalformedMessage
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.wire.lines import Record, Value, decode_line, encode_line

MAX_LINE = 128 * 1024
"""Bytes in a line: the largest input in base64, and room for its names."""

_GENESIS = b"holdfast logbook 1\n"
_HEAD = b"holdfast head 1\n"
_HASH = re.compile("[0-9a-f]{64}")
_FIXED = ("index", "prev", "session", "incarnation", "epoch", "at", "kind")


class EntryKind(enum.StrEnum):
    """What an entry tells of. Words are never reused."""

    OPENED = "opened"
    ATTACHED = "attached"
    DETACHED = "detached"
    INPUT = "input"
    REFUSED = "refused"
    DECLINED = "declined"
    INTENDED = "intended"
    SETTLED = "settled"
    SIGNED = "signed"
    TURN = "turn"
    ASKED = "asked"
    ANSWERED = "answered"
    GRANTED = "granted"
    REVOKED = "revoked"
    FENCED = "fenced"
    UNFENCED = "unfenced"
    FROZEN = "frozen"
    THAWED = "thawed"
    INTERRUPTED = "interrupted"
    RESUMED = "resumed"
    RECOVERED = "recovered"
    BEGAN = "began"
    FINISHED = "finished"
    OBSERVED = "observed"
    EXEC = "exec"
    CHANGED = "changed"
    ENDING = "ending"
    SWEPT = "swept"
    EXITED = "exited"
    UNBOUND = "unbound"
    LIMITED = "limited"
    IMAGED = "imaged"
    STOPPED = "stopped"
    FORKED = "forked"
    CHECKPOINT = "checkpoint"
    # In the book of a host, not in one of a session (core.book.host_book):
    APPLIED = "applied"
    TAMPERED = "tampered"
    ENROLLED = "enrolled"
    JOINED = "joined"
    FORGOTTEN = "forgotten"
    ROTATED = "rotated"
    INVITED = "invited"
    ACCEPTED = "accepted"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"
    FILES = "files"
    STEPPED = "stepped"
    ARRIVED = "arrived"
    DEPARTED = "departed"


_KINDS = {kind.value: kind for kind in EntryKind}


class Head(msgspec.Struct, frozen=True):
    """The end of a logbook: which line is last, and its hash."""

    session: SessionId
    index: int
    hash: bytes

    def signed_bytes(self, incarnation: Incarnation) -> bytes:
        """Return what a host signs to vouch for this head, in that life."""
        parts = (self.session, incarnation, self.index, self.hash.hex())
        return _HEAD + "".join(f"{part}\n" for part in parts).encode()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A head with the host's signature, for an operator to keep."""

    head: Head
    incarnation: Incarnation
    """The life in which the entry at the head was written."""

    signature: bytes


class Entry(msgspec.Struct, frozen=True, eq=False):
    """One line of a logbook, as bytes and as what they say."""

    index: Index
    line: bytes
    known_hash: bytes
    """Hash of the line; computed when needed, since a key must not wait for it."""

    kind: EntryKind
    incarnation: Incarnation
    epoch: Epoch
    at_wall_ms: int
    fields: Mapping[str, Value] = {}
    """What the kind of entry adds; an entry that was read has them all here."""

    @property
    def hash(self) -> bytes:
        """The hash of the line."""
        if not self.known_hash:
            digest = hashlib.sha256(self.line).digest()
            msgspec.structs.force_setattr(self, "known_hash", digest)
        return self.known_hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entry):
            return NotImplemented
        return self._parts() == other._parts()

    def __ne__(self, other: object) -> bool:
        return not self == other  # A struct has one of its own, which knows no parts.

    def __hash__(self) -> int:
        return hash(self.line)

    def _parts(self) -> tuple[object, ...]:
        said = (self.kind, self.incarnation, self.epoch, self.at_wall_ms, self.fields)
        return (self.index, self.line, self.hash, *said)

    @property
    def actor(self) -> ActorId:
        """Whose entry it is, if it is of a kind that says so."""
        return ActorId(str(self.fields["actor"]))

    @property
    def client(self) -> ClientId:
        """By which client it came, if it is of a kind that says so."""
        return ClientId(str(self.fields["client"]))

    def number(self, name: str) -> int:
        """Return a member that is a number in every entry of its kind."""
        value = self.fields[name]
        assert isinstance(value, int), f"{name} is a number in every entry"  # noqa: S101
        return value


@dataclass(frozen=True, slots=True)
class Anchor:
    """The entry before those that are read, as far as the chain needs it."""

    index: int
    hash: bytes
    incarnation: int = 0
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Verified:
    """A logbook that holds together: how many entries, and where it ends."""

    count: int
    head: Head


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a logbook file still holds after a crash."""

    entries: tuple[Entry, ...]
    torn: int
    """Bytes after the last whole entry, to be cut off before writing goes on."""


CheckSignature = Callable[[bytes, bytes], bool]
"""Tells whether (message, signature) is the host's."""


def genesis(session: SessionId) -> Head:
    """Return the head of a logbook that has no entry yet."""
    digest = hashlib.sha256(_GENESIS + session.encode()).digest()
    return Head(session, -1, digest)


class Logbook:
    """The writing side of one session's logbook."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._last: Entry | None = None

    @property
    def head(self) -> Head:
        """The last committed entry."""
        if self._last is not None:
            last, self._last = self._last, None
            self._head = Head(self._head.session, last.index, last.hash)
        return self._head

    @property
    def next_index(self) -> Index:
        """Where the next entry will stand."""
        last = self._head if self._last is None else self._last
        return Index(last.index + 1)

    def draft(
        self,
        kind: EntryKind,
        fields: Mapping[str, Value],
        incarnation: Incarnation,
        epoch: Epoch,
        at_wall_ms: int,
    ) -> Entry:
        """Write the next entry down, without making it part of the book yet."""
        head, index = self.head, self.next_index
        line = encode_line(
            {
                "index": index,
                "prev": head.hash.hex(),
                "session": head.session,
                "incarnation": incarnation,
                "epoch": epoch,
                "at": at_wall_ms,
                "kind": str(kind),
                **fields,
            }
        )
        return Entry(index, line, b"", kind, incarnation, epoch, at_wall_ms, fields)

    def commit(self, entry: Entry) -> None:
        """Make a stored draft the head."""
        assert entry.index == self.next_index, "entries are committed in order"  # noqa: S101
        self._last = entry


def read_entries(
    lines: Iterable[bytes], session: SessionId, after: Entry | Anchor | None = None
) -> Iterable[Entry]:
    """Yield the entries of `lines`, each checked against the one before.

    With `after` the lines are those that follow an entry already read, or one that
    the first of them says it follows (`anchor_of`).

    Raises:
        PeerError: A line is not what the chain says it must be.

    """
    head = genesis(session)
    incarnation = epoch = 0
    if after is not None:
        head = Head(session, after.index, after.hash)
        incarnation, epoch = after.incarnation, after.epoch
    for line in lines:
        entry = _read(line, head)
        if entry.incarnation < incarnation or entry.epoch < epoch:
            raise LogTampered(entry.index, "incarnation or epoch goes down")
        incarnation, epoch = entry.incarnation, entry.epoch
        head = Head(session, entry.index, entry.hash)
        yield entry


def verify(
    lines: Iterable[bytes],
    session: SessionId,
    receipts: Iterable[Receipt] = (),
    is_signed_by_host: CheckSignature | None = None,
) -> Verified:
    """Check a whole logbook, and that it honours every receipt.

    Raises:
        PeerError: The chain is broken, or a receipt is not the host's.
        Forbidden: The log does not hold what a receipt proves it held.

    """
    wanted: set[tuple[Head, Incarnation]] = set()
    for receipt in receipts:
        _check_receipt(receipt, session, is_signed_by_host)
        if receipt.head != genesis(session):  # Every book begins with that.
            wanted.add((receipt.head, receipt.incarnation))
    head = genesis(session)
    for entry in read_entries(lines, session):
        head = Head(session, entry.index, entry.hash)
        wanted.discard((head, entry.incarnation))
    if wanted:
        # Two heads for one index are both wanted, and cannot both be here.
        raise LogbookWithheld(min(missing.index for missing, _ in wanted))
    return Verified(head.index + 1, head)


def can_be_read(line: bytes) -> bool:
    """Tell whether a line is whole; one that is not is what a crash left."""
    try:
        decode_line(line)
    except MalformedMessage:
        return False
    return True


def anchor_of(line: bytes, session: SessionId) -> Anchor | None:
    """Return what the entry of `line` says that it follows; None if it is none.

    Only a reader of everything before it can tell whether that is so.
    """
    try:
        record = decode_line(line)
    except MalformedMessage:
        return None
    index, prev = record.get("index"), str(record.get("prev"))
    if type(index) is not int or not _HASH.fullmatch(prev):
        return None
    if record.get("session") != session:
        return None
    return Anchor(index - 1, bytes.fromhex(prev))


def recover(raw: bytes, session: SessionId, after: Anchor | None = None) -> Recovered:
    """Read a logbook's end after a crash: all whole entries, and what is torn.

    Only the last line may be torn. Damage before it is no crash. With `after` the
    bytes are those that follow that entry.

    Raises:
        PeerError: The file is damaged before its last line.

    """
    *lines, rest = raw.split(b"\n")
    entries: list[Entry] = []
    try:
        for entry in read_entries(lines, session, after):
            entries.append(entry)  # noqa: PERF402  # kept when a later line fails
    except LogTampered:
        # A line that can be read is whole: what it does not follow was changed.
        if rest or len(entries) < len(lines) - 1 or can_be_read(lines[-1]):
            raise
        rest = lines[-1] + b"\n"
    return Recovered(tuple(entries), len(rest))


def _check_receipt(
    receipt: Receipt, session: SessionId, is_signed_by_host: CheckSignature | None
) -> None:
    index = receipt.head.index
    if receipt.head.session != session:
        raise LogTampered(index, "the receipt is for another session")
    if is_signed_by_host is None:
        raise LogTampered(index, "there is no host key to check the receipt with")
    statement = receipt.head.signed_bytes(receipt.incarnation)
    if not is_signed_by_host(statement, receipt.signature):
        raise LogTampered(index, "the receipt is not signed by the host")


def _read(line: bytes, head: Head) -> Entry:
    index = head.index + 1
    if len(line) > MAX_LINE:
        raise LogTampered(index, f"the line is over {MAX_LINE} bytes")
    try:
        record = decode_line(line)
    except MalformedMessage as error:
        raise LogTampered(index, str(error)) from None
    return _entry(record, line, head)


def _entry(record: Record, line: bytes, head: Head) -> Entry:
    index = head.index + 1
    if tuple(record)[: len(_FIXED)] != _FIXED:
        raise LogTampered(index, "the line is not an entry")
    said, prev, session, incarnation, epoch, at, word = tuple(record.values())[:7]
    if session != head.session:
        raise LogTampered(index, "the entry is of another session")
    if type(said) is not int or said != index:
        raise LogTampered(index, f"the entry says it is {said!r}")
    if prev != head.hash.hex():
        raise LogTampered(index, "it does not follow the entry before it")
    kind = _KINDS.get(word) if isinstance(word, str) else None
    if kind is None:
        raise LogTampered(index, f"there is no kind {word!r}")
    if type(incarnation) is not int or type(epoch) is not int or type(at) is not int:
        raise LogTampered(index, "a number is invalid")
    return Entry(
        Index(index),
        line,
        hashlib.sha256(line).digest(),
        kind,
        Incarnation(incarnation),
        Epoch(epoch),
        at,
        record,
    )
