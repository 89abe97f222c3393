"""The order in which entries are written, and what happens if the disk refuses.

Theory of operation
-------------------
Records wait in line. The first is drafted and handed out to be stored; when it
is in the file it is committed, and the next is drafted. So an entry is chained
only to what is really there, and a refused one leaves no hole.

When the disk refuses, inputs in line are given up: what cannot be logged does
not happen. Everything else has happened already (a seize, a departure) and is
kept until the disk takes it; while anything is kept that way, the log is behind
and no input is accepted.

Invariants, checked by tests/core/book/test_log_writer.py:

I1  Entries are committed in the order they were recorded.
I2  A record other than an input, a refusal or a checkpoint is never given up.
"""

from collections import deque
from collections.abc import Mapping

import msgspec

from holdfast.core.book.logbook import Entry, EntryKind, Head, Logbook
from holdfast.model.ids import Epoch, Incarnation, Index
from holdfast.model.moments import Moment
from holdfast.wire.lines import Value

STORE_RETRY = 1.0
"""Seconds between attempts to write what must not be lost."""

MAX_BEHIND = 1024
"""Records in line beyond which refusals are no longer put in it."""

_REFUSALS = frozenset({EntryKind.REFUSED, EntryKind.DECLINED})


class Store(msgspec.Struct, frozen=True):
    """Append an entry's line to the logbook file."""

    entry: Entry


class _Record(msgspec.Struct, frozen=True):
    kind: EntryKind
    fields: Mapping[str, Value]
    epoch: Epoch
    at_wall_ms: int


class LogWriter:
    """The queue of entries before one logbook."""

    def __init__(self, logbook: Logbook, incarnation: Incarnation) -> None:
        self._logbook = logbook
        self._incarnation = incarnation
        self._records: deque[_Record] = deque()
        self._draft: Entry | None = None
        self.retry_at: float | None = None
        """When to call `tick`: the disk has refused something."""

    @property
    def is_behind(self) -> bool:
        """Whether something happened that the disk has refused so far."""
        return self.retry_at is not None

    @property
    def is_idle(self) -> bool:
        """Whether everything that was recorded is in the book."""
        return not self._records

    @property
    def head(self) -> Head:
        """Where the book ends."""
        return self._logbook.head

    @property
    def next_index(self) -> Index:
        """The index that the next record will have."""
        return Index(self._logbook.next_index + len(self._records))

    def record(
        self, kind: EntryKind, fields: Mapping[str, Value], epoch: Epoch, at: Moment
    ) -> list[Store]:
        """Put a record in line.

        A refusal has been reported to its operator. While the disk refuses
        too, only MAX_BEHIND records wait for it, or a flood would fill memory.
        """
        if kind in _REFUSALS and len(self._records) >= MAX_BEHIND:
            return []
        self._records.append(_Record(kind, fields, epoch, round(at.wall * 1000)))
        return self._store_next()

    def foresee(
        self, kind: EntryKind, fields: Mapping[str, Value], epoch: Epoch
    ) -> bytes:
        """Return the line of the next record, as if it were of the time 0."""
        return self._logbook.draft(kind, fields, self._incarnation, epoch, 0).line

    def stored(self) -> tuple[Entry, list[Store]]:
        """Commit the draft: it is in the file. Return it, and what comes next."""
        assert self._draft is not None, "nothing was to be stored"  # noqa: S101
        entry, self._draft = self._draft, None
        self._logbook.commit(entry)
        self._records.popleft()
        return entry, self._store_next() if self._records else []

    def withdraw_input(self, index: Index) -> bool:
        """Take back the input recorded for `index`, if its line is not out yet.

        If it is out, the book must say what became of it: return False.
        """
        if self._draft is not None and self._draft.index == index:
            return False
        self._give_up(EntryKind.INPUT)
        return True

    def store_failed(self, now: float) -> None:
        """Give up the inputs in line; keep the rest, and try again later."""
        assert self._draft is not None, "nothing was to be stored"  # noqa: S101
        given_up, self._draft = self._draft, None
        self._give_up(EntryKind.INPUT, EntryKind.CHECKPOINT)
        if given_up.kind is EntryKind.INPUT:
            self._forget_settlement(given_up.index)
        self.retry_at = now + STORE_RETRY if self._records else None

    def tick(self, now: float) -> list[Store]:
        """Try again when it is time."""
        if self.retry_at is None or now < self.retry_at:
            return []
        self.retry_at = None
        return self._store_next()

    def _give_up(self, *kinds: EntryKind) -> None:
        # The one whose line is out stays first in line until the disk answers. A
        # checkpoint speaks of the book as it was; the next one will do.
        out = 0 if self._draft is None else 1
        self._records = deque(
            record
            for place, record in enumerate(self._records)
            if place < out or record.kind not in kinds
        )

    def _forget_settlement(self, index: Index) -> None:
        # What became of it need not be told if it never got into the book, and
        # must not: something else will stand at its index.
        self._records = deque(
            record
            for record in self._records
            if record.kind is not EntryKind.SETTLED or record.fields["of"] != index
        )

    def _store_next(self) -> list[Store]:
        if self._draft is not None or not self._records or self.retry_at is not None:
            return []
        first = self._records[0]
        self._draft = self._logbook.draft(
            first.kind, first.fields, self._incarnation, first.epoch, first.at_wall_ms
        )
        return [Store(self._draft)]
