"""What waits for approval: shown, approved, denied, or given up.

An input waits, and so do execs. An approval is of what was shown and of nothing else.
An input whose client has gone for good is given up.
"""

from holdfast.core.input import gate
from holdfast.core.input.attendance import Attendance
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.secret_prompt import demand_question
from holdfast.holder.links.notifications import Notifications
from holdfast.holder.moment import now
from holdfast.holder.policy.consultation import Consultation
from holdfast.holder.policy.exec_requests import ExecRequests  # noqa: TC001  # ditto
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.model.envelopes import Right
from holdfast.model.errors import ApprovalMismatch
from holdfast.model.moments import Moment


class Approvals:
    """What waits for approval in one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        consultation: Consultation,
        notifications: Notifications,
        in_force: PolicyInForce,
    ) -> None:
        self._descriptors = context.descriptors
        self._clients = context.clients
        self._driver = driver
        self._consultation = consultation
        self._notifications = notifications
        self._in_force = in_force
        self._attendance = Attendance()
        self._timer = context.timers.add(self._tick)
        self.execs: ExecRequests | None = None
        """The exec gate of the session, if it has one."""

        driver.performers[gate.SeekApproval] = self._seek

    def approve(self, approved: gate.Approved) -> None:
        """Take an approval.

        Raises:
            HoldfastError: It does not count; what the input runs may have changed,
                and is shown anew.

        """
        if self.execs is not None and self.execs.knows(approved.ticket):
            self.execs.approve(approved)
            return
        intake, at = self._driver.intake, now()
        asked, by = self._consultation, approved.approver
        if any(one.ticket == approved.ticket for one in self._notifications.pending):
            demand_question(asked.given, self._descriptors, is_frozen=intake.is_frozen)
            if intake.rights.may(by, Right.APPROVE, at):
                if asked.has_changed():
                    self._notifications.show_again(asked.question)
                    raise ApprovalMismatch(approved.ticket)
                if by != asked.given.actor:
                    asked.approve(approved)
                    return
        self._driver.do(intake.approve(approved, at), at)

    def deny(self, denied: gate.Denied, digest: bytes) -> None:
        """Take a denial of what has this digest.

        Raises:
            HoldfastError: It does not count, and why.

        """
        for pending in self._notifications.pending:
            if pending.ticket == denied.ticket and pending.digest != digest:
                raise ApprovalMismatch(denied.ticket)
        if self.execs is not None and self.execs.knows(denied.ticket):
            self.execs.deny(denied)
        else:
            at = now()
            self._driver.do(self._driver.intake.deny(denied, at), at)

    def attend(self) -> None:
        """Give up what waits, and whose client has gone for good."""
        held, at = self._notifications.held, now()
        alone = held[0] if held and not self._clients.has(*held[1:]) else None
        self._attendance.look(alone, self._in_force.policy.turn.grace, at.now)
        ticket = self._attendance.tick(at.now)
        self._timer.set(self._attendance.alone_until)
        if ticket is not None:
            self._driver.do(self._driver.intake.resolve(gate.Abandoned(ticket), at), at)

    def _seek(self, sought: gate.SeekApproval, _at: Moment) -> None:
        asked = self._consultation
        is_hidden = asked.is_hidden
        self._notifications.seek_approval(
            sought, asked.given, asked.question, asked.report, echo_off=is_hidden
        )
        self.attend()

    def _tick(self, _now: float) -> None:
        self.attend()
