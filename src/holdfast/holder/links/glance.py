"""A short summary of a session's current state, for lists."""

import time

from holdfast.holder.context import Context
from holdfast.holder.links.observations import Observations
from holdfast.holder.output.display import Display
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.session import Session
from holdfast.linux.session_state import printed_ms
from holdfast.model.ids import ActorId
from holdfast.model.keeper_messages import Seen
from holdfast.wire.messages import Mode

MAX_NAMED = 16
"""Clients told of in a list; `who` tells of all."""


class SessionGlance:
    """Says what one session does now."""

    def __init__(
        self,
        context: Context,
        session: Session,
        display: Display,
        observations: Observations,
    ) -> None:
        self._descriptors = context.descriptors
        self._clients = context.clients
        self._turn = session.driver.intake.turn
        self._display = display
        self._observations = observations

    def seen(self) -> Seen:
        """Look now."""
        holder = self._turn.holder
        present = [one for one in self._clients.attached() if one.actor is not None]
        return Seen(
            doing=STARTING if self._descriptors.start else self._doing(),
            turn_of="" if holder is None else self._name(holder),
            attached=tuple(self._name(one.operator.id) for one in present[:MAX_NAMED]),
            output_ms=self._printed_ms(),
            operating=sum(one.mode is Mode.OPERATE for one in present),
            offset=self._display.window.end,
        )

    def _doing(self) -> str:
        now = self._observations.state()
        return f"{now.state} in {now.program}" if now.program else now.state

    def _name(self, actor: ActorId) -> str:
        return self._clients.actor(actor).name or actor

    def _printed_ms(self) -> int:
        """Return when something was last printed; a successor has the kernel's word."""
        if self._display.printed_at is None:
            return printed_ms(self._descriptors.master) or 0
        ago = time.monotonic() - self._display.printed_at
        return time.time_ns() // 1_000_000 - round(ago * 1000)
