"""The input being judged by the policy, and the outcome.

One input is judged at a time. The rules answer at once; plug-ins and a webhook
take time, during which everything but the queue of inputs goes on, and their answer
counts only if the gate still waits for it.
"""

from collections.abc import Callable
from functools import partial

from holdfast.core.input import gate
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Consult, Effect
from holdfast.core.policy.policy import Judgement
from holdfast.holder.input.line_question import LineQuestion
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.connection import Connection
from holdfast.holder.moment import now
from holdfast.holder.policy.judge_link import Asked, JudgeLink
from holdfast.holder.policy.judgement import Judging
from holdfast.holder.policy.staged_words import shown
from holdfast.linux.secrecy import SHOWN, Secrecy, Secret
from holdfast.model.actors import Actor
from holdfast.model.errors import HoldfastError, NotAtPrompt, PolicyUnavailable
from holdfast.model.ids import Epoch
from holdfast.model.inputs import Input, InputKind
from holdfast.model.questions import Question  # noqa: TC001  # an annotation people read
from holdfast.model.resolutions import Resolution
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.trials import Tried

MAX_ASKED = 2
"""Questions with the judge when another "what if" is refused: one of them may be
the gate's own, which is never refused, and each may keep a process busy."""

Do = Callable[[list[Effect]], object]


class Consulting:
    """What is asked about inputs, and what the answers lead to."""

    def __init__(
        self,
        judging: Judging,
        judge: JudgeLink,
        company: Company,
        secrecy: Secrecy,
        line: LineQuestion,
        do: Do,
    ) -> None:
        self._judging = judging
        self._judge = judge
        self._company = company
        self._secrecy = secrecy
        self._line = line
        self._do = do
        self.open: tuple[int, Asked] | None = None
        """What the judge is asked about an input, and under which ticket."""

        self._question: Question | None = None
        self.echo_off = False
        """Whether what was judged last was typed, or allowed, without echo."""

        self.is_hidden = False
        """Whether it is a secret for certain, so that no approver is shown it."""

    @property
    def resolution(self) -> Resolution | None:
        """What the input that is judged runs, if it is a line."""
        return None if self._question is None else self._question.resolution

    def consult(self, consult: Consult, epoch: Epoch, intake: Intake) -> list[Effect]:
        """Ask about an input that is first in line."""
        if self.open is not None:
            self.drop(intake)
        ticket, self.given = consult.ticket, consult.input
        secret = self._secret()
        self.echo_off, self.is_hidden = secret
        actor = self._company.actor(self.given.actor)
        then = partial(self._later, ticket, intake)
        self._question = question = self._judging.asked(
            actor, self.given, epoch, secret
        )
        said = self._judging.consult(actor, self.given, question, then)
        if isinstance(said, Judgement):
            return self._judged(ticket, said, intake)
        # Everything but this line of inputs goes on; a seize drops the question.
        self.open = (ticket, said)
        return []

    def _secret(self) -> Secret:
        """Return whether what is judged is a secret.

        What a session begins with is none: it is shown to whoever is asked.
        """
        if self.given.kind is InputKind.START:
            return SHOWN
        return self._secrecy.look()

    def has_changed(self, epoch: Epoch) -> bool:
        """Tell whether what is held runs another thing now than when it was judged.

        From then on it counts as held for what it runs now.
        """
        before = self.resolution
        if before is None:
            return False
        actor = self._company.actor(self.given.actor)
        secret = Secret(self.echo_off, self.is_hidden)
        self._question = self._judging.question(actor, self.given, epoch, secret)
        return self.resolution != before

    def try_out(
        self, connection: Connection, actor: Actor, given: Input, epoch: Epoch
    ) -> None:
        """Tell a client what the policy would say to an input of `actor` now.

        Raises:
            Unavailable: It is asked too much at once.

        """
        if self._judge.count >= MAX_ASKED:
            raise PolicyUnavailable("is asked too much at once")
        secret = self._secrecy.look()
        question = self._judging.asked(actor, given, epoch, secret)
        resolution = None if question is None else question.resolution
        digest = self._judging.policing.digest
        then = partial(tell_tried, connection, digest, resolution=resolution)
        said = self._judging.consult(actor, given, question, then)
        if isinstance(said, Judgement):
            then(said)

    def drop(self, intake: Intake) -> None:
        """Hang up on a judge whose answer no longer counts."""
        if self.open is not None:
            ticket, asked = self.open
            if not intake.gate.is_consulting(ticket):
                self.open = None
                self._judge.drop(asked)

    def _later(
        self, ticket: int, intake: Intake, said: Judgement | PolicyUnavailable
    ) -> None:
        self.open = None
        # What was a secret when it was typed, or is one now, is none to be told.
        secret = self._secret()
        self.echo_off = self.echo_off or secret.is_on
        self.is_hidden = self.is_hidden or secret.is_certain
        if isinstance(said, Judgement):
            self._do(self._judged(ticket, said, intake))
        else:
            why = str(said.facts["why"])
            self._do(intake.policy_failed(ticket, why, now()))

    def approve(self, approved: gate.Approved, intake: Intake) -> None:
        """Take an approval, once the shell says that nothing stands on its line."""

        def then(error: NotAtPrompt | None = None) -> None:
            given_up = gate.Abandoned(approved.ticket, error)
            done = intake.abandon(given_up, now()) if error else []
            self._do(done or intake.approve(approved, now()))

        wanted = approved.ticket, approved.digest, approved.epoch
        waiting = [(one.number, one.digest, one.epoch) for one in intake.gate.pending()]
        if wanted not in waiting or not self._line.ask(self.given, then):
            then()

    def _judged(self, ticket: int, said: Judgement, intake: Intake) -> list[Effect]:
        if said.verdict is Verdict.ALLOW and self._line.ask(
            self.given, partial(self._confirmed, ticket, said, intake)
        ):
            return []
        return self._told(ticket, said, intake)

    def _confirmed(
        self, ticket: int, said: Judgement, intake: Intake, error: NotAtPrompt | None
    ) -> None:
        """Take what the shell says of its line, if somebody still waits for that."""
        if error is not None:
            self._do(intake.abandon(gate.Abandoned(ticket, error), now()))
        elif intake.gate.is_consulting(ticket):
            self._do(self._told(ticket, said, intake))

    def _told(self, ticket: int, said: Judgement, intake: Intake) -> list[Effect]:
        digest = self._judging.policing.digest
        judged = gate.Judged(ticket, said.verdict, said.rule, said.why, digest)
        asked = self._question
        resolution = None if asked is None else asked.resolution
        originators = () if resolution is None else resolution.originators()
        return intake.judged(
            judged, now(), echo_off=self.echo_off, originators=originators
        )


def tell_tried(
    connection: Connection,
    policy: str,
    said: Judgement | HoldfastError,
    resolution: Resolution | None = None,
) -> None:
    """Tell a client what would happen, if it is still there."""
    if isinstance(said, HoldfastError):
        said = Judgement(Verdict.DENY, said.code, str(said))
    rule, why = (wire.fitting(one, wire.MAX_TEXT) for one in (said.rule, said.why))
    if not connection.is_closed:
        runs, staged = shown(resolution)
        connection.send(Tried(said.verdict, rule, why, runs, staged, policy))
