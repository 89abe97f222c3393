"""Notices and logbook entries about execs that need approval."""

from holdfast.core.book.entries import answered_fields, asked_fields, exec_fields
from holdfast.core.book.logbook import EntryKind
from holdfast.core.policy import exec_gate as machine
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.links.notifications import NOBODY, Notifications
from holdfast.holder.moment import now
from holdfast.model.envelopes import Right
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import NO_EPOCH, ActorId
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire


class ExecRecord:
    """Tells of the execs of one session."""

    def __init__(self, driver: IntakeDriver, notifications: Notifications) -> None:
        self._driver = driver
        self._notifications = notifications

    def issue_ticket(self) -> int:
        """Return a number under which an exec may wait for approval."""
        return self._driver.intake.issue_ticket()

    def show(self, show: machine.Show) -> None:
        """Show an exec to those who may approve it."""
        text = show.wish.text.encode("utf-8", "replace")
        self._notifications.show_exec(
            wire.Pending(
                ticket=show.ticket,
                actor=show.wish.actor,
                kind=InputKind.COMMAND,
                epoch=NO_EPOCH,
                digest=show.wish.digest,
                size=len(text),
                excerpt=text[: wire.MAX_EXCERPT],
                rule=wire.fitting(show.rule, wire.MAX_TEXT),
                program=wire.fitting(show.wish.program, wire.MAX_TEXT),
                runs="",
                uses=(),
                preview=None,
            )
        )
        asked = asked_fields(show.ticket, show.wish.actor, show.rule)
        self._driver.record(EntryKind.ASKED, asked)

    def settle(self, settled: machine.Settle) -> None:
        """Tell them that it waits no more."""
        verdict = Verdict.ALLOW if settled.is_let else Verdict.DENY
        by = settled.by or NOBODY
        self._notifications.settle_exec(settled.ticket, verdict, by)
        if settled.by is not None:
            yes = settled.is_let
            fields = answered_fields(settled.ticket, settled.by, yes=yes)
            self._driver.record(EntryKind.ANSWERED, fields)

    def record(self, done: machine.Record) -> None:
        """Put on record what became of execs."""
        fields = exec_fields(done.wish, done.error, done.by, done.count)
        self._driver.record(EntryKind.EXEC, fields)

    def demand_right(self, actor: ActorId) -> None:
        """Do nothing if `actor` may approve.

        Raises:
            Forbidden: It may not.

        """
        if not self._driver.intake.rights.may(actor, Right.APPROVE, now()):
            raise NotAllowed(actor, Right.APPROVE.value)
