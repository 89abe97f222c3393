"""Who is notified of a decision, and of what.

Answers go to the client that sent the input, refusals to the client that asked, a turn
that moved to all clients, and pending inputs to those who may approve them.
"""

import contextlib
from collections.abc import Callable, Iterator

from holdfast.core.input import gate, serializer, turn
from holdfast.core.input.intake import Intake
from holdfast.holder.links import pending_input
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.links.connection import Connection
from holdfast.holder.moment import now
from holdfast.model.envelopes import Right
from holdfast.model.ids import ActorId, ClientId, Index
from holdfast.model.inputs import Input, InputId
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown
from holdfast.model.policy_questions import Question
from holdfast.model.preview_report import PreviewReport
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind

NOBODY = ActorId("")

Vouch = Callable[[Index], wire.Receipt | None]


class Notifications:
    """Carries decisions to the clients they concern."""

    def __init__(self, clients: AttachedClients, intake: Intake, vouch: Vouch) -> None:
        self._clients = clients
        self._intake = intake
        self._vouch = vouch
        self._senders: dict[tuple[ActorId, ClientId], Connection] = {}
        self._serving: tuple[Connection, FrameKind] | None = None
        self.held_input: tuple[wire.Pending, InputId] | None = None
        """The input that waits for approval, if one does."""

        self._execs: dict[int, wire.Pending] = {}

    @property
    def pending(self) -> tuple[wire.Pending, ...]:
        """What waits for approval: an input, and execs, as many as a list may have."""
        first = () if self.held_input is None else (self.held_input[0],)
        return (*first, *self._execs.values())[: presence.MAX_PENDING]

    @property
    def held(self) -> tuple[int, ActorId, ClientId] | None:
        """The input that waits for approval, if any: its ticket, actor and client."""
        if self.held_input is None:
            return None
        pending, given = self.held_input
        return pending.ticket, pending.actor, given.client

    @contextlib.contextmanager
    def serving(self, connection: Connection, kind: FrameKind) -> Iterator[None]:
        """Answer refusals that come meanwhile to this client, for this request."""
        self._serving = (connection, kind)
        try:
            yield
        finally:
            self._serving = None

    def sent_by(self, actor: ActorId, client: ClientId, by: Connection) -> None:
        """Remember where to answer a client's inputs."""
        if by.clients[-1:] == [client] and self._senders.get((actor, client)) is by:
            return
        for gone in by.acts_for(client):
            self._forget(actor, gone, by)
        self._senders[actor, client] = by

    def left(self, actor: ActorId, by: Connection) -> None:
        """Forget where to answer, unless a client is back already."""
        for client in by.clients:
            self._forget(actor, client, by)

    def _forget(self, actor: ActorId, client: ClientId, by: Connection) -> None:
        if self._senders.get((actor, client)) is by:
            del self._senders[actor, client]

    def welcome(self, connection: Connection, actor: ActorId) -> None:
        """Tell a newcomer what waits for approval, if it may approve or asked."""
        for pending in self.pending:
            if pending.actor == actor or self._may_approve(actor):
                connection.send(pending)

    def answer(self, answer: serializer.Answer) -> None:
        """Tell the sender of an input what became of it."""
        if self.held_input is not None and self.held_input[1] == answer.id:
            self._settle(Verdict.DENY)
        receipt = None
        if isinstance(answer.outcome, Applied):
            receipt = self._vouch(answer.outcome.index)
        connection = self._senders.get((answer.actor, answer.id.client))
        if connection is not None and not connection.is_closed:
            connection.send(told(answer.id, answer.outcome, receipt))

    def admitted(self, admitted: Input) -> None:
        """Take note that an input is being written."""
        if self.held_input is not None and self.held_input[1] == admitted.id:
            self._settle(Verdict.ALLOW)

    def refuse(self, refused: turn.Refuse) -> FrameKind:
        """Tell an operator that its request was refused; return the request's kind."""
        if self._serving is not None:
            connection, kind = self._serving
            if connection.operator.id == refused.actor:
                connection.send(refusal(refused.error, kind))
                return kind
        # Only a pending input is refused later, or because of another operator.
        self._clients.tell(refused.actor, refusal(refused.error, FrameKind.ASK))
        return FrameKind.ASK

    def asked(self, asked: turn.AskHolder, at: Moment) -> None:
        """Tell the turn's holder that an operator waits."""
        left = max(0.0, asked.answer_by - at.now)
        wait_ms = min(round(left * 1000), wire.MAX_ASK_MS)
        self._clients.tell(asked.holder, wire.TurnAsked(asked.asker, wait_ms))

    def seek_approval(
        self,
        sought: gate.SeekApproval,
        given: Input,
        asked: Question | None,
        report: PreviewReport | None = None,
        *,
        echo_off: bool,
    ) -> None:
        """Show what waits to those who may approve it, and to the sender.

        With what a preview of it showed, if there was one. Of a secret nothing is
        shown but how long it is.
        """
        pending = pending_input.told(sought, given, asked, report, echo_off=echo_off)
        self.held_input = (pending, given.id)
        self._to_approvers(pending)

    def show_again(self, asked: Question | None) -> None:
        """Show what waits as it is now: it runs another thing than was shown."""
        if self.held_input is not None:
            pending, given = self.held_input
            pending = pending_input.told_again(pending, asked)
            self.held_input = (pending, given)
            self._to_approvers(pending)

    def show_exec(self, pending: wire.Pending) -> None:
        """Show an exec that waits to those who may approve it."""
        self._execs[pending.ticket] = pending
        self._to_approvers(pending)

    def settle_exec(self, ticket: int, verdict: Verdict, by: ActorId) -> None:
        """Tell them that an exec no longer waits."""
        pending = self._execs.pop(ticket)
        self._to_approvers(wire.Settled(ticket, verdict, by), pending.actor)

    def _settle(self, verdict: Verdict) -> None:
        assert self.held_input is not None  # noqa: S101  # asked by both callers
        by = NOBODY
        if self._serving is not None and self._serving[0].actor is not None:
            by = self._serving[0].actor.id
        pending, self.held_input = self.held_input[0], None
        self._to_approvers(wire.Settled(pending.ticket, verdict, by), pending.actor)

    def _may_approve(self, actor: ActorId) -> bool:
        return self._intake.rights.may(actor, Right.APPROVE, now())

    def _to_approvers(self, message: Message, asker: ActorId = NOBODY) -> None:
        asker = message.actor if isinstance(message, wire.Pending) else asker
        for connection in self._clients.attached():
            actor = connection.actor
            if actor is not None and (actor.id == asker or self._may_approve(actor.id)):
                connection.send(message)


def told(
    given: InputId, outcome: Outcome, receipt: wire.Receipt | None = None
) -> Message:
    """Return what a client is told of an input's outcome."""
    client, sequence = given.client, given.sequence
    match outcome:
        case Applied(index):
            return wire.Acknowledge(client, sequence, index, receipt)
        case Refused(error):
            return refusal(error, FrameKind.SUBMIT, given)
        case Dropped(index):
            return wire.Report(client, sequence, wire.Ending.DROPPED, index, 0)
        case Cut(index, written):
            return wire.Report(client, sequence, wire.Ending.CUT, index, written)
        case Unknown(index):
            return wire.Report(client, sequence, wire.Ending.UNKNOWN, index, 0)
