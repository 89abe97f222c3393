"""Checks that sessions nobody returns to are reclaimed, and only those.

A crowd of sessions on one host that do something now and then and later nothing
at all. The crowd knows by true time when each was last active; the reaper knows
only what the host's observer reports by the host's clock.
"""

from dataclasses import dataclass

from holdfast.core.session.idle_sessions import (
    Action,
    Activity,
    Effect,
    Observed,
    Policy,
    Reap,
    Reaped,
    Reaper,
    ReapRefused,
)
from holdfast.model.ids import SessionId
from holdfast.testing.world import Machine, demand

WINDOW = 8.0
WARNING = 2.0
LOOK = 1.0
DRIFT = 0.98
"""How much of a window must have passed by true time, whatever a clock says."""


@dataclass(slots=True)
class _Idler:
    session: SessionId
    busy_until: float
    active_at: float = 0.0
    outputs: int = 0
    is_attached: bool = False
    is_reaped: bool = False


class IdleCrowd:
    """Sessions of one host that come to rest, and the reaper that finds them."""

    def __init__(self, machine: Machine, size: int) -> None:
        self._machine = machine
        self._world = machine.world
        self._boot = machine.boot
        self._reaper = Reaper(Policy(WINDOW, WARNING, Action.END))
        self._idlers = {
            SessionId(f"idle{n}"): _Idler(
                SessionId(f"idle{n}"), self._world.rng.uniform(0, 60)
            )
            for n in range(size)
        }
        self._look()

    def close(self) -> None:
        """Check that nobody is left who has long been idle (M9)."""
        if self._machine.boot != self._boot:
            return  # They died with their host, and so did its reaper.
        patience = 4 * (WINDOW + WARNING)
        for idler in self._idlers.values():
            overdue = self._world.now - idler.active_at > patience
            demand(
                idler.is_reaped or not overdue, "M9", f"{idler.session} was forgotten"
            )

    def _look(self) -> None:
        now = self._machine.clock().now
        for idler in self._idlers.values():
            if not idler.is_reaped:
                self._live(idler)
                event = Observed(
                    idler.session, Activity(int(idler.is_attached), idler.outputs)
                )
                self._perform(self._reaper.handle(event, now))
        self._perform(self._reaper.tick(now))
        self._machine.after(LOOK, self._look)

    def _live(self, idler: _Idler) -> None:
        rng = self._world.rng
        if self._world.now > idler.busy_until:
            idler.is_attached = False
            return
        idler.is_attached = rng.random() < 0.2
        if idler.is_attached or rng.random() < 0.3:
            idler.outputs += 1
            idler.active_at = self._world.now

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Reap):
                self._reap(self._idlers[effect.session])

    def _reap(self, idler: _Idler) -> None:
        now = self._machine.clock().now
        quiet = self._world.now - idler.active_at
        demand(not idler.is_reaped, "M9", f"{idler.session} is reaped twice")
        demand(quiet >= WINDOW * DRIFT, "M9", f"{idler.session} reaped after {quiet} s")
        if self._world.rng.random() < 0.3:
            # An operator attached between the decision and the commit.
            self._world.reached["reap beaten by an attach"] += 1
            idler.active_at = self._world.now
            idler.outputs += 1
            self._reaper.handle(ReapRefused(idler.session), now)
            return
        self._world.reached["reaped"] += 1
        idler.is_reaped = True
        self._reaper.handle(Reaped(idler.session), now)
