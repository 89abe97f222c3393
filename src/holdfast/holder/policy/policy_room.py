"""What judges the inputs of one session, joined."""

from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.line_question import LineQuestion
from holdfast.holder.input.terminal_settings import TerminalSettings
from holdfast.holder.links.notifications import Notifications
from holdfast.holder.policy.approvals import Approvals
from holdfast.holder.policy.consultation import Consultation
from holdfast.holder.policy.input_question import InputQuestions
from holdfast.holder.policy.judge_link import JudgeLink
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.holder.policy.session_start import SessionStart
from holdfast.holder.provenance.typed_line import TypedLine
from holdfast.model.events import EventName
from holdfast.wire import messages as wire


class PolicyRoom:
    """The gate of one session: its rules, whom it asks, and what waits there."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        notifications: Notifications,
        line: TypedLine,
    ) -> None:
        vaulted, company = context.vaulted, context.company

        def warn(text: str) -> None:
            fields: dict[str, str | int] = {"text": wire.fitting(text, wire.MAX_TEXT)}
            event = wire.Event(EventName.POLICY_KEPT, vaulted.session, fields)
            company.announce(event)

        self.start = SessionStart(vaulted)
        """The command that the session is for, until it has begun."""

        self.in_force = PolicyInForce(warn)
        self.judge = JudgeLink(context.poll, context.timers)
        self.settings = TerminalSettings(vaulted.master)
        self.questions = InputQuestions(
            context, self.in_force, self.start, line, self.settings
        )
        self.line_question = LineQuestion(vaulted, context.shell, context.timers)
        self.consultation = Consultation(
            context,
            driver,
            self.in_force,
            self.questions,
            self.judge,
            self.line_question,
        )
        self.approvals = Approvals(
            context, driver, self.consultation, notifications, self.in_force
        )
