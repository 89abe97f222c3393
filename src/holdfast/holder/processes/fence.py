"""Freezes a movable session when its lease has run out.

The host says until when the session may speak; everything else happens here, without
it: the time is waited for on a clock that runs through suspend, and read again before
each output and each input (docs/spec/leases.md, section 4). At the expiry all
processes are frozen by their cgroup, what waits is thrown away, and the terminal is not
read any more. What it holds then is read when the same life is granted again.

First everything stands still, then it is said: to the book, the keeper and clients.
"""

import contextlib
from collections.abc import Callable  # noqa: TC003  # an annotation people read

from holdfast.core.book.logbook import EntryKind
from holdfast.core.relay.lease_term import LeaseTerm
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.writer import Writer
from holdfast.holder.moment import boottime, now
from holdfast.holder.processes.freezer import Freezer
from holdfast.linux.boot_timer import BootTimer
from holdfast.model.holder_orders import Lease
from holdfast.wire import messages as wire

FENCED = "fenced"


class Fence:
    """Whether one movable session may speak, enforced."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        writer: Writer,
        freezer: Freezer,
        term: LeaseTerm,
    ) -> None:
        self._context = context
        self._driver = driver
        self._writer = writer
        self._freezer = freezer
        self._term = term
        self._timer = BootTimer()
        self._is_over = False
        self.is_on = False
        """Whether the session stands still."""

        self.turned: Callable[[bool], None] = lambda _: None
        """Told when it begins to stand still, and when it goes on."""

        if not self.may_speak:
            self._hold()  # Before anything is thawed that a predecessor froze.

    @property
    def may_speak(self) -> bool:
        """Whether the lease has not run out at this moment."""
        return self._term.may_speak(boottime())

    @property
    def why(self) -> str:
        """Why it stands still, for people; empty if it does not."""
        return self._term.why if self.is_on else ""

    def begin(self) -> None:
        """Watch the clock from now on."""
        self._context.poll.watch(self._timer.fileno(), self._due)
        self._catch_up()
        self._look()

    def told(self, order: Lease) -> None:
        """Take what the host says."""
        if self._is_over or not self._term.told(*order):
            return
        descriptors = self._context.descriptors
        leased = descriptors.held.leased or order.expires > 0
        descriptors.held = descriptors.held._replace(
            expires=order.expires, leased=leased
        )
        self._catch_up()
        self._look()
        if self.is_on:
            self._context.changed()  # The reason may be another one.

    def lets_out(self) -> bool:
        """Tell whether output may be read and sent now."""
        if not self._is_over and self.is_on is self.may_speak:
            self._look()
        return not self.is_on

    def end(self) -> None:
        """Take that the session has ended: there is nothing left to fence."""
        self._is_over = True
        self._context.poll.unwatch(self._timer.fileno())

    def _due(self) -> None:
        self._timer.clear()
        self._look()

    def _look(self) -> None:
        """Do what the clock demands."""
        may_speak = self.may_speak
        if not may_speak and not self.is_on:
            self._stop()
        elif may_speak and self.is_on:
            self._go_on()
        self._timer.set(self._term.expires_at if may_speak else None)

    def _catch_up(self) -> None:
        """Take that the keeper has fenced the session, because we did not run."""
        cgroup = self._freezer.cgroup
        is_held = not self.is_on and not self._driver.intake.is_frozen
        with contextlib.suppress(OSError):
            if is_held and cgroup is not None and cgroup.is_frozen():
                self._stop()

    def _stop(self) -> None:
        self._hold()
        self.is_on = True
        self.turned(True)  # noqa: FBT003  # what it is told
        # A successor finds that it was said already.
        if self._context.descriptors.record.state != FENCED:
            self._writer.book()
            at = now()
            self._driver.do(self._driver.intake.fenced(at), at)
        self._announce(FENCED)

    def _go_on(self) -> None:
        self.is_on = False
        self._driver.record(EntryKind.UNFENCED, {})
        is_frozen = self._driver.intake.is_frozen
        if not is_frozen:
            self._freezer.thaw()
        self.turned(False)  # noqa: FBT003  # ditto
        self._announce("frozen" if is_frozen else "running")

    def _hold(self) -> None:
        with contextlib.suppress(OSError):  # It may have ended at this moment.
            if self._freezer.cgroup is not None:
                self._freezer.cgroup.freeze()

    def _announce(self, state: str) -> None:
        self._context.changed()
        life = self._context.descriptors.incarnation
        self._context.clients.announce(wire.State(state, life))
