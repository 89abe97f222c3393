"""Stops what a session runs: freezes, thaws, interrupts and ends it."""

import os
import signal
from contextlib import suppress

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.writer import Writer
from holdfast.holder.moment import now
from holdfast.holder.processes.freezer import Freezer
from holdfast.linux import pty
from holdfast.linux.freezer import Missed
from holdfast.model.errors import FreezeIncomplete, ThawIncomplete
from holdfast.model.events import EventName
from holdfast.model.ids import ActorId
from holdfast.wire import company as parties
from holdfast.wire import messages as wire
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read


class Interventions:
    """What operators do to all that runs in one session."""

    def __init__(
        self, context: Context, driver: IntakeDriver, writer: Writer, freezer: Freezer
    ) -> None:
        self._vaulted = context.vaulted
        self._company = context.company
        self._changed = context.changed
        self._driver = driver
        self._writer = writer
        self._freezer = freezer

    def freeze(self, actor: ActorId) -> None:
        """Have everything stand still.

        Raises:
            FreezeIncomplete: It does, but for some processes.

        """
        # First nothing more is written, then everything stands still.
        self._freezer.prepare()
        self._writer.book()
        at = now()
        self._driver.do(self._driver.intake.freeze(actor, at), at)
        frozen = self._freezer.freeze()
        self._changed()
        self._company.announce(wire.State("frozen", self._vaulted.incarnation))
        self._tell_missed(EventName.FREEZE_MISSED, frozen.missed)
        if frozen.missed:
            first = frozen.missed[0]
            raise FreezeIncomplete(len(frozen.missed), first.pid, first.why)

    def thaw(self, actor: ActorId) -> None:
        """Have everything go on.

        Raises:
            ThawIncomplete: It does not, and is still held.

        """
        thawed = self._freezer.thaw()
        if thawed.is_held:
            raise ThawIncomplete
        at = now()
        self._driver.do(self._driver.intake.thaw(actor, at), at)
        self._changed()
        self._company.announce(wire.State("running", self._vaulted.incarnation))
        self._tell_missed(EventName.THAW_MISSED, thawed.missed)

    def interrupt(self, actor: ActorId) -> None:
        """Interrupt what runs in the foreground."""
        group = pty.foreground(self._vaulted.master)
        if group is not None:
            fields: dict[str, Value] = {"by": actor, "group": group}
            self._driver.record(EntryKind.INTERRUPTED, fields)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)

    def end(self, actor: ActorId, number: int) -> None:
        """Put on record that somebody ends the session, and let it hear of that."""
        if self._driver.intake.is_frozen:
            with suppress(ThawIncomplete):  # Also what is held can be killed.
                self.thaw(actor)  # What stands still ignores signals.
        self._driver.record(EntryKind.ENDING, {"by": actor, "signal": number})

    def _tell_missed(self, name: EventName, missed: tuple[Missed, ...]) -> None:
        for one in missed[: parties.MAX_JOBS]:
            fields: dict[str, str | int] = {"pid": one.pid, "why": one.why}
            self._company.announce(wire.Event(name, self._vaulted.session, fields))
