"""A logbook as it is after months of typing, made in seconds.

Lines are written as a holder writes them, one key each, chained to the book that a
session has; then a checkpoint as a holder makes one, if there is to be any.
"""

import hashlib
import os
from pathlib import Path

from holdfast.core.book.checkpoint import Account, checkpoint_fields
from holdfast.core.book.log_scan import scan
from holdfast.core.book.logbook import (
    Anchor,
    Entry,
    EntryKind,
    Head,
    Logbook,
    genesis,
    read_entries,
)
from holdfast.holder.record.book_recovery import state_path
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import PART_BYTES, BookParts, part_path
from holdfast.model.ids import Epoch, Incarnation, SessionId
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read

CLIENT = "c_" + "z" * 16
LEFT = 600
"""Entries after the checkpoint: half of what a holder lets pass."""


def lengthen(session: SessionId, count: int, *, checkpoint: bool = True) -> int:
    """Add `count` keys to the book of a session whose holder is idle.

    The new parts are beside the book, and whoever takes the session up next reads
    them. Return how many entries the book has then.
    """
    path = places.session_log(session)
    head, known = _read(path, session)
    actor = next(str(one.fields["actor"]) for one in known if "actor" in one.fields)
    account = Account(session)
    for entry in known:
        account.read(entry)
    parts = _Parts(path)
    for number in range(count):
        if checkpoint and number == count - LEFT:
            head = _checkpoint(path, account, head, parts)
        head = _key(head, number, actor, known[-1].epoch, parts, account)
    last: dict[str, Value] = {"of": head.index, "as": "applied"}
    epoch = known[-1].epoch
    entry = Logbook(head).draft(EntryKind.SETTLED, last, Incarnation(1), epoch, 0)
    parts.add(entry.line)
    parts.close()
    return entry.index + 1


def _read(path: Path, session: SessionId) -> tuple[Head, list[Entry]]:
    book = BookParts(path)
    raw = book.read(book.length(), 0)
    book.close()
    known = list(read_entries(raw.split(b"\n")[:-1], session))
    return Head(session, known[-1].index, known[-1].hash), known


def _key(
    head: Head,
    number: int,
    actor: str,
    epoch: Epoch,
    parts: "_Parts",
    account: Account,
) -> Head:
    line = (
        f'{{"index":{head.index + 1},"prev":"{head.hash.hex()}"'
        f',"session":"{head.session}","incarnation":1,"epoch":{epoch}'
        f',"at":{1_800_000_000_000 + number * 200},"kind":"input","actor":"{actor}"'
        f',"actor_kind":"human","client":"{CLIENT}","sequence":{number + 1}'
        f',"input":"keys","size":1,"seen":{number},"verdict":"allow"'
        f',"rule":"default-human","approver":null,"policy":null,"data":"eA=="}}'
    ).encode()
    parts.add(line)
    after = Anchor(head.index, head.hash)
    for entry in scan([line], head.session, after):
        account.read(entry)
    return Head(head.session, head.index + 1, hashlib.sha256(line).digest())


def _checkpoint(path: Path, account: Account, head: Head, parts: "_Parts") -> Head:
    raw = account.checkpoint().to_bytes()
    Path(state_path(os.fspath(path), 0)).write_bytes(raw)
    made = Logbook(head).draft(
        EntryKind.CHECKPOINT,
        checkpoint_fields(raw),
        Incarnation(1),
        account.standing.epoch,
        1_800_000_000_000,
    )
    parts.add(made.line)
    account.read(made)
    return Head(head.session, made.index, made.hash)


class _Parts:
    """Parts that come after those of a book."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        self._number = 1
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, line: bytes) -> None:
        """Write a line."""
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size >= PART_BYTES:
            self._end()

    def close(self) -> None:
        """Write what is left."""
        self._end()

    def _end(self) -> None:
        raw = b"".join(line + b"\n" for line in self._lines)
        Path(part_path(self._path, self._number)).write_bytes(raw)
        self._number += 1
        self._lines, self._size = [], 0


def book_of(session: SessionId) -> Head:
    """Return the beginning of a session's book."""
    return genesis(session)
