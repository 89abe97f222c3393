"""Whether a session may be renamed, kept or forgotten, which its holder decides.

The keeper knows neither operators nor rights. It passes the request on, and does
what is asked when the holder agrees. While a session has no holder the request
waits for the next one, but not for ever: what no holder takes up can be forgotten.
"""

import itertools
import socket
import time
from dataclasses import dataclass

from holdfast.keeper.keeper_state import KeeperState, no_keeper, refusal
from holdfast.keeper.vault import Facts  # an annotation people read
from holdfast.linux import packets
from holdfast.model.holder_orders import Consent
from holdfast.model.keeper_messages import Failed, Said
from holdfast.model.session_requests import ProvenChange

PATIENCE = 5.0
"""Seconds for an answer: one that hangs has been replaced by then."""


@dataclass(slots=True)
class Request:
    """A request that waits for consent."""

    asker: socket.socket
    session: str
    asked: ProvenChange
    packet: packets.Packet
    """It as it came: the holder checks what was proven."""

    until: float


class Consents:
    """Requests that wait for the word of a holder."""

    def __init__(self, keeper_state: KeeperState) -> None:
        self._keeper_state = keeper_state
        self._open: dict[int, Request] = {}
        self._tickets = itertools.count(1)

    def must_be_asked(self, session: str) -> bool:
        """Tell whether a session has, or will have, a holder that can be asked."""
        kept = self._keeper_state.vault.deposits.get(session)
        return kept is not None and kept.held.consents

    def ask(
        self,
        asker: socket.socket,
        session: str,
        asked: ProvenChange,
        packet: packets.Packet,
    ) -> None:
        """Ask a holder, now or when there is one."""
        ticket = next(self._tickets)
        until = time.monotonic() + PATIENCE
        self._open[ticket] = Request(asker, session, asked, packet, until)
        self._keeper_state.wake(session)
        self._tell(ticket)

    def is_open(self, session: str) -> bool:
        """Tell whether a request waits for a session's holder."""
        return any(one.session == session for one in self._open.values())

    def deposited(self, session: str) -> None:
        """Ask a new holder what the one before it has not answered."""
        for ticket, request in self._open.items():
            if request.session == session:
                self._tell(ticket)

    def said(self, link: socket.socket, said: Said) -> Request | None:
        """Take the word of a holder; return what may be done now."""
        request = self._open.get(said.ticket)
        if request is None or self._keeper_state.held.get(link) != request.session:
            return None
        del self._open[said.ticket]
        if said.ok:
            return request
        self._keeper_state.links.send(request.asker, refusal_of(said))
        return None

    def next_deadline(self) -> float | None:
        """Return when to call `overdue`, or None."""
        return min((one.until for one in self._open.values()), default=None)

    def overdue(self, now: float) -> list[Request]:
        """Return what is to be done because there is nobody to ask."""
        late = [ticket for ticket, one in self._open.items() if now >= one.until]
        requests = [self._open.pop(ticket) for ticket in late]
        done = []
        for one in requests:
            if self._keeper_state.links_of(one.session):
                refused = no_keeper("the session's holder does not answer")
                self._keeper_state.links.send(one.asker, refused)
            else:
                done.append(one)
        return done

    def _tell(self, ticket: int) -> None:
        request = self._open[ticket]
        self._keeper_state.tell_holder(request.session, Consent(ticket, request.packet))


def refusal_of(said: Said | Failed) -> Facts:
    """Return what a holder refused, for the client that waits for it."""
    return refusal(said.code, said.text, **(said.facts or {}))
