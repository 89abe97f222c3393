"""The host's signatures over the logbook: receipts, and the newest head.

A signature is made once an entry is durable, off the path of the echo: for every
command, for keys at most once per INTERVAL, and for the end of the logbook INTERVAL
after something was written to it, so that a logbook is vouched for without further
typing. The newest is kept in a file beside the logbook, which is replaced by renaming.
"""

import contextlib
import os
import time

from holdfast.core.book.logbook import Entry, EntryKind, Head
from holdfast.core.book.signed_head import SignedHead, sign_head
from holdfast.crypto.keys import SigningKey
from holdfast.holder.record.log_file import LogFile
from holdfast.holder.timers import Timers
from holdfast.linux.stored import places
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.small_files import replace_file
from holdfast.model.ids import Incarnation, Index, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

INTERVAL = 1.0
"""Seconds between receipts for keys: one for each would cost as much as they do."""

MAX_OPEN = 1024
"""Hashes kept of entries that are not durable yet; more never wait."""


class Receipts:
    """Signs for one session's logbook."""

    def __init__(
        self, session: SessionId, life: Incarnation, log: LogFile, timers: Timers
    ) -> None:
        self._session = session
        self._life = life
        self._log = log
        self._timer = timers.add(self._vouch)
        self._key: SigningKey | None = None
        self._hashes: dict[Index, tuple[bytes, bool]] = {}
        self._next_at = 0.0
        self._newest: Head | None = None

    def stored(self, entry: Entry) -> None:
        """Note that an entry is in the file: soon its head is vouched for as well."""
        if self._newest is None:
            self._timer.set(time.monotonic() + INTERVAL)
        self._newest = Head(self._session, entry.index, entry.hash)
        if entry.kind is EntryKind.INPUT:
            is_command = entry.fields["input"] == InputKind.COMMAND
            self._hashes[entry.index] = (entry.hash, is_command)
            if len(self._hashes) > MAX_OPEN:
                del self._hashes[next(iter(self._hashes))]

    def _vouch(self, _now: float) -> None:
        """Vouch for the end of the book, once it has been as it is for a moment.

        Only what is durable is vouched for: after a crash a signed head whose entries
        are gone would look like a book that was cut.
        """
        newest, self._newest = self._newest, None
        if newest is not None:
            with contextlib.suppress(OSError):
                self._log.sync()
                self._sign(newest)

    def receipt(self, index: Index) -> wire.Receipt | None:
        """Vouch for the entry at `index`, which is durable, if it is time to."""
        digest, is_command = self._hashes.pop(index, (b"", False))
        now = time.monotonic()
        if not digest or not (is_command or now >= self._next_at):
            return None
        self._next_at = now + INTERVAL
        signed = self._sign(Head(self._session, index, digest))
        return None if signed is None else _told(signed)

    def _sign(self, head: Head) -> SignedHead | None:
        # Without a key, or a disk for it, nothing is vouched for; inputs go on.
        with contextlib.suppress(OSError):
            if self._key is None:
                self._key = SigningKey.from_seed(host_seed())
            signed = sign_head(head, self._life, self._key)
            path = os.fspath(places.session_head(self._session))
            replace_file(path, signed.to_line() + b"\n", is_durable=False)
            return signed
        return None


def _told(signed: SignedHead) -> wire.Receipt:
    return wire.Receipt(signed.receipt.head.hash, signed.receipt.signature)
