"""Follows a session's logbook while it is being written.

The file is read as it grows, each entry checked against the one before. It may end in
half a line at any moment: a holder is writing, or died doing so. What has no newline
yet is read again later; a whole last line that cannot be read is what a crash leaves,
and is skipped until something follows it.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from holdfast.cli.log_file import head_line, open_log
from holdfast.core.book import logbook
from holdfast.core.book.signed_head import SignedHead
from holdfast.linux.stored import places
from holdfast.model.errors import LogTampered
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import ReadLog

_PIECE = 1 << 20


class LogTail:
    """The reading end of one logbook file."""

    def __init__(self, session: SessionId) -> None:
        self.session = session
        self.torn = 0
        self._file = open_log(session)
        self._offset = 0
        self._last: logbook.Entry | logbook.Anchor | None = None

    def skip(self, wanted: ReadLog) -> int:
        """Start at entry `index`, at the moment `since` or with the `last` entries.

        Return the index of the first entry read. The hash that it says it follows is
        trusted.
        """
        self._offset = self._file.start(wanted)
        line = self._file.read(_PIECE, self._offset).split(b"\n", 1)[0]
        self._last = logbook.anchor_of(line, self.session) if self._offset else None
        return self.head.index + 1

    @property
    def head(self) -> logbook.Head:
        """The last entry read."""
        if self._last is None:
            return logbook.genesis(self.session)
        return logbook.Head(self.session, self._last.index, self._last.hash)

    @property
    def is_gone(self) -> bool:
        """Whether the file was removed: nobody writes to it any more."""
        return self._file.is_gone()

    def read(self) -> list[logbook.Entry]:
        """Return entries added since the last call, at least some of them.

        Raises:
            PeerError: The logbook was tampered with.

        """
        raw = self._file.read(_PIECE, self._offset)
        if not raw and self._file.length() < self._offset:
            raise LogTampered(self.head.index + 1, "the file became shorter")
        *lines, rest = raw.split(b"\n")
        if len(rest) > logbook.MAX_LINE:
            raise LogTampered(
                self.head.index + len(lines) + 1,
                f"the line is over {logbook.MAX_LINE} bytes",
            )
        self.torn = len(rest)
        entries: list[logbook.Entry] = []
        try:
            for entry in logbook.read_entries(lines, self.session, self._last):
                entries.append(entry)
                self._took(entry)
        except LogTampered:
            if not self._may_be_torn(lines, len(entries), rest):
                raise
            self.torn = len(lines[-1]) + 1
        return entries

    def entries(self) -> Iterator[logbook.Entry]:
        """Yield every entry there is now, with few of them in memory at a time.

        Raises:
            PeerError: The logbook was tampered with.

        """
        while fresh := self.read():
            yield from fresh

    def pass_over(self, upto: int | None = None) -> None:
        """Read on, to the end or until the entry with that index.

        Raises:
            PeerError: The logbook was tampered with.

        """
        while (upto is None or self.head.index < upto) and self.read():
            pass

    def close(self) -> None:
        """Stop reading."""
        self._file.close()

    def _took(self, entry: logbook.Entry) -> None:
        self._offset += len(entry.line) + 1
        self._last = entry

    def _may_be_torn(self, lines: list[bytes], good: int, rest: bytes) -> bool:
        if rest or good != len(lines) - 1:
            return False
        with contextlib.suppress(LogTampered):
            # The same check that a holder makes before it continues a logbook.
            return logbook.recover(lines[-1] + b"\n", self.session).torn > 0
        return False


def newest_head(session: SessionId) -> SignedHead | None:
    """Return the signed head that is kept beside a logbook, if there is one.

    Raises:
        PeerError: The file is not a signed head of this session.

    """
    line = head_line(session, logbook.MAX_LINE + 1)
    if line is None:
        return None
    signed = SignedHead.from_line(line)
    index = signed.receipt.head.index
    if signed.receipt.head.session != session:
        raise LogTampered(index, "the signed head belongs to another session")
    if not signed.is_genuine():
        raise LogTampered(index, "the signed head is not signed by its host")
    return signed


def kept_logs() -> list[SessionId]:
    """Return the sessions that have a logbook here, even forgotten ones."""
    return sorted(SessionId(path.stem) for path in _logs())


def _logs() -> list[Path]:
    return list(places.log_dir().glob("s_*.log"))
