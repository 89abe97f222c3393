"""Forks a session's leader, plain or in a capsule; it waits to be judged."""

import os
from dataclasses import replace
from typing import NamedTuple

from holdfast.core.capsule.limit_choice import LimitChoice
from holdfast.core.capsule.runtime_choice import Choice
from holdfast.holder import session_limits
from holdfast.holder.capsule_start import hold_in_capsule
from holdfast.holder.provenance.state_channel import make_pipe
from holdfast.linux import exec_gate, pty, shared_memory, shells, spawn
from holdfast.linux.capsule.start import Capsule
from holdfast.model.errors import NoCapsule
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.limits import NO_LIMITS, Limits
from holdfast.model.session_requests import Creation
from holdfast.model.text import printable

MAX_WHY = 300
"""Characters that say why there is no capsule."""


class HeldLeader(NamedTuple):
    """A leader that waits for the word, and what the session needs of it."""

    held: spawn.Held
    master: int
    capsule: Capsule | None = None
    limits: Limits = NO_LIMITS
    """Those that hold."""

    starters: tuple[str, ...] = ()
    """Of what was restored: who started which process."""

    no_capsule: str = ""
    """Why it is plain, if it was to be in a capsule."""

    @property
    def walls(self) -> tuple[int, ...]:
        """What keeps its capsule, if it is in one."""
        found = self.capsule
        return () if found is None else (found.first, found.lifeline)

    def gate(self) -> tuple[int, ...]:
        """Return what its exec gate needs, if it has one."""
        listener = self.held.listener
        if listener is None:
            return ()
        return listener, shared_memory.create("exec-gate", exec_gate.SIZE)


def integrated(
    asked: Creation, session: SessionId, leader: spawn.Leader
) -> tuple[spawn.Leader, str]:
    """Return the leader as it tells what it runs, and which shell that is, if any."""
    if not asked.integration:
        return leader, ""
    shell = shells.integrated(leader.command, leader.environment)
    if shell is None:
        return leader, ""
    changed = replace(
        leader,
        command=shell.command,
        environment=shell.environment,
        secret=shells.handed_over(session, make_pipe(session)),
    )
    return changed, shell.shell


def hold(
    asked: Creation,
    session: SessionId,
    leader: spawn.Leader,
    size: Size,
    choices: tuple[Choice, LimitChoice],
) -> HeldLeader:
    """Fork the leader, which waits, on a terminal of its own.

    Raises:
        HoldfastError: It cannot be executed, or there can be no capsule and must be.
        OSError: The kernel refuses.

    """
    choice, limits = choices
    why_not = ""
    if choice.is_capsule:
        try:
            return _hold_limited(asked, session, leader, size, limits)
        except NoCapsule as error:
            if choice.is_required:
                raise
            why_not = printable(str(error), MAX_WHY)
    master, slave = pty.open_pty(size)
    held = spawn.hold_leader(leader, slave)
    os.close(slave)
    return HeldLeader(held, master, no_capsule=why_not)


def _hold_limited(
    asked: Creation,
    session: SessionId,
    leader: spawn.Leader,
    size: Size,
    limits: LimitChoice,
) -> HeldLeader:
    with session_limits.prepared(session, limits) as ready:
        session_limits.apply(ready.made, ready.choice)
        inside = replace(leader, limited=ready.handles)
        capsule = hold_in_capsule(asked, session, inside, size)
    capsule = session_limits.recorded_in(capsule, ready.made)
    return HeldLeader(capsule.held, capsule.master, capsule, ready.choice.limits)
