"""What would happen to an input now, perhaps by another policy.

Nothing is written, counted or taken: the same questions are asked, about an operator
who may never have been here, and the answer goes to the client that wants to know.
"""

import contextlib
import time
from collections.abc import Iterator
from functools import partial

from holdfast.core.policy.policy import Judgement
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.payloads import demand_sent
from holdfast.holder.input.presence import Presence
from holdfast.holder.links.connection import Connection
from holdfast.holder.moment import now
from holdfast.holder.policy.policy_parts import PolicyParts
from holdfast.holder.policy.staged_words import shown
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.errors import HoldfastError, PolicyUnavailable, UnknownOperator
from holdfast.model.ids import ActorId
from holdfast.model.inputs import Input
from holdfast.model.resolutions import Resolution
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.trials import Tried

MAX_ASKED = 2
"""Questions with the judge when another "what if" is refused: one of them may be
the gate's own, which is never refused, and each may keep a process busy."""


class Trials:
    """Tries inputs out in one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        policy: PolicyParts,
        presence: Presence,
    ) -> None:
        self._intake = driver.intake
        self._consultation = policy.consultation
        self._questions = policy.questions
        self._in_force = policy.in_force
        self._judge = policy.judge
        self._clients = context.clients
        self._presence = presence

    def try_out(
        self, connection: Connection, given: Input, candidate: bytes | None = None
    ) -> None:
        """Tell a client what would happen to an input now, perhaps by another policy.

        An operator who was never here is treated as if it had just attached.
        """
        try:
            demand_sent(given)
            with self._supposing(given.actor, candidate) as actor:
                if error := self._intake.objection(given, now()):
                    raise error
                if error := self._intake.budgets.refusal(given, time.monotonic()):
                    raise error
                self._ask(connection, actor, given, candidate)
        except HoldfastError as error:
            _tell(connection, self._in_force.digest, error)

    def _ask(
        self,
        connection: Connection,
        actor: Actor,
        given: Input,
        candidate: bytes | None,
    ) -> None:
        if self._judge.count >= MAX_ASKED:
            raise PolicyUnavailable("is asked too much at once")
        if candidate is None:
            self._in_force.refresh()
        tell = partial(_tell, connection, self._in_force.digest)
        if not self._questions.is_needed(given):
            tell(self._in_force.plain(actor.kind))
            return
        at, epoch = now(), self._intake.turn.epoch
        secret = self._questions.secret(given, at)
        question = self._questions.question(actor, given, epoch, secret, at)
        then = partial(tell, resolution=question.resolution)
        said = self._consultation.say(given, question, then)
        if isinstance(said, Judgement):
            then(said)

    @contextlib.contextmanager
    def _supposing(self, wanted: ActorId, candidate: bytes | None) -> Iterator[Actor]:
        """Yield who `wanted` is, with the rights it has here or would be given.

        Raises:
            UsageError: Nobody knows such an operator, or the policy is not valid.

        """
        rights = self._intake.rights
        with contextlib.ExitStack() as stack:
            if candidate is not None:
                stack.enter_context(self._in_force.supposing(candidate))
            actor = self._clients.actor(wanted)
            if not self._clients.knows(wanted):
                known = operators.by_actor(wanted)
                if known is None:
                    raise UnknownOperator(wanted)
                actor = known.actor
                if rights.envelope_of(wanted) is None:
                    given = self._presence.first_envelope(actor, known.promised)
                    stack.enter_context(rights.supposing(wanted, given))
            yield actor


def _tell(
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
