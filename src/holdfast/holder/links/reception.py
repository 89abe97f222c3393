"""Lets clients in, and sees them off."""

from collections.abc import Callable
from functools import partial

from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.attachment import Attachment
from holdfast.holder.links.client_messages import ClientMessages
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.links.observations import Observations
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.linux import descriptors, packets


class Reception:
    """The door of one session."""

    def __init__(
        self,
        context: Context,
        session: Session,
        display: Display,
        leader: Leader,
        keeper: KeeperLink,
        state: Callable[[], str],
    ) -> None:
        """Open the door; `state` returns what the session is said to be doing."""
        requests = Requests(session)
        self._messages = ClientMessages(
            context.vaulted.session,
            session,
            requests,
            Observations(context, session, requests, display.view, leader),
            Attachment(context, session, requests, display, leader, state),
            leader,
        )
        keeper.demand_change = session.presence.demand_change
        self._keeper = keeper
        self._presence = session.presence
        self._company = context.company
        self._poll = context.poll
        self.gone = context.company.gone
        """What was hung up on, and is to be seen off."""

        self._spare = descriptors.Spare()
        self._listener = context.vaulted.listener
        self._listener.settimeout(0)
        self._poll.watch(self._listener, self._accept)

    def see_off(self) -> None:
        """Close what was hung up on."""
        while self.gone:
            connection = self.gone.pop(0)
            self._company.connections.remove(connection)
            self._poll.unwatch(connection.link)
            connection.close()
            if connection.client is not None:
                self._presence.left(connection)

    def _accept(self) -> None:
        try:
            link, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            self._spare.hang_up(self._listener)  # No descriptor is left.
            return
        if not packets.is_ours(link):
            link.close()
            return
        self._keeper.knocked()
        connection = Connection(link, self._poll, self.gone)
        self._company.connections.append(connection)
        self._company.make_room()
        self._poll.watch(link, partial(connection.receive, self._messages.heard))
