"""The session's logbook: what is written to it, made durable and vouched for.

What was typed is echoed first, because a sync takes as long as several echoes. So an
entry is written at once, and everything else about it comes later: when nothing else
is to be done after the echo, or after SYNC_PATIENCE. Entries that wait for the disk
are acknowledged together.
"""

from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input import serializer
from holdfast.core.input.intake_effects import Effect
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.links.connection import Connection
from holdfast.holder.moment import now
from holdfast.holder.record.book_recovery import Past
from holdfast.holder.record.checkpoints import SOON, Checkpoints
from holdfast.holder.record.log_file import LogFile
from holdfast.holder.record.receipts import Receipts
from holdfast.holder.record.signatures import Signatures
from holdfast.model.ids import Index  # noqa: TC001  # an annotation people read
from holdfast.model.moments import Moment
from holdfast.wire.signatures import Sign

SYNC_PATIENCE = 0.002
"""Seconds the disk may be put off. Nobody waits longer for an answer."""


class Book:
    """The logbook of one session, and what is left to do about it."""

    def __init__(
        self, context: Context, log: LogFile, past: Past, driver: IntakeDriver
    ) -> None:
        session, timers = context.descriptors.session, context.timers
        self.receipts = Receipts(session, context.descriptors.incarnation, log, timers)
        self._signatures = Signatures(past)
        driver.intake.serializer.signed_by = self._signatures.signed_by
        self._driver = driver
        self._shell = context.shell
        self._tally = context.tally
        self.log = log
        self.ahead: bytes | None = None
        """The line of the next entry, if that is in the file already."""

        self._timers = timers
        self._timer = timers.add(self._tick)
        self._checkpoints = Checkpoints(log.path, session, past)
        self._checkpoint_timer = timers.add(self._checkpoint)
        if self._checkpoints.is_full:
            self._checkpoint_timer.set(0.0)
        self._fresh: list[Entry] = []
        self._wanted: Index | None = None
        self.awaits_echo = False
        """Whether what was typed last has not been echoed yet."""

        driver.performers[Store] = self.store
        driver.performers[serializer.Sync] = self.want

    @property
    def is_behind(self) -> bool:
        """Whether something waits for the disk."""
        return self._wanted is not None

    def store(self, effect: Store, at: Moment) -> list[Effect]:
        """Write an entry."""
        entry = effect.entry
        try:
            if self.ahead is None:
                self.log.append(entry.line)
            else:
                line, self.ahead = self.ahead, None
                assert line == entry.line, "it was foreseen otherwise"  # noqa: S101
        except OSError as error:
            why = error.strerror or str(error)
            return self._driver.intake.store_failed(why, at)
        if not self._fresh:
            self._timer.set(at.now + SYNC_PATIENCE)
        self._fresh.append(entry)
        return self._driver.intake.stored(at)

    def want(self, effect: serializer.Sync, at: Moment) -> None:
        """Sync everything up to an entry soon."""
        if self._wanted is None:
            self._wanted = effect.index
            if self._timer.due > at.now + SYNC_PATIENCE:
                self._timer.set(at.now + SYNC_PATIENCE)
        elif effect.index > self._wanted:
            self._wanted = effect.index
        if not self.awaits_echo:
            self._timers.when_idle = self.sync

    def echoed(self) -> None:
        """Note that what was typed has been shown: now it may be made durable."""
        self.awaits_echo = False
        if self._wanted is not None:
            self._timers.when_idle = self.sync

    def sync(self) -> None:
        """Make durable what waits for it, and acknowledge it."""
        self._timers.when_idle = None
        self._timer.set(None)
        if self._fresh:
            self._catch_up()
        while self._wanted is not None:
            index, self._wanted = self._wanted, None
            at = now()
            intake = self._driver.intake
            try:
                self.log.sync()
            except OSError as error:
                self._driver.do(intake.sync_failed(str(error), at), at)
                return
            self._driver.do(intake.synced(index, at), at)
            if self._fresh:
                self._catch_up()

    def sign(self, connection: Connection, said: Sign) -> None:
        """Take what an operator has signed of its inputs.

        Raises:
            Forbidden: It does not fit the book.
            Unavailable: This operator has signed too much of late.

        """
        self._catch_up()
        kept = self._signatures.take(connection, said)
        if kept is not None:
            self._driver.record(EntryKind.SIGNED, kept)

    def hurry_checkpoint(self, at: float) -> None:
        """Write a checkpoint, if a successor would notice that there is none."""
        self._catch_up()
        self._checkpoints.hurry()
        self._checkpoint(at)

    def _catch_up(self) -> None:
        """Do what is to be done for the entries that were written last."""
        fresh, self._fresh = self._fresh, []
        for entry in fresh:
            self.receipts.stored(entry)
            self._signatures.stored(entry)
            self._tally.stored(entry)
            if entry.kind is EntryKind.SIGNED:
                self.want(serializer.Sync(entry.index), now())
            if self._checkpoints.stored(len(entry.line)):
                is_overdue = self._checkpoints.is_due(is_idle=False)
                self._checkpoint_timer.set(0.0 if is_overdue else now().now + SOON)
        self._tally.keep()

    def _checkpoint(self, at: float) -> None:
        """Write down what a successor need not read: nothing was written for long."""
        self._catch_up()
        if not self._checkpoints.is_full:
            return
        if not self._driver.intake.book.is_idle:
            self._checkpoint_timer.set(at + SOON)
            return
        hands = self._shell.line.stands().by
        made = self._checkpoints.make(self.log, self._shell.last, hands)
        if made is not None:
            self._driver.record(EntryKind.CHECKPOINT, made)

    def _tick(self, _now: float) -> None:
        if self._wanted is not None:
            self.sync()
        else:
            self._catch_up()
