"""Requests from operators other than input.

The turn, an approval, a freeze, rights, and who is here. Each request is passed to the
Intake in the name of its sender. A refusal is answered with the reason; a success shows
in what all clients are sent. A client that needs to know that its request is done sends
WHO after it: answers come in order.
"""

from holdfast.core.book import entries
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.core.relay.allowance import Allowance
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import NOBODY, told
from holdfast.holder.moment import now
from holdfast.holder.session import Session
from holdfast.model import errors
from holdfast.model.envelopes import Right
from holdfast.model.ids import ActorId, ClientId
from holdfast.model.inputs import Input, InputId
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import KINDS, NO_INPUT, Message, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.intents import Intend, Notify
from holdfast.wire.signatures import Sign
from holdfast.wire.trials import Try

INTENTS = 10
"""Intents a second that one operator may have put on record: more than it can mean."""

BURST = 100
"""Intents at once."""

_FRAME_KINDS = {message: kind for kind, message in KINDS.items()}


class Requests:
    """Carries what operators ask for, and tells them what came of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._driver = session.driver
        self._intake = session.driver.intake
        self._clients = session.clients
        self._interventions = session.interventions
        self._intents: dict[ActorId, Allowance] = {}

    def take(self, connection: Connection, message: Message) -> bool:
        """Do what is asked; False if it is none of these requests."""
        actor = connection.operator.id
        kind = _FRAME_KINDS[type(message)]
        try:
            with self._session.notifications.serving(connection, kind):
                return self._turn(actor, message) or self._other(
                    connection, actor, message
                )
        except errors.FreezeIncomplete as error:
            # It was done, as far as it goes: it is no refusal.
            connection.send(refusal(error, kind))
            return True
        except errors.HoldfastError as error:
            self._session.input_handler.refusals.declined(actor, kind, error)
            connection.send(refusal(error, kind))
            return True

    def end(self, connection: Connection, number: int) -> bool:
        """Tell whether this operator may end the session; it is on record."""
        actor = connection.operator.id
        try:
            self.demand(actor, Right.END)
        except errors.HoldfastError as error:
            self._session.input_handler.refusals.declined(actor, FrameKind.END, error)
            connection.send(refusal(error, FrameKind.END))
            return False
        self._interventions.end(actor, number)
        return True

    def demand(self, actor: ActorId, right: Right) -> None:
        """Do nothing if `actor` may use `right` here now.

        Raises:
            Forbidden: It may not.

        """
        if not self._intake.rights.may(actor, right, now()):
            raise errors.NotAllowed(actor, right.value)

    def _demand_acting(self, actor: ActorId) -> None:
        """Do nothing if `actor` may type here, or have commands run.

        Raises:
            Forbidden: It may not: an observer has nothing to say here.

        """
        if not self._intake.rights.may(actor, Right.INPUT, now()):
            self.demand(actor, Right.COMMAND)

    # ── the turn ──────────────────────────────────────────────────────────

    def _turn(self, actor: ActorId, message: Message) -> bool:
        match message:
            case wire.Take():
                self.pass_turn(turn.Took(actor))
            case wire.Ask(timeout_ms):
                self.pass_turn(turn.AskedFor(actor, timeout_ms / 1000))
            case wire.Answer(asker, granted):
                self.pass_turn(turn.Answered(actor, asker, granted))
            case wire.Give(to):
                if not self._clients.clients_of(to):
                    raise errors.OperatorNotHere(to)
                self.pass_turn(turn.Gave(actor, to))
            case wire.Drop():
                self.pass_turn(turn.Dropped(actor))
            case wire.Seize(halt):
                self._seize(actor, halt)
            case _:
                return False
        return True

    def pass_turn(self, event: turn.Event) -> bool:
        """Take what an operator does about the turn; False if it was refused."""
        self._session.writer.book()
        if not isinstance(event, turn.Seized):  # It waits for no file to be read.
            self._session.input_handler.limits.refresh()
        refused, at = self._session.input_handler.refusals.count, now()
        self._driver.do(self._intake.request(event, at), at)
        return self._session.input_handler.refusals.count == refused

    def _seize(self, actor: ActorId, halt: wire.Halt) -> None:
        heard = now().now
        if not self.pass_turn(turn.Seized(actor)):
            return
        self._session.tally.took("holdfast_seize_seconds", now().now - heard)
        # The turn has moved; nothing of the former holder is written any more.
        if halt is wire.Halt.FREEZE:
            self._interventions.freeze(actor)
        elif halt is wire.Halt.INTERRUPT:
            self._interventions.interrupt(actor)

    # ── everything else ───────────────────────────────────────────────────

    def _other(  # noqa: C901  # one case for each request
        self, connection: Connection, actor: ActorId, message: Message
    ) -> bool:
        match message:
            case wire.Approve(ticket, epoch, digest):
                approved = gate.Approved(ticket, actor, digest, epoch)
                self._session.policy.approvals.approve(approved)
            case wire.Deny(ticket, digest):
                self._session.policy.approvals.deny(gate.Denied(ticket, actor), digest)
            case wire.Freeze():
                self.demand(actor, Right.SEIZE)
                self._interventions.freeze(actor)
            case wire.Thaw():
                self.demand(actor, Right.SEIZE)
                self._interventions.thaw(actor)
            case presence.Grant() | presence.Revoke():
                self._rights(actor, message)
            case presence.DetachClient(client):
                self._dismiss(actor, client)
            case Intend():
                self._intend(actor, message)
            case Notify(text):
                self._demand_acting(actor)
                self._session.attention.notified(actor, text)
            case Sign() if connection.client is not None:
                self._session.book.sign(connection, message)
            case presence.Who() | Try() | wire.Inquire():
                self._question(connection, actor, message)
            case _:
                return False
        return True

    def _rights(
        self, actor: ActorId, message: presence.Grant | presence.Revoke
    ) -> None:
        self.demand(actor, Right.GRANT)
        at = now()
        if isinstance(message, presence.Revoke):
            self._session.writer.book()
            self._driver.do(self._intake.revoke(message.actor, actor, at), at)
            for client in self._clients.clients_of(message.actor):
                error = errors.NotAllowed(message.actor, Right.OBSERVE.value)
                client.dismiss(wire.Goodbye(error.code, str(error)))
            return
        expires = at.wall + message.for_ms / 1000 if message.for_ms else None
        rights = frozenset(map(_right, message.rights))
        part = self._intake.rights.part_of(actor, rights, expires, at)
        self._driver.do(self._intake.grant(message.actor, part, actor, at), at)

    def _dismiss(self, actor: ActorId, client: ClientId) -> None:
        """Hang up on a client; one that is not there has gone by itself."""
        present = [one for one in self._clients.attached() if one.client == client]
        for connection in present:
            if connection.operator.id != actor:
                self.demand(actor, Right.GRANT)
            connection.dismissed_by = actor
            error = errors.DetachedBy(self._clients.actor(actor).name or actor)
            connection.dismiss(wire.Goodbye(error.code, str(error)))

    def _intend(self, actor: ActorId, said: Intend) -> None:
        self._demand_acting(actor)
        at = now()
        allowance = self._intents.setdefault(actor, Allowance(INTENTS, BURST, at.now))
        if not allowance.spend(1, at.now):
            raise errors.AskedTooOften("intents a second", INTENTS)
        expected = said.expected()
        fields = entries.intended_fields(actor, said)
        self._driver.record(EntryKind.INTENDED, fields)
        self._session.policy.effects.intended(actor, expected)

    def _question(
        self,
        connection: Connection,
        actor: ActorId,
        message: presence.Who | Try | wire.Inquire,
    ) -> None:
        match message:
            case presence.Who():
                self._session.handover.conclude()
                connection.send(self._presence(actor))
            case Try(of, kind, payload, candidate):
                if candidate is not None:
                    self.demand(actor, Right.GRANT)
                given = Input(
                    NO_INPUT,
                    of,
                    kind,
                    self._intake.incarnation,
                    self._intake.turn.epoch,
                    payload,
                )
                self._session.trials.try_out(connection, given, candidate)
            case wire.Inquire(client, sequence):
                self._inquire(connection, actor, InputId(client, sequence))

    def _inquire(self, connection: Connection, actor: ActorId, asked: InputId) -> None:
        """Tell a client what became of an input, once that is known."""
        outcome = self._intake.inquire(actor, asked)
        if outcome is not None:
            connection.send(told(asked, outcome))
        else:
            at = now()
            self._driver.do(self._intake.settle(at), at)  # The asker is waiting.

    def _presence(self, actor: ActorId) -> presence.Presence:
        intake = self._intake
        rights = intake.rights.rights_of(actor, now())
        # Who may type and not look learns whose turn it is, and of nobody else;
        # who may do nothing learns just that.
        looks = Right.OBSERVE in rights
        holder = intake.turn.holder or NOBODY
        return presence.Presence(
            present=self._clients.present() if looks else (),
            holder=holder if rights else NOBODY,
            epoch=intake.turn.epoch,
            waiting=intake.turn.waiting[: presence.MAX_WAITING] if looks else (),
            frozen=intake.is_frozen and bool(rights),
            pending=tuple(
                one
                for one in self._session.notifications.pending
                if looks or one.actor == actor or Right.APPROVE in rights
            ),
            rights=tuple(sorted(rights)),
        )


def _right(word: str) -> Right:
    try:
        return Right(word)
    except ValueError:
        raise errors.NoSuchRight(word) from None
