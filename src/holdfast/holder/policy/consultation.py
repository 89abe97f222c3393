"""The input being judged by the policy, and the outcome.

One input is judged at a time, against the state now. The rules of the file answer at
once, and what they deny goes to nobody else. Plug-ins and a webhook are asked through
the judge, which takes time: everything but the queue of inputs goes on, and their
answer counts only if the gate still waits for it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from holdfast.core.input import gate
from holdfast.core.input.intake_effects import Consult, Effect
from holdfast.core.input.standing_verdict import StandingVerdict
from holdfast.core.policy.policy import (
    Judgement,
    combined,
    document,
    without_exec_gate,
)
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.line_question import LineQuestion
from holdfast.holder.input.secret_prompt import demand_question
from holdfast.holder.moment import now
from holdfast.holder.policy.input_question import InputQuestions
from holdfast.holder.policy.judge_link import Asked, JudgeLink
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.linux.judge_packets import NOTHING_VOUCHED, Answer, Ask
from holdfast.linux.secrecy import Secret
from holdfast.model.errors import HoldfastError, NotAtPrompt, PolicyUnavailable
from holdfast.model.inputs import Input, InputKind
from holdfast.model.moments import Moment
from holdfast.model.policy_questions import Question
from holdfast.model.preview_report import PreviewReport  # noqa: TC001  # ditto
from holdfast.model.verdicts import Verdict

Then = Callable[[Judgement | PolicyUnavailable], None]
Waits = Callable[[Input, Callable[[], None]], bool]


class Consultation:
    """What is asked about the inputs of one session, and what the answers lead to."""

    given: Input
    """What is judged, or was last."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        in_force: PolicyInForce,
        questions: InputQuestions,
        judge: JudgeLink,
        line_question: LineQuestion,
    ) -> None:
        self._descriptors = context.descriptors
        self._clients = context.clients
        self._driver = driver
        self._in_force = in_force
        self._questions = questions
        self._judge = judge
        self._line = questions.line
        self._line_question = line_question
        self._tickets = 0
        self._open: tuple[int, Asked] | None = None
        self.question: Question | None = None
        """What the policy was asked about it; None if it need not be."""

        self.report: PreviewReport | None = None
        """What a preview of it showed, if there was one."""

        self.is_hidden = False
        """Whether it is a secret for certain, so that no approver is shown it."""

        self.standing = StandingVerdict(driver.intake, self._clients.kind_of)
        """What was decided about the next key."""

        self.waits: Waits = _goes_on
        """Tells whether an input waits until something was looked at."""

        driver.performers[Consult] = self._consult

    def press(self, given: Input, at: Moment) -> list[Effect]:
        """Admit a key by what stands; nothing if it needs a full decision.

        The policy has been looked at for it, and what that changed is known.
        """
        if self._questions.secret(given, at).is_on:
            return []
        return self.admit(given, at)

    def admit(self, given: Input, at: Moment) -> list[Effect]:
        """Admit a key that is known to be shown."""
        effects = self.standing.press(given, at)
        if effects:
            self.given, self.question = given, None
            self._line.echo_off = self.is_hidden = False
        return effects

    def _consult(self, consult: Consult, at: Moment) -> list[Effect]:
        """Ask about an input that is first in line."""
        if self._open is not None:
            self._drop()
        self.given, self.report = consult.input, None
        if self.waits(consult.input, partial(self._go_on, consult)):
            return []
        return self._begin(consult, at)

    def _go_on(self, consult: Consult) -> None:
        """Judge an input that waited, unless it was dropped meanwhile."""
        at = now()
        if self._driver.intake.gate.is_consulting(consult.ticket):
            self._driver.do(self._begin(consult, at), at)

    def _begin(self, consult: Consult, at: Moment) -> list[Effect]:
        then = partial(self._settled, consult)
        if self._line_question.settle(consult.input, then):
            return []
        return self._examine(consult, at)

    def _settled(self, consult: Consult, error: NotAtPrompt | None) -> None:
        """Take what the shell says of what was typed before its prompt."""
        intake, at = self._driver.intake, now()
        if error is not None:
            given_up = gate.Abandoned(consult.ticket, error)
            self._driver.do(intake.resolve(given_up, at), at)
        elif intake.gate.is_consulting(consult.ticket):
            self._driver.do(self._examine(consult, at), at)

    def _examine(self, consult: Consult, at: Moment) -> list[Effect]:
        ticket, given = consult.ticket, consult.input
        self.given = given
        in_force = self._in_force
        in_force.look()
        secret = self._questions.secret(given, at)
        self._line.echo_off, self.is_hidden = secret
        if not self._questions.is_needed(given):
            self.question = None
            said = self._tried(in_force.plain(self._clients.kind_of(given.actor)))
            effects = self._told(ticket, said, at)
            self.standing.learn(given, effects)
            return effects
        asked = self._ask(given, secret, at, partial(self._later, ticket))
        if isinstance(asked, Judgement):
            return self._judged(ticket, asked, at)
        # Everything but this line of inputs goes on; a seize drops the question.
        self._open = (ticket, asked)
        self._driver.afterwards = self._drop
        return []

    def _ask(
        self, given: Input, secret: Secret, at: Moment, then: Then
    ) -> Judgement | Asked:
        actor = self._clients.actor(given.actor)
        epoch = self._driver.intake.turn.epoch
        self.question = self._questions.question(actor, given, epoch, secret, at)
        return self.say(given, self.question, then)

    def say(self, given: Input, question: Question, then: Then) -> Judgement | Asked:
        """Return what the rules of this moment say, if nobody else is to be asked.

        Otherwise return what is asked, and call `then` later with what the rules
        and the others say together, or with why there is no answer.
        """
        in_force = self._in_force
        if in_force.is_plain and given.kind is not InputKind.START:
            return in_force.plain(question.actor.kind)
        if not self._descriptors.gate and (
            lacking := without_exec_gate(in_force.policy, question)
        ):
            return in_force.told(lacking)
        said = self._questions.judge(question)
        if in_force.is_final(said):
            return in_force.told(said)
        policy = in_force.policy
        self._tickets += 1
        ask = Ask(
            self._tickets,
            document(question),
            policy.plugins,
            policy.webhook,
            vouched=in_force.applied.plugins or NOTHING_VOUCHED,
        )
        return self._judge.ask(ask, partial(self._pass_on, given, said, then))

    def has_changed(self) -> bool:
        """Tell whether what is held runs another thing now than when it was judged.

        From then on it counts as held for what it runs now.
        """
        if self.question is None or self.question.resolution is None:
            return False
        before = self.question.resolution
        secret = Secret(self._line.echo_off, self.is_hidden)
        epoch = self._driver.intake.turn.epoch
        self.question = self._questions.question(
            self._clients.actor(self.given.actor), self.given, epoch, secret, now()
        )
        return self.question.resolution != before

    def approve(self, approved: gate.Approved) -> None:
        """Take an approval, once the shell says that nothing stands on its line."""
        intake = self._driver.intake

        def then(error: NotAtPrompt | None = None) -> None:
            at = now()
            given_up = gate.Abandoned(approved.ticket, error)
            done = intake.resolve(given_up, at) if error else []
            self._driver.do(done or intake.approve(approved, at), at)

        wanted = approved.ticket, approved.digest, approved.epoch
        waiting = [(one.number, one.digest, one.epoch) for one in intake.gate.pending()]
        if wanted not in waiting or not self._line_question.ask(self.given, then):
            then()

    def _pass_on(
        self, given: Input, said: Judgement, then: Then, answer: Answer
    ) -> None:
        if answer.failed:
            then(PolicyUnavailable(answer.failed))
            return
        try:
            demand_question(given, self._descriptors, is_frozen=False)
        except HoldfastError as error:  # The asker has given up meanwhile.
            then(Judgement(Verdict.DENY, error.code, str(error)))
        else:
            then(combined(said, answer.judgement))

    def _later(self, ticket: int, said: Judgement | PolicyUnavailable) -> None:
        self._open, self._driver.afterwards = None, None
        # What was a secret when it was typed, or is one now, is none to be told.
        at = now()
        secret = self._questions.secret(self.given, at)
        self._line.echo_off = self._line.echo_off or secret.is_on
        self.is_hidden = self.is_hidden or secret.is_certain
        if isinstance(said, Judgement):
            self._driver.do(self._judged(ticket, said, at), at)
        else:
            why = str(said.facts["why"])
            failed = gate.PolicyFailed(ticket, why)
            self._driver.do(self._driver.intake.resolve(failed, at), at)

    def _drop(self) -> None:
        """Hang up on a judge whose answer no longer counts."""
        if self._open is not None:
            ticket, asked = self._open
            if not self._driver.intake.gate.is_consulting(ticket):
                self._open, self._driver.afterwards = None, None
                self._judge.drop(asked)

    def _tried(self, said: Judgement) -> Judgement:
        """Let happen what is to be previewed, where that is what goes on here."""
        parent = self._descriptors.record.parent
        if said.verdict is not Verdict.PREVIEW or parent is None or not parent.trial:
            return said
        return replace(said, verdict=Verdict.ALLOW)

    def _judged(self, ticket: int, said: Judgement, at: Moment) -> list[Effect]:
        said = self._tried(said)
        is_asked = (
            self.given.kind is InputKind.COMMAND
            and said.verdict is Verdict.ALLOW
            and self._line_question.ask(
                self.given, partial(self._confirmed, ticket, said)
            )
        )
        return [] if is_asked else self._told(ticket, said, at)

    def _confirmed(
        self, ticket: int, said: Judgement, error: NotAtPrompt | None
    ) -> None:
        """Take what the shell says about its line, if an input still waits for it."""
        intake, at = self._driver.intake, now()
        if error is not None:
            self._driver.do(intake.resolve(gate.Abandoned(ticket, error), at), at)
        elif intake.gate.is_consulting(ticket):
            self._driver.do(self._told(ticket, said, at), at)

    def _told(self, ticket: int, said: Judgement, at: Moment) -> list[Effect]:
        digest = self._in_force.digest
        judged = gate.Judged(ticket, said.verdict, said.rule, said.why, digest)
        asked = self.question
        resolution = None if asked is None else asked.resolution
        originators = () if resolution is None else resolution.originators()
        return self._driver.intake.judged(
            judged,
            at,
            echo_off=self._line.echo_off,
            originators=originators,
            actions=self._questions.actions(asked),
        )


def _goes_on(_given: Input, _then: Callable[[], None]) -> bool:
    return False
