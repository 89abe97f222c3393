"""When and where checkpoints are written, which spare a successor reading everything.

After a number of entries or bytes, at a moment when nobody waits for anything; if no
such moment comes, anyway. Two files are used in turn, so that a process killed while it
writes one leaves the other, and a full disk leaves both.
"""

from collections.abc import Iterable
from typing import Final

from holdfast.core.book.checkpoint import Account, checkpoint_fields, read_checkpoint
from holdfast.core.book.log_scan import scan
from holdfast.core.book.logbook import Anchor, anchor_of, genesis
from holdfast.core.provenance.commands import Command
from holdfast.holder.record.book_recovery import Past, read_state, state_path
from holdfast.holder.record.log_file import LogFile
from holdfast.linux.stored.small_files import replace_file
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.lines import Value

EVERY: Final = 1024
"""Entries between two: reading so many takes some hundredths of a second."""

EVERY_BYTES: Final = 512 * 1024
"""Bytes between two, where entries are large."""

WORTH: Final = 64
"""Entries that a successor in a hurry is spared."""

SOON: Final = 0.05
"""Seconds without an entry that count as such a moment."""

OVERDUE: Final = 4
"""Times as much after which it is done although a client is waiting."""


class Checkpoints:
    """The checkpoints of one session's book."""

    def __init__(self, path: str, session: SessionId, past: Past) -> None:
        self._path = path
        self._session = session
        self._place = past.place
        self._raw = b"" if past.checkpoint is None else past.checkpoint.to_bytes()
        kept = [read_state(path, slot) for slot in (0, 1)]
        self._slot = _older(kept, session)
        self._entries = len(past.fresh)
        self._bytes = 0
        if self._raw and self._raw not in kept:
            self._entries = EVERY  # All of it was read; nobody need do so again.
        self.is_full = self.is_due(is_idle=True)
        """Whether it is time for the next, if nobody waits."""

    def stored(self, size: int) -> bool:
        """Note that an entry of so many bytes is in the book; return `is_full`."""
        self._entries += 1
        self._bytes += size
        if self._entries >= EVERY or self._bytes >= EVERY_BYTES:
            self.is_full = True
        return self.is_full

    def hurry(self) -> None:
        """Make the next one at once, if a successor would notice."""
        if self._entries >= WORTH:
            self._entries = max(self._entries, EVERY)
            self.is_full = True

    def is_due(self, *, is_idle: bool) -> bool:
        """Tell whether it is time for the next."""
        times = 1 if is_idle else OVERDUE
        return self._entries >= EVERY * times or self._bytes >= EVERY_BYTES * times

    def make(
        self, log: LogFile, running: Command | None, line: Iterable[ActorId]
    ) -> dict[str, Value] | None:
        """Write the next one down; return what the book says of it.

        `line` is who has a hand in the unsubmitted input.

        All entries must be in the file. None if the disk refuses: the book goes on,
        and another attempt comes after as many entries.
        """
        past = read_checkpoint(self._raw, self._session) if self._raw else None
        account = Account(self._session, past)
        lines = log.read_from(self._place).split(b"\n")[:-1]
        for entry in scan(lines, self._session, self._before(lines)):
            account.read(entry)
        raw = account.checkpoint(running, line).to_bytes()
        self._entries = self._bytes = 0
        self.is_full = False
        try:
            path = state_path(self._path, self._slot)
            replace_file(path, raw, is_durable=False)
        except OSError:
            return None
        self._slot = 1 - self._slot
        self._raw, self._place = raw, log.end
        return checkpoint_fields(raw)

    def _before(self, lines: list[bytes]) -> Anchor:
        begin = genesis(self._session)
        found = anchor_of(lines[0], self._session) if self._place else None
        return found or Anchor(begin.index, begin.hash)


def _older(kept: list[bytes], session: SessionId) -> int:
    """Return which of two files may be written over."""
    through = []
    for raw in kept:
        try:
            through.append(read_checkpoint(raw, session).through)
        except HoldfastError:
            through.append(-1)
    return 0 if through[0] <= through[1] else 1
