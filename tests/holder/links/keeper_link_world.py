"""What a holder's link to its keeper works with."""

import time
from dataclasses import dataclass

from tests.holder.keeper_world import PATIENCE

from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.poll import Poll
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)


@dataclass
class World:
    """What a holder's link to its keeper works with."""

    descriptors: SessionDescriptors
    poll: Poll
    timers: Timers
    clients: AttachedClients

    def link(self) -> KeeperLink:
        """Return a link that has not begun."""
        return KeeperLink(self.descriptors, self.poll, self.timers, self.clients)

    @property
    def due(self) -> float:
        """When it has to be called; infinity if it waits for nothing."""
        self.timers.refresh()
        return self.timers.first

    def turn(self, later: float = 0.0) -> None:
        """Do what the clock demands, now or some seconds later."""
        self.timers.tick(time.monotonic() + later)

    def hear(self) -> None:
        """Take one thing that the keeper said."""
        assert self.poll.turn(PATIENCE)

    def hang_up(self) -> None:
        """Close our end, if the keeper is gone."""
        while self.poll.turn(0):
            pass
