"""Operators attaching and detaching, their rights, and what they are told."""

from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.writer import Writer
from holdfast.holder.links import authentication
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import NOBODY, Notifications
from holdfast.holder.moment import now
from holdfast.holder.policy.approvals import Approvals
from holdfast.linux import packets
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Envelope, Right, first_envelope
from holdfast.model.errors import NotAllowed, SessionNotFound


class Presence:
    """The operators of one session, as they come and go."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        writer: Writer,
        notifications: Notifications,
        approvals: Approvals,
    ) -> None:
        self._descriptors = context.descriptors
        self._clients = context.clients
        self._attention = context.attention
        self._driver = driver
        self._writer = writer
        self._notifications = notifications
        self._approvals = approvals

    def meet(self, actor: Actor, promised: Envelope | None = None) -> None:
        """Let an operator in; one that is new here gets its first envelope."""
        self._clients.meet(actor)
        intake = self._driver.intake
        if intake.rights.envelope_of(actor.id) is None:
            given, at = self.first_envelope(actor, promised), now()
            self._driver.do(intake.grant(actor.id, given, NOBODY, at), at)

    def first_envelope(self, actor: Actor, promised: Envelope | None) -> Envelope:
        """Return the envelope of an operator that was never here."""
        began_it = self._descriptors.held.creator == actor.id
        session = self._descriptors.session
        return first_envelope(actor.kind, session, promised, began_it=began_it)

    def came(self, connection: Connection) -> None:
        """Record that a client attached."""
        self._writer.book()
        actor, client, at = connection.operator, connection.client, now()
        assert client is not None  # noqa: S101  # it has just attached
        news = self._clients.is_first(connection)
        intake = self._driver.intake
        self._driver.do(intake.attach(actor.id, client, at, news=news), at)
        self._approvals.attend()

    def brief(self, connection: Connection) -> None:
        """Tell a client that has just attached what waits for an answer."""
        self._notifications.welcome(connection, connection.operator.id)
        self._clients.brief(connection)
        self._attention.brief(connection)

    def left(self, connection: Connection) -> None:
        """Record that a client is gone."""
        self._writer.book()
        actor, client = connection.operator, connection.client
        assert client is not None  # noqa: S101  # only who came can leave
        last = not self._clients.clients_of(actor.id)
        news = self._clients.is_first(connection)
        intake, at = self._driver.intake, now()
        self._driver.do(intake.settle(at), at)
        self._notifications.left(actor.id, connection)
        by = connection.dismissed_by
        gone = intake.detach(
            actor.id, client, last=last, at=at, news=news or by is not None, by=by
        )
        self._driver.do(gone, at)
        self._approvals.attend()

    def demand_change(self, packet: packets.Packet) -> None:
        """Do nothing if the asker of a change may have it.

        Raises:
            Forbidden: It may not, or has not proven who it is.

        """
        if packet.get("id") != self._descriptors.session:
            raise SessionNotFound(str(packet.get("id")))
        asker = authentication.asker_of(packet)
        if asker is not None:
            self.meet(asker.actor, asker.promised)
            actor, rights = asker.actor.id, self._driver.intake.rights
            if not rights.may(actor, Right.END, now()):
                raise NotAllowed(actor, Right.END.value)
