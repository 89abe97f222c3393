"""The holder's process: one session, one loop, and no other state.

What comes in (the program's output, clients' messages, the leader's exit, the
keeper's end, time) is passed to the rooms; what their machines answer is done, in
order.
"""

import math
import time

from holdfast.core.session.stream import StreamWindow
from holdfast.holder.context import Context
from holdfast.holder.doze import Dozing
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.links.reception import Reception
from holdfast.holder.output.attention import AttentionCalls
from holdfast.holder.output.display import Display
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.poll import Poll
from holdfast.holder.processes.leader import Leader
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.holder.session import Session
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.timers import Timers
from holdfast.linux import shared_memory
from holdfast.model.geometry import Size

FAREWELL = 0.5
"""Seconds in which clients are told that the session was not recovered."""


class Holder:
    """The process that holds one session."""

    def __init__(
        self, vaulted: Vaulted, *, token: str = "", exit_status: int | None = None
    ) -> None:
        self._vaulted = vaulted
        self._poll, self._timers = Poll(), Timers()
        memory = shared_memory.view(vaulted.memory)
        window = StreamWindow.open(memory[AREA:])
        company = Company()
        self._keeper = KeeperLink(vaulted, self._poll, self._timers, company)
        # An heir deposits before it reads the book, which may be long.
        known = exit_status if token else self._keeper.begin("", exit_status)
        self._state_timer = self._timers.add(self._tell_state)
        context = Context(
            vaulted,
            company,
            ShellCommands(vaulted, window),
            self._poll,
            self._timers,
            AttentionCalls(vaulted, company, self._timers, self._keeper.change),
            self._resized,
            lambda: self._state_timer.set(0.0),
        )
        self._attention = context.attention
        self._session = Session(context, NoteMemory(memory[:AREA]))
        self._leader = Leader(
            context, self._session.driver, self._session.freezer, known
        )
        self._begin(is_new=bool(token))
        if token:
            self._leader.exit = self._keeper.begin(token, exit_status)
        self._display = Display(context, window, self._session)
        self._reception = Reception(
            context,
            self._session,
            self._display,
            self._leader,
            self._keeper,
            self._state,
        )
        self._recovery = self._display.recovery
        self._lost_timer = self._timers.add(self._lose)
        if self._leader.exit is not None:
            self._over()
        self._leader.watch(self._display.drain, self._ended)
        channel = context.shell.channel
        if channel is not None and channel.fd is not None:
            # What a shell tells is more than its pipe holds, and its prompt waits.
            self._poll.watch(channel.fd, channel.drain)
        if self._leader.exit is None and vaulted.woken is None:
            # What listened before is not known.
            self._display.listeners.printed(time.monotonic())
        self._dozing = Dozing(
            context, self._session, self._display, self._leader, self._keeper
        )
        context.changed()

    def _begin(self, *, is_new: bool) -> None:
        """Have the command judged; at its birth, do not hold a session without one.

        Raises:
            HoldfastError: It was refused or cannot be executed, and why.

        """
        start = self._session.policy.start
        self._session.begin()
        if is_new:
            record = self._vaulted.record._replace(state=self._state())
            self._vaulted.record = record
            if start.refusal is not None:
                self._session.settle()
                raise start.refusal
            start.demand_room()

    def run(self) -> None:
        """Hold the session until it is forgotten."""
        keeper, timers, poll = self._keeper, self._timers, self._poll
        gone, next_key = self._reception.gone, self._session.desk.next_key
        while keeper.is_wanted and (keeper.leave_by is None or not self._leaves()):
            # The disk comes last: what was typed is shown before it is durable,
            # and acknowledged after.
            wait = 0.0 if timers.when_idle is not None else self._wait()
            if not poll.turn(wait) and timers.when_idle is not None:
                if poll.late or poll.expected:
                    poll.interrupt()
                timers.idle()
            if timers.first < math.inf and (now := time.monotonic()) >= timers.first:
                if poll.late or poll.expected:
                    poll.interrupt()
                timers.tick(now)
                if next_key.is_due and keeper.leave_by is None:
                    next_key.prepare()
            if gone:
                poll.interrupt()
                self._reception.see_off()

    def _wait(self) -> float | None:
        """Return how long nothing is to be done; None if nobody knows."""
        timers = self._timers
        if timers.is_stale:
            timers.refresh()
        if timers.first == math.inf:
            return None
        return max(0.0, timers.first - time.monotonic())

    def _leaves(self) -> bool:
        """Tell whether to make room for a successor; the session goes on."""
        self._session.settle()
        return self._keeper.may_leave(is_busy=self._session.desk.is_busy)

    def _ended(self) -> None:
        """Take that the leader has ended, and all that it has printed is read."""
        status = self._leader.exit
        self._attention.ended()
        self._keeper.change({"state": "exited", "exit": status})
        self._session.exited("unknown" if status is None else f"{status}")
        self._display.painter.ended()
        self._over()

    def _over(self) -> None:
        """Keep nothing for another life, unless this one was refused."""
        if self._recovery.over():
            self._lost_timer.set(time.monotonic() + FAREWELL)

    def _lose(self, _now: float) -> None:
        self._keeper.unbegun()

    def _resized(self, size: Size) -> None:
        self._display.resized(size)
        self._keeper.change({"size": [size.columns, size.rows]})

    def _tell_state(self, now: float) -> None:
        """Let the keeper know whether the session stands still; it lists that."""
        state, told = self._state(), self._vaulted.record.state
        is_refused = self._session.policy.start.refusal is not None
        if state not in (STARTING, "exited") and not is_refused:
            self._recovery.begun(now)
        if told not in (state, "exited"):
            self._keeper.change({"state": state})

    def _state(self) -> str:
        if self._leader.exit is not None:
            return "exited"
        if self._vaulted.start:
            return STARTING
        return "frozen" if self._session.driver.intake.is_frozen else "running"
