"""Tells all clients, and the keeper, when the session calls for attention.

What the program prints is looked through before it becomes part of the stream. A holder
that is killed in between has told it already, or its successor reads it again.
"""

import math
import time
from collections.abc import Callable

from holdfast.core.session.attention import Calls
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.links.connection import Connection
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.model.events import EventName
from holdfast.model.ids import ActorId
from holdfast.model.session_record import (
    NEEDS_INPUT,
    NO_ATTENTION,
    PROGRAM,
    Attention,
    Facts,
)
from holdfast.model.text import bounded
from holdfast.term.attention import MAX_TEXT, Call
from holdfast.wire import messages as wire


class AttentionCalls:
    """One session's calls for attention, and who is told."""

    def __init__(
        self,
        descriptors: SessionDescriptors,
        clients: AttachedClients,
        timers: Timers,
        change: Callable[[Facts], None],
    ) -> None:
        """Tell of calls; `change` lets the keeper know what it lists."""
        self._descriptors = descriptors
        self._clients = clients
        self._change = change
        self._machine = Calls(time.monotonic(), descriptors.record.attention)
        self._timer = timers.add(self._tick)
        self.is_on = not self._machine.is_quiet
        """Whether `typed` has anything to do: it is asked for every key."""

        self.typed_at = -math.inf
        """When an operator typed last, by the monotonic clock."""

        self.printed_at = -math.inf
        """When the session printed something, likewise."""

    def printed(self, call: Call) -> None:
        """Take a call that a program printed."""
        self._called(Attention(call.what, call.text, _wall_ms(), PROGRAM))

    def notified(self, actor: ActorId, text: str) -> None:
        """Take an operator's call."""
        said = bounded(text, MAX_TEXT)
        self._called(Attention(NEEDS_INPUT, said, _wall_ms(), actor))

    def typed(self, actor: ActorId) -> None:
        """Note that an operator has typed: the session has what it called for."""
        stood = self._machine.typed()
        self.is_on = False
        self._timer.set(None)
        if stood is not None:
            self._change({"attention": NO_ATTENTION._asdict()})
            fields: dict[str, str | int] = {"what": stood.what, "actor": actor}
            name, session = EventName.ATTENTION_CLEARED, self._descriptors.session
            self._clients.announce(wire.Event(name, session, fields))

    def ended(self) -> None:
        """Note that the session is over: there is nobody left to be answered."""
        if self._machine.typed() is not None:
            self._change({"attention": NO_ATTENTION._asdict()})
        self.is_on = False
        self._timer.set(None)

    def brief(self, newcomer: Connection) -> None:
        """Tell a client that has just attached what stands."""
        if self._machine.standing.what:
            newcomer.send(self._event(self._machine.standing))

    def _called(self, call: Attention) -> None:
        now = time.monotonic()
        self._tell(self._machine.called(call, now, self.typed_at))

    def _tick(self, now: float) -> None:
        self._tell(self._machine.tick(now))

    def _tell(self, told: Attention | None) -> None:
        self._timer.set(self._machine.next_deadline())
        self.is_on = not self._machine.is_quiet
        if told is not None:
            self._change({"attention": told._asdict()})
            self._clients.announce(self._event(told))

    def _event(self, told: Attention) -> wire.Event:
        fields: dict[str, str | int] = {
            "what": told.what,
            "text": told.text,
            "source": told.source,
            "since_ms": told.since_ms,
        }
        return wire.Event(EventName.ATTENTION_CALLED, self._descriptors.session, fields)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
