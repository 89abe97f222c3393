"""Takes operators' inputs, and sends back the outcome of each."""

from holdfast.core.input import serializer
from holdfast.core.input.intake_effects import Effect
from holdfast.core.input.turn import AskHolder
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.next_key import NextKey
from holdfast.holder.input.refusals import Refusals
from holdfast.holder.input.turn_limits import TurnLimits
from holdfast.holder.input.writer import Writer
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import Notifications
from holdfast.holder.moment import now
from holdfast.holder.policy.policy_parts import PolicyParts
from holdfast.holder.record.book import Book
from holdfast.model.errors import HoldfastError, NotAllowed
from holdfast.model.inputs import RIGHT_FOR, InputKind
from holdfast.model.moments import Moment
from holdfast.wire import messages as wire
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind


class InputHandler:
    """The one way in, for the inputs of one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        book: Book,
        writer: Writer,
        notifications: Notifications,
        policy: PolicyParts,
    ) -> None:
        self._driver = driver
        self._book = book
        self._writer = writer
        self._notifications = notifications
        self._in_force = policy.in_force
        self._consultation = policy.consultation
        self._start = policy.start
        self._changed = context.changed
        self.refusals = Refusals(driver, notifications, context.timers)
        """What is turned away, here or elsewhere."""

        self.limits = TurnLimits(policy.in_force, context.clients, driver.intake)
        """What the policy says of turns and budgets."""

        self.next_key = NextKey(context, driver, book, writer, self.limits, policy)
        """The next key of the client that typed last."""

        driver.performers[serializer.Apply] = self._apply
        driver.performers[serializer.Answer] = self._answer
        driver.performers[AskHolder] = notifications.asked

    @property
    def is_busy(self) -> bool:
        """Whether an input is half written, or waits for the terminal."""
        queued = self._driver.intake.serializer.queued_bytes
        return self._writer.is_on or bool(queued)

    def begin(self) -> None:
        """Judge the command that the session was made for, if it waits."""
        given = self._start.given
        if given is not None:
            self.limits.refresh()
            at = now()
            self._driver.do(self._driver.intake.submit(given, at), at)

    def submit(self, connection: Connection, submit: wire.Submit) -> None:
        """Take an input."""
        if self._writer.taken is not None:
            self._writer.book()
        actor, intake = connection.operator.id, self._driver.intake
        given = submit.to_input(actor)
        self._notifications.sent_by(actor, submit.client, connection)
        at = now()
        self.limits.refresh()
        is_typed = connection.mode is wire.Mode.OPERATE and self._writer.fits(given)
        if is_typed and (effects := self._consultation.press(given, at)):
            self._driver.do(effects, at)
            self.next_key.typed(connection, given, at.now)
            return
        try:
            # What is known is answered with what became of it, whatever holds now.
            if not intake.serializer.is_known(given):
                if connection.mode is wire.Mode.OBSERVE:
                    raise NotAllowed(actor, RIGHT_FOR[given.kind].value)
                self._writer.demand_room(given)
        except HoldfastError as error:
            self.refusals.declined(actor, FrameKind.SUBMIT, error)
            connection.send(refusal(error, FrameKind.SUBMIT, given.id))
            return
        self._in_force.is_fresh = True
        try:
            effects = intake.submit(given, at)
            first = effects[0] if len(effects) == 1 else None
            if isinstance(first, serializer.Answer):
                self.refusals.arrived(given, first)
            self._driver.do(effects, at)
        finally:
            self._in_force.is_fresh = False

    def settle(self) -> None:
        """Book and make durable whatever the terminal has taken."""
        self._writer.book()
        self.refusals.flush()
        at = now()
        self._driver.do(self._driver.intake.settle(at), at)
        self._book.sync()

    def exited(self, how: str) -> None:
        """Refuse everything from now on."""
        intake = self._driver.intake
        if intake.over is not None:
            return  # A predecessor has written it down.
        self._writer.book()
        self.refusals.flush()
        at = now()
        self._driver.do(intake.exited(how, at), at)

    def _apply(self, apply: serializer.Apply, at: Moment) -> list[Effect]:
        if self._notifications.held_input is not None:
            self._notifications.admitted(apply.input)
        if apply.input.kind is InputKind.START:
            self._start.go()
            self._changed()
        return self._writer.apply(apply, at)

    def _answer(self, answer: serializer.Answer, _at: Moment) -> None:
        if self._start.is_held:
            self._start.answered(answer)
            self._changed()
        self._notifications.answer(answer)
        self.refusals.answered(answer)
