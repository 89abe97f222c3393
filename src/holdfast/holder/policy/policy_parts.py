"""The parts that judge the inputs of one session, joined."""

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
from holdfast.holder.policy.previews import Previews
from holdfast.holder.policy.session_start import SessionStart
from holdfast.holder.processes.effect_watch import EffectWatch
from holdfast.holder.provenance.typed_line import TypedLine
from holdfast.model.events import EventName
from holdfast.wire import messages as wire


class PolicyParts:
    """The gate of one session: its rules, whom it asks, and what waits there."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        notifications: Notifications,
        line: TypedLine,
    ) -> None:
        descriptors, clients = context.descriptors, context.clients

        def warn(text: str) -> None:
            fields: dict[str, str | int] = {"text": wire.fitting(text, wire.MAX_TEXT)}
            event = wire.Event(EventName.POLICY_KEPT, descriptors.session, fields)
            clients.announce(event)

        self.start = SessionStart(descriptors)
        """The command that the session is for, until it has begun."""

        self.in_force = PolicyInForce(warn)
        self.judge = JudgeLink(context.poll, context.timers)
        self.settings = TerminalSettings(descriptors.master)
        self.questions = InputQuestions(
            context, self.in_force, self.start, line, self.settings
        )
        self.line_question = LineQuestion(descriptors, context.shell, context.timers)
        self.consultation = Consultation(
            context,
            driver,
            self.in_force,
            self.questions,
            self.judge,
            self.line_question,
        )
        self.effects = EffectWatch(context, driver)
        """What commands do of which something is expected."""

        self.consultation.waits = self.effects.waits
        self.previews = Previews(context, driver, self.consultation)
        self.approvals = Approvals(
            context, driver, self.consultation, notifications, self.in_force
        )
