"""Requests from operators other than input.

The turn, an approval, a freeze, rights, and who is here. Each request is passed to the
Intake in the name of its sender. A refusal is answered with the reason; a success shows
in what everybody is sent. A client that needs to know that its request is done sends
WHO after it: answers come in order.
"""

import os
import signal
from contextlib import suppress

from holdfast.core.book import entries
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.core.relay.allowance import Allowance
from holdfast.holder.input.desk import Desk
from holdfast.holder.links import door
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import NOBODY
from holdfast.holder.moment import now
from holdfast.holder.policy.exec_requests import Executing
from holdfast.holder.processes.freezer import Halting
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import packets, pty
from holdfast.linux.freezer import Missed
from holdfast.model.envelopes import Right
from holdfast.model.errors import (
    ApprovalMismatch,
    AskedTooOften,
    FreezeIncomplete,
    HoldfastError,
    NoSuchRight,
    NotAllowed,
    OperatorNotHere,
    SessionNotFound,
    ThawIncomplete,
)
from holdfast.model.events import EventName
from holdfast.model.ids import FIRST_INCARNATION, ActorId
from holdfast.model.inputs import Input, InputId
from holdfast.wire import company as parties
from holdfast.wire import messages as wire
from holdfast.wire.codec import KINDS, NO_INPUT, Message, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.intents import Intend
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read
from holdfast.wire.trials import Try

INTENTS = 10
"""Intents a second that one operator may have put on record: more than it can mean."""

BURST = 100
"""Intents at once."""

_FRAME_KINDS = {message: kind for kind, message in KINDS.items()}


class Requests:
    """Carries what operators ask for, and tells them what came of it."""

    def __init__(
        self,
        vaulted: Vaulted,
        desk: Desk,
        company: Company,
        halting: Halting,
        executing: Executing | None = None,
    ) -> None:
        self._vaulted = vaulted
        self._desk = desk
        self._company = company
        self._halting = halting
        self._executing = executing
        self._intents: dict[ActorId, Allowance] = {}

    def take(self, connection: Connection, message: Message) -> bool:
        """Do what is asked; False if it is none of these requests."""
        assert connection.actor is not None  # noqa: S101  # the door saw to it
        actor = connection.actor.id
        kind = _FRAME_KINDS[type(message)]
        try:
            with self._desk.telling.serving(connection, kind):
                return self._turn(actor, message) or self._other(
                    connection, actor, message
                )
        except FreezeIncomplete as error:
            # It was done, as far as it goes: it is no refusal.
            connection.send(refusal(error, kind))
            return True
        except HoldfastError as error:
            self._desk.declined(actor, kind, error)
            connection.send(refusal(error, kind))
            return True

    def end(self, connection: Connection, number: int) -> bool:
        """Tell whether this operator may end the session; it is on record."""
        assert connection.actor is not None  # noqa: S101  # the door saw to it
        try:
            self.demand(connection.actor.id, Right.END)
        except HoldfastError as error:
            self._desk.declined(connection.actor.id, FrameKind.END, error)
            connection.send(refusal(error, FrameKind.END))
            return False
        if self._desk.is_frozen:
            with suppress(ThawIncomplete):  # Also what is held can be killed.
                self._thaw(connection.actor.id)  # What stands still ignores signals.
        fields: dict[str, Value] = {"by": connection.actor.id, "signal": number}
        self._desk.record(EntryKind.ENDING, fields)
        return True

    # ── the turn ──────────────────────────────────────────────────────────

    def _turn(self, actor: ActorId, message: Message) -> bool:
        match message:
            case wire.Take():
                self._desk.request(turn.Took(actor))
            case wire.Ask(timeout_ms):
                self._desk.request(turn.AskedFor(actor, timeout_ms / 1000))
            case wire.Answer(asker, granted):
                self._desk.request(turn.Answered(actor, asker, granted))
            case wire.Give(to):
                if not self._company.clients_of(to):
                    raise OperatorNotHere(to)
                self._desk.request(turn.Gave(actor, to))
            case wire.Drop():
                self._desk.request(turn.Dropped(actor))
            case wire.Seize(halt):
                self._seize(actor, halt)
            case _:
                return False
        return True

    def _seize(self, actor: ActorId, halt: wire.Halt) -> None:
        if not self._desk.request(turn.Seized(actor)):
            return
        # The turn has moved; nothing of the former holder is written any more.
        if halt is wire.Halt.FREEZE:
            self._freeze(actor)
        elif halt is wire.Halt.INTERRUPT:
            self._interrupt(actor)

    def _interrupt(self, actor: ActorId) -> None:
        group = pty.foreground(self._vaulted.master)
        if group is not None:
            self._desk.record(EntryKind.INTERRUPTED, {"by": actor, "group": group})
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)

    # ── everything else ───────────────────────────────────────────────────

    def _other(self, connection: Connection, actor: ActorId, message: Message) -> bool:
        match message:
            case wire.Approve(ticket, epoch, digest):
                self._approve(gate.Approved(ticket, actor, digest, epoch))
            case wire.Deny(ticket, digest):
                self._deny(actor, ticket, digest)
            case wire.Freeze():
                self.demand(actor, Right.SEIZE)
                self._freeze(actor)
            case wire.Thaw():
                self.demand(actor, Right.SEIZE)
                self._thaw(actor)
            case parties.Grant() | parties.Revoke():
                self._rights(actor, message)
            case Intend():
                self._intend(actor, message)
            case parties.Who() | Try() | wire.Inquire():
                self._question(connection, actor, message)
            case _:
                return False
        return True

    def _approve(self, approved: gate.Approved) -> None:
        if self._executing is not None and self._executing.knows(approved.ticket):
            self._executing.approve(approved)
        else:
            self._desk.approve(approved)

    def _deny(self, actor: ActorId, ticket: int, digest: bytes) -> None:
        for pending in self._desk.telling.pending:
            if pending.ticket == ticket and pending.digest != digest:
                raise ApprovalMismatch(ticket)
        denied = gate.Denied(ticket, actor)
        if self._executing is not None and self._executing.knows(ticket):
            self._executing.deny(denied)
        else:
            self._desk.deny(denied)

    def _freeze(self, actor: ActorId) -> None:
        # First nothing more is written, then everything stands still.
        self._halting.prepare()
        self._desk.freeze(actor)
        frozen = self._halting.freeze()
        self._company.announce(wire.State("frozen", FIRST_INCARNATION))
        self._tell_missed(EventName.FREEZE_MISSED, frozen.missed)
        if frozen.missed:
            first = frozen.missed[0]
            raise FreezeIncomplete(len(frozen.missed), first.pid, first.why)

    def _thaw(self, actor: ActorId) -> None:
        thawed = self._halting.thaw()
        if thawed.is_held:
            raise ThawIncomplete
        self._desk.thaw(actor)
        self._company.announce(wire.State("running", FIRST_INCARNATION))
        self._tell_missed(EventName.THAW_MISSED, thawed.missed)

    def _tell_missed(self, name: EventName, missed: tuple[Missed, ...]) -> None:
        for one in missed[: parties.MAX_JOBS]:
            fields: dict[str, str | int] = {"pid": one.pid, "why": one.why}
            self._company.announce(wire.Event(name, self._vaulted.session, fields))

    def _rights(self, actor: ActorId, message: parties.Grant | parties.Revoke) -> None:
        self.demand(actor, Right.GRANT)
        if isinstance(message, parties.Revoke):
            self._desk.revoke(message.actor, actor)
            for client in self._company.clients_of(message.actor):
                error = NotAllowed(message.actor, Right.OBSERVE.value)
                client.dismiss(wire.Goodbye(error.code, str(error)))
            return
        at = now()
        expires = at.wall + message.for_ms / 1000 if message.for_ms else None
        rights = frozenset(map(_right, message.rights))
        part = self._desk.rights.part_of(actor, rights, expires, at)
        self._desk.grant(message.actor, part, actor)

    def _intend(self, actor: ActorId, said: Intend) -> None:
        at = now()
        if not self._desk.rights.may(actor, Right.INPUT, at):
            self.demand(actor, Right.COMMAND)
        allowance = self._intents.setdefault(actor, Allowance(INTENTS, BURST, at.now))
        if not allowance.spend(1, at.now):
            raise AskedTooOften("intents a second", INTENTS)
        fields = entries.intended_fields(actor, said)
        self._desk.record(EntryKind.INTENDED, fields)

    def _question(
        self,
        connection: Connection,
        actor: ActorId,
        message: parties.Who | Try | wire.Inquire,
    ) -> None:
        match message:
            case parties.Who():
                connection.send(self._presence(actor))
            case Try(of, kind, payload, candidate):
                if candidate is not None:
                    self.demand(actor, Right.GRANT)
                given = Input(
                    NO_INPUT,
                    of,
                    kind,
                    FIRST_INCARNATION,
                    self._desk.epoch,
                    payload,
                )
                self._desk.try_out(connection, given, candidate)
            case wire.Inquire(client, sequence):
                self._desk.inquire(connection, actor, InputId(client, sequence))

    def _presence(self, actor: ActorId) -> parties.Presence:
        desk = self._desk
        rights = desk.rights.rights_of(actor, now())
        # Whoever may type and not look learns whose turn it is, and of nobody else;
        # whoever may do nothing learns just that.
        looks = Right.OBSERVE in rights
        return parties.Presence(
            present=self._company.present() if looks else (),
            holder=desk.holder if rights else NOBODY,
            epoch=desk.epoch,
            waiting=desk.waiting[: parties.MAX_WAITING] if looks else (),
            frozen=desk.is_frozen and bool(rights),
            pending=tuple(
                one
                for one in desk.telling.pending
                if looks or one.actor == actor or Right.APPROVE in rights
            ),
            rights=tuple(sorted(rights)),
        )

    def demand(self, actor: ActorId, right: Right) -> None:
        """Do nothing if `actor` may use `right` here now.

        Raises:
            Forbidden: It may not.

        """
        if not self._desk.rights.may(actor, right, now()):
            raise NotAllowed(actor, right.value)

    def demand_change(self, packet: packets.Packet) -> None:
        """Do nothing if whoever asks the keeper for a change may have it.

        Raises:
            Forbidden: It may not, or has not proven who it is.

        """
        if packet.get("id") != self._vaulted.session:
            raise SessionNotFound(str(packet.get("id")))
        asker = door.asker_of(packet)
        if asker is not None:
            self._desk.meet(asker.actor, asker.promised)
            self.demand(asker.actor.id, Right.END)


def _right(word: str) -> Right:
    try:
        return Right(word)
    except ValueError:
        raise NoSuchRight(word) from None
