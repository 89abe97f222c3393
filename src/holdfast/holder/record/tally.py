"""Counts what happens in one session, and keeps the numbers for its next holder.

A number that follows from the logbook is counted when the book has caught up, after the
echo; what is rare is written at once. Counting never fails: where the file cannot be
written, the numbers stay in memory and are written with the next.
"""

import contextlib
import time

from holdfast.core.book.logbook import Entry
from holdfast.core.telemetry.session_counts import SessionCounts
from holdfast.linux.stored.count_files import CountFile, add_own
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId


class SessionTally:
    """The numbers of one session, in memory until it is said of which."""

    def __init__(self) -> None:
        self._file: CountFile | None = None
        self._session: SessionId | None = None
        self.counts = SessionCounts()

    def open(self, session: SessionId) -> None:
        """Count on where the last holder of a session has left off, in its file."""
        with contextlib.suppress(HoldfastError):
            self._file, self._session = CountFile(session), session
            self.counts = SessionCounts.from_bytes(self._file.read())

    def count(self, name: str, *labels: str, amount: int = 1) -> None:
        """Count something rare, and write it down."""
        self.counts.add(name, *labels, amount=amount)
        self.keep()

    def took(self, name: str, seconds: float) -> None:
        """Count how long something rare took, and write it down."""
        self.counts.observe(name, seconds)
        self.keep()

    def restored(self, begun_at: float) -> None:
        """Count how long a restore took that was begun then; 0 if none was."""
        if begun_at:
            self.took("holdfast_restore_seconds", time.monotonic() - begun_at)

    def stored(self, entry: Entry) -> None:
        """Count an entry of the logbook; `keep` follows."""
        self.counts.stored(entry)

    def keep(self) -> None:
        """Write the numbers down, if there are new ones."""
        if self._file is not None and self.counts.is_changed:
            raw = self.counts.to_bytes()
            try:
                self._file.write(raw)
            except OSError:
                self.counts.is_changed = True

    def end(self) -> None:
        """Add the numbers to those of ended sessions: nobody counts here any more."""
        self.keep()
        with contextlib.suppress(HoldfastError, OSError):
            if self._file is not None and self._session is not None:
                self._file.close()
                add_own(self._session)
        self._file = None
