"""Stops what a session runs: freezes, thaws, interrupts and ends it."""

import os
import signal
from contextlib import suppress

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.writer import Writer
from holdfast.holder.moment import now
from holdfast.holder.processes.fence import Fence
from holdfast.holder.processes.freezer import Freezer
from holdfast.linux import pty
from holdfast.linux.freezer import Missed
from holdfast.model.errors import FreezeIncomplete, LeaseLost, ThawIncomplete
from holdfast.model.events import EventName
from holdfast.model.ids import ActorId
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.lines import Value  # an annotation people read


class Interventions:
    """What operators do to all that runs in one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        writer: Writer,
        freezer: Freezer,
        fence: Fence | None = None,
    ) -> None:
        self._descriptors = context.descriptors
        self._clients = context.clients
        self._changed = context.changed
        self._driver = driver
        self._writer = writer
        self._freezer = freezer
        self._fence = fence

    def freeze(self, actor: ActorId) -> None:
        """Freeze everything.

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
        self._clients.announce(wire.State("frozen", self._descriptors.incarnation))
        self._tell_missed(EventName.FREEZE_MISSED, frozen.missed)
        if frozen.missed:
            first = frozen.missed[0]
            raise FreezeIncomplete(len(frozen.missed), first.pid, first.why)

    def thaw(self, actor: ActorId) -> None:
        """Thaw everything.

        Raises:
            LeaseLost: It is fenced, and no operator lifts that.
            ThawIncomplete: It does not, and is still held.

        """
        self._demand_lease()
        thawed = self._freezer.thaw()
        if thawed.is_held:
            raise ThawIncomplete
        at = now()
        self._driver.do(self._driver.intake.thaw(actor, at), at)
        self._changed()
        self._clients.announce(wire.State("running", self._descriptors.incarnation))
        self._tell_missed(EventName.THAW_MISSED, thawed.missed)

    def interrupt(self, actor: ActorId) -> None:
        """Interrupt what runs in the foreground."""
        self._demand_lease()
        group = pty.foreground(self._descriptors.master)
        if group is not None:
            fields: dict[str, Value] = {"by": actor, "group": group}
            self._driver.record(EntryKind.INTERRUPTED, fields)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)

    def end(self, actor: ActorId, number: int, **reason: Value) -> None:
        """Record that an operator ends the session, and signal it."""
        if self._driver.intake.is_frozen:
            with suppress(ThawIncomplete, LeaseLost):  # What is held can be killed.
                self.thaw(actor)  # What stands still ignores signals.
        self._driver.record(EntryKind.ENDING, {"by": actor, "signal": number, **reason})

    def _demand_lease(self) -> None:
        if self._fence is not None and not self._fence.lets_out():
            raise LeaseLost(self._descriptors.incarnation)

    def _tell_missed(self, name: EventName, missed: tuple[Missed, ...]) -> None:
        for one in missed[: presence.MAX_JOBS]:
            fields: dict[str, str | int] = {"pid": one.pid, "why": one.why}
            self._clients.announce(wire.Event(name, self._descriptors.session, fields))
