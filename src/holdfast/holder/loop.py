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
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.links.dispatcher import Dispatcher
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.output.attention import AttentionCalls
from holdfast.holder.output.display import Display
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.poll import Poll
from holdfast.holder.processes.fence import FENCED
from holdfast.holder.processes.leader import Leader
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.holder.session import Session
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import shared_memory
from holdfast.model.geometry import Size

FAREWELL = 0.5
"""Seconds in which clients are told that the session was not recovered."""


class Holder:
    """The process that holds one session."""

    def __init__(
        self,
        descriptors: SessionDescriptors,
        *,
        token: str = "",
        exit_status: int | None = None,
    ) -> None:
        self._descriptors = descriptors
        self._poll, self._timers = Poll(), Timers()
        memory = shared_memory.view(descriptors.memory)
        window = StreamWindow.open(memory[AREA:])
        clients = AttachedClients()
        self._keeper = KeeperLink(descriptors, self._poll, self._timers, clients)
        # An heir deposits before it reads the book, which may be long.
        known = exit_status if token else self._keeper.begin("", exit_status)
        self._state_timer = self._timers.add(self._tell_state)
        context = Context(
            descriptors,
            clients,
            ShellCommands(descriptors, window),
            self._poll,
            self._timers,
            AttentionCalls(descriptors, clients, self._timers, self._keeper.change),
            self._resized,
            lambda: self._state_timer.set(0.0),
        )
        context.tally.open(descriptors.session)
        self._attention = context.attention
        self._session = Session(context, NoteMemory(memory[:AREA]))
        self._leader = Leader(
            context, self._session.driver, self._session.freezer, known
        )
        self._begin(is_new=bool(token))
        if token:
            self._leader.exit = self._keeper.begin(token, exit_status)
            context.tally.restored(descriptors.begun_at)
        self._display = Display(context, window, self._session)
        self._dispatcher = Dispatcher(
            context,
            self._session,
            self._display,
            self._leader,
            self._keeper,
            self._state,
        )
        self._begin_fence()
        self._recovery = self._display.recovery
        self._lost_timer = self._timers.add(self._lose)
        if self._leader.exit is not None:
            self._over()
        self._leader.watch(self._display.drain, self._ended)
        self._watch_what_is_told(context)
        if self._leader.exit is None and descriptors.woken is None:
            # What listened before is not known.
            self._display.listeners.printed(time.monotonic())
        self._dozing = Dozing(
            context, self._session, self._display, self._leader, self._keeper
        )
        context.changed()

    def _watch_what_is_told(self, context: Context) -> None:
        """Hear the shell, and the kernel where the session has limits."""
        channel = context.shell.channel
        if channel is not None and channel.fd is not None:
            # What a shell tells is more than its pipe holds, and its prompt waits.
            self._poll.watch(channel.fd, channel.drain)
        capsule = self._descriptors.held.capsule
        if capsule is not None and capsule.limited and self._leader.exit is None:
            # Few sessions have limits: the others do without the code.
            from holdfast.holder.processes.limit_watch import LimitWatch  # noqa: PLC0415  # see above

            self._limits = LimitWatch(
                context, self._session.driver, self._keeper.change
            )

    def _begin(self, *, is_new: bool) -> None:
        """Judge the command; do not hold a new session without one.

        Raises:
            HoldfastError: It was refused or cannot be executed, and why.

        """
        start = self._session.policy.start
        self._session.begin()
        if is_new:
            record = self._descriptors.record._replace(state=self._state())
            self._descriptors.record = record
            if start.refusal is not None:
                self._session.settle()
                raise start.refusal
            start.demand_room()

    def _begin_fence(self) -> None:
        """Keep to the lease of a movable session that has not ended."""
        fence = self._session.fence
        if fence is None:
            return
        if self._leader.exit is not None:
            fence.end()
            return
        fence.turned = self._fenced
        self._keeper.leased = fence.told
        fence.begin()

    def _fenced(self, is_on: bool) -> None:  # noqa: FBT001  # as it is told
        self._leader.fenced(is_on)
        self._display.fenced(is_on)

    def run(self) -> None:
        """Hold the session until it is forgotten."""
        keeper, timers, poll = self._keeper, self._timers, self._poll
        gone, next_key = self._dispatcher.gone, self._session.input_handler.next_key
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
                self._dispatcher.see_off()
        self._stop_counting()

    def _stop_counting(self) -> None:
        """Leave the numbers where they stay, if no successor counts on."""
        if self._leader.exit is not None and self._keeper.leave_by is None:
            self._session.tally.end()

    def _wait(self) -> float | None:
        """Return how long to wait; None if there is no deadline."""
        timers = self._timers
        if timers.is_stale:
            timers.refresh()
        if timers.first == math.inf:
            return None
        return max(0.0, timers.first - time.monotonic())

    def _leaves(self) -> bool:
        """Tell whether to make room for a successor; the session goes on."""
        self._session.settle()
        return self._keeper.may_leave(is_busy=self._session.input_handler.is_busy)

    def _ended(self) -> None:
        """Note that the leader has ended, and all that it has printed is read."""
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
        state, told = self._state(), self._descriptors.record.state
        is_refused = self._session.policy.start.refusal is not None
        if state not in (STARTING, "exited") and not is_refused:
            self._recovery.begun(now)
        fence = self._session.fence
        why = "" if fence is None else fence.why
        is_news = told != state or why != self._descriptors.record.fenced
        if is_news and told != "exited":
            self._keeper.change({"state": state, "fenced": why})

    def _state(self) -> str:
        if self._leader.exit is not None:
            return "exited"
        if self._descriptors.start:
            return STARTING
        if self._session.fence is not None and self._session.fence.is_on:
            return FENCED
        return "frozen" if self._session.driver.intake.is_frozen else "running"
